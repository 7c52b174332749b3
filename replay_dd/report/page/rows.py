"""The rows of a sequence diagram: what the threads did to the things of a story, and where they were switched.

Rules of this module:

* Of an observed run, a row is an access to a thing that is named, or to a lock that threads share; or a switch. Of any
  other run, the rows are its switches.
* All rows are made here; :mod:`replay_dd.report.page.excerpt` leaves out what is too much.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from replay_dd.report.held_locks import Locks
from replay_dd.report.page.values import Values
from replay_dd.report.source import source_line
from replay_dd.report.timeline import by_path, in_order
from replay_dd.schedules.failures.signature import signature_of
from replay_dd.schedules.model import Log, Place, Switch
from replay_dd.schedules.observed.observation import NOTHING_OBSERVED, Access, Observation
from replay_dd.schedules.story.words import Letters

ACCESS, SWITCH, END, GAP = "access", "switch", "end", "gap"
_SWITCHES_IN_A_ROW = 3


@dataclass(frozen=True)
class Row:
    """One row.

    Attributes:
        kind: an access, a switch, the end of the run, or a gap.
        thread: who; empty for a gap.
        words: what happens.
        to: who runs next, at a switch.
        place: where.
        source: the text of that line.
        time: thread time; -1 where there is none.
        path: the functions on the way there, the outermost first.
        lit: whether this is the switch that makes the difference, or what the passing run does in its place.
        forced: whether the thread could not have gone on, at a switch.
        ended: whether the thread has ended.
        held: the locks that each thread holds after it.
        values: for each thing that is followed, its value after it and what each thread has last seen of it.
        other: what the other run has in the place of ``words``, where that differs.
        access: what was seen.
        told: whether the story tells of it.
    """

    kind: str
    thread: str
    words: str
    to: str = ""
    place: Place | None = None
    source: str = ""
    time: int = -1
    path: tuple[str, ...] = ()
    lit: bool = False
    forced: bool = False
    ended: bool = False
    held: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    values: Mapping[str, tuple[str, Mapping[str, str]]] = field(default_factory=dict)
    other: str = ""
    access: Access | None = None
    told: bool = False

    @property
    def same_as(self) -> tuple[object, ...]:
        """What is equal in two rows that show the same."""
        return self.kind, self.thread, self.to, self.time, self.words, self.lit

    @property
    def where(self) -> tuple[object, ...]:
        """What is equal in two rows at which a thread does the same, whatever it finds."""
        access = self.access
        if access is None:
            return self.kind, self.thread, self.to, None if self.place is None else str(self.place)
        return self.thread, access.place.path, access.place.line, access.does, access.name


@dataclass(frozen=True)
class Rows:
    """The rows of a run, and what they refer to.

    Attributes:
        log: the run.
        rows: what is shown of it.
        lanes: the threads that are shown.
        things: the names of what is followed.
        locks: the names of the locks.
        before: how many rows are left out before the first one.
        other_threads: how many threads are not shown.
        lit_words: what the switch is that makes the difference.
    """

    log: Log
    rows: tuple[Row, ...]
    lanes: tuple[str, ...]
    things: tuple[str, ...] = ()
    locks: Mapping[int, str] = field(default_factory=dict)
    before: int = 0
    other_threads: int = 0
    lit_words: str = "the switch"


def rows_of(
    log: Log,
    observation: Observation = NOTHING_OBSERVED,
    *,
    names: Sequence[str] | None = None,
    letters: Letters | None = None,
    lit: Switch | None = None,
    told: Collection[int] = (),
    called: Mapping[tuple[str, str, int], str] | None = None,
) -> Rows:
    """All rows of a run.

    Args:
        log: the run.
        observation: what was seen of it.
        names: the things to follow; by default, those for which the order of threads matters.
        letters: what is known of the names of its objects.
        lit: the switch that makes the difference.
        told: the numbers of the accesses that the story tells of.
        called: the names of locks that are known, by the thread, file and line that takes them.
    """
    observed = bool(observation.accesses)
    names = shared_names(observation) if names is None else names
    locks = Locks(observation, letters or Letters(), called)
    values = Values(names, letters or Letters(), locks)
    rows: list[Row] = []
    events = list(in_order(log, observation))
    stuck = _never_got(events)
    for one in events:
        if isinstance(one, Switch):
            if one.ended:
                locks.ended(one.thread)
            row = _switch_row(one, log, lit)
            blocked = locks.wanted_by(one.thread)
            if row.forced and not row.ended and blocked:
                row = replace(row, words=f"waits for {blocked}")
        else:
            locks.see(one)
            words = values.see(one)
            if not words or (one.does == "wants" and one.number not in stuck):
                continue
            row = Row(
                *(ACCESS, one.thread, words, "", one.place, source_line(one.place, log.program), one.time),
                path=tuple(frame.function for frame in reversed(one.stack) if frame.counted),
                access=one,
                told=one.number in told,
            )
        row = replace(row, held=locks.held(), values=values.now())
        if not (rows and row.kind == ACCESS and _repeats(rows[-1], row)):
            rows.append(row)
        elif row.told:
            rows[-1] = replace(rows[-1], told=True)
    if observed:
        rows = list(_without_many_switches(rows))
    rows.append(_end_row(log, rows))
    things, shown_locks = values.names(), locks.names()
    return Rows(log, tuple(rows), _lanes(rows, log), things, shown_locks)


def _never_got(events: Sequence[Switch | Access]) -> set[int]:
    """The numbers of the accesses that ask for a lock in vain: the thread neither gets it nor gives way for it."""
    found: set[int] = set()
    gets: set[tuple[str, int]] = set()
    gives_way: set[str] = set()
    for one in reversed(events):
        if isinstance(one, Switch):
            gives_way.add(one.thread)
        elif one.does == "acquires":
            gets.add((one.thread, one.thing[1]))
        elif one.does == "wants" and one.thread not in gives_way and (one.thread, one.thing[1]) not in gets:
            found.add(one.number)
    return found


def shared_names(observation: Observation) -> list[str]:
    """The names of the things that several threads touched, and one changed."""
    threads: dict[str, set[str]] = {}
    changed = set()
    for access in observation.accesses:
        if access.thing[0] != "lock":
            threads.setdefault(access.name, set()).add(access.thread)
            if access.writes:
                changed.add(access.name)
    return [name for name, who in threads.items() if len(who) > 1 and name in changed]


def _repeats(one: Row, other: Row) -> bool:
    """Whether a thread does once more what it has just done on the same line: nothing new is told by that."""
    return one.kind == ACCESS and (one.where, one.words) == (other.where, other.words)


def _switch_row(switch: Switch, log: Log, lit: Switch | None) -> Row:
    place = switch.place
    if switch.collects:
        words = "collects garbage"
    elif switch.ended:
        words = "ends"
    elif switch.forced:
        words = "has to wait"
    else:
        words = "stops" if place is None else f"stops in line {place.line}"
    if switch.wake is not None and switch.wake.early_ns:
        words += f"; a {'time-out' if switch.wake.time_out else 'sleep'} of {switch.to} ends early"
    return Row(
        *(SWITCH, switch.thread, words, switch.to, place),
        *("" if place is None else source_line(place, log.program), switch.time),
        lit=lit is not None and switch.trigger == lit.trigger and switch.global_time == lit.global_time,
        forced=switch.forced,
        ended=switch.ended,
    )


def _end_row(log: Log, rows: Sequence[Row]) -> Row:
    thread = log.switches[-1].to if log.switches else "0"
    signature = signature_of(log.ending)
    last = rows[-1] if rows else None
    return Row(
        *(END, thread, signature.text),
        held={} if last is None else last.held,
        values={} if last is None else last.values,
    )


def _without_many_switches(rows: Sequence[Row]) -> Iterator[Row]:
    """The rows, with a gap where many switches follow each other."""
    run: list[Row] = []
    for row in [*rows, None]:
        if row is not None and row.kind == SWITCH and not row.lit:
            run.append(row)
            continue
        if len(run) > _SWITCHES_IN_A_ROW:
            first, *between, last = run
            yield first
            yield Row(GAP, "", f"{len(between):,} more switches", held=last.held, values=last.values)
            yield last
        else:
            yield from run
        run = []
        if row is not None:
            yield row


def _lanes(rows: Sequence[Row], log: Log) -> tuple[str, ...]:
    names = {name for row in rows for name in (row.thread, row.to) if name}
    return tuple(sorted(names | set(log.ending.thread_times), key=by_path))
