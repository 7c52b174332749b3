"""Tells what happened, from a conflict: steps in order, with places, values and locks.

Rules of this module:

* Every step was seen in an observed run. What is concluded from them (the kind, which access an edge stands for) is in
  ``inferred``, in words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from replay_dd.schedules.hang import Hang
from replay_dd.schedules.model import Ending
from replay_dd.schedules.observation import Access, Observation, StackFrame
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.conflict import Conflict, one_thing
from replay_dd.schedules.story.verdict import Verdict
from replay_dd.schedules.story.words import Letters, described, listed

_MOST_STEPS = 8  # of one stretch
_MOST_PASSING = 6


@dataclass(frozen=True)
class Step:
    """Accesses of one line, made in one go.

    Attributes:
        accesses: what was seen; one or more of the same line.
        words: the same in words.
        mark: the number by which the story refers to it; 0 if it does not.
    """

    accesses: tuple[Access, ...]
    words: str
    mark: int = 0

    @property
    def access(self) -> Access:
        """The first of them."""
        return self.accesses[0]


@dataclass(frozen=True)
class Turn:
    """What one thread did before another one ran.

    Attributes:
        thread: which.
        path: the way from the user's own code to the accesses, the outermost first.
        steps: what it did.
        left_out: how many more of its accesses to the same things are not among them.
        then: what happens next, in words; empty at the end.
    """

    thread: str
    path: tuple[StackFrame, ...]
    steps: tuple[Step, ...]
    left_out: int = 0
    then: str = ""


@dataclass(frozen=True)
class Thing:
    """What the threads share: its name, and what it is."""

    name: str
    what: str


@dataclass(frozen=True)
class HangTold:
    """The hang that a story ends with.

    Attributes:
        hang: what is known of it.
        verdict: what kind it is, and the waits that explain it.
        led_by: the race that leads there, in words; the turns of the story are that race. Empty if they are the hang.
    """

    hang: Hang
    verdict: Verdict
    led_by: str = ""


@dataclass(frozen=True)
class Story:
    """What the threads did to each other.

    Attributes:
        kind: in the field's words.
        things: what they share: one thing, or two that belong together.
        summary: one or two sentences.
        turns: the failing run.
        passes: when the run passes, in words.
        passing: the same accesses in the passing run, in order, with the thread of each.
        locks: about the locks held, in words.
        waits: what else threads wait for, in a deadlock.
        inferred: what was not seen but concluded.
        hang: for a run that hangs, how.
    """

    kind: str
    things: tuple[Thing, ...]
    summary: str
    turns: tuple[Turn, ...]
    passes: str = ""
    passing: tuple[tuple[str, Step], ...] = ()
    locks: tuple[str, ...] = ()
    waits: tuple[str, ...] = ()
    inferred: tuple[str, ...] = ()
    hang: HangTold | None = None


@dataclass
class _Teller:
    """Collects the parts of one story."""

    conflict: Conflict
    failing: Observation
    passing: Observation
    letters: Letters = field(default_factory=Letters)
    marks: int = 0

    def tell(self, kind: str, words_for_pass: str) -> Story:
        conflict = self.conflict
        edges = [edge for edge in (conflict.left, conflict.right) if edge is not None]
        own_before, stretch, own_after = self._relevant(kind)
        turns = []
        if own_before:
            turns.append(self._turn(conflict.thread, own_before))
        for run in _by_thread(stretch):
            turns.append(self._turn(run[0].thread, run))
        if own_after:
            turns.append(self._turn(conflict.thread, own_after))
        turns = self._joined(turns, bool(own_before))
        accesses = [edge.access for edge in edges]
        if len(accesses) == 2 and one_thing(*accesses):  # of an item and its container, name the container
            accesses = [next((one for one in accesses if one.thing[0] == "whole"), accesses[1])]
        things = {access.name: Thing(access.name, described(access)) for access in accesses}
        return Story(
            kind=kind,
            things=tuple(things.values()),
            summary=summary_of(kind, conflict),
            turns=tuple(turns),
            passes=words_for_pass,
            passing=tuple(self._passing(own_before + stretch + own_after)),
            locks=tuple(locks_in_words(self.failing, self.passing, own_before + stretch + own_after)),
            inferred=tuple(self._inferred()),
        )

    def _relevant(self, kind: str) -> tuple[list[Access], list[Access], list[Access]]:
        """What the interrupted thread and the others did to the things of the conflict: before, meanwhile, after."""
        conflict = self.conflict
        left, right = conflict.left, conflict.right
        edges = [edge.access for edge in (left, right) if edge is not None]

        def concerns(access: Access) -> bool:
            if kind == kinds.EARLY_TIMEOUT and access.does == "gives up":
                return True
            return any(access.touches(edge) or edge.touches(access) for edge in edges)

        before: list[Access] = []
        if left is not None:
            before = [one for one in conflict.before if one.number >= left.access.number and concerns(one)]
        elif right is not None:
            before = [one for one in conflict.before if one.writes and concerns(one) and one != right.access][-1:]
        stretch = [one for one in conflict.stretch if concerns(one)]
        after: list[Access] = []
        if right is not None:
            candidates = conflict.after
            if right.access not in conflict.after:  # the call in which it was interrupted
                candidates = (right.access,)
            for one in candidates:
                if one.number > right.access.number and one.place.line != right.access.place.line:
                    break
                if concerns(one):
                    after.append(one)
        return before, stretch, after

    def _turn(self, thread: str, accesses: Sequence[Access]) -> Turn:
        left_out = 0
        if len(accesses) > _MOST_STEPS:
            left_out = len(accesses) - _MOST_STEPS
            half = _MOST_STEPS // 2
            accesses = [*accesses[:half], *accesses[-half:]]
        return Turn(thread, path_of(accesses[0]), tuple(self._steps(accesses)), left_out)

    def _steps(self, accesses: Sequence[Access]) -> Iterable[Step]:
        group: list[Access] = []
        for access in accesses:
            if group and (access.place.path, access.place.line) != (group[-1].place.path, group[-1].place.line):
                yield self._step(group)
                group = []
            group.append(access)
        if group:
            yield self._step(group)

    def _step(self, group: Sequence[Access]) -> Step:
        several = len({access.name for access in group}) > 1
        words = dict.fromkeys(
            f"{access.name}: {self.letters.does(access)}" if several else self.letters.does(access) for access in group
        )
        return Step(tuple(group), ", ".join(words))

    def _joined(self, turns: list[Turn], was_interrupted: bool) -> list[Turn]:
        """The turns, with what happens between them, and with numbers for what was seen before the interruption."""
        thread = self.conflict.thread
        result: list[Turn] = []
        for number, turn in enumerate(turns):
            following = turns[number + 1] if number + 1 < len(turns) else None
            then = ""
            if following is not None and turn.thread == thread:
                then = f"stopped {self._stopped_at()}; thread {following.thread} runs"
            elif following is not None and following.thread == thread:
                saw = [step for one in result for step in one.steps if one.thread == thread and step.mark]
                then = f"thread {thread} goes on" + (f" with what it saw at ({saw[-1].mark})" if saw else "")
            if turn.thread == thread and number == 0 and was_interrupted:
                turn = replace(turn, steps=tuple(self._marked(step) for step in turn.steps))
            result.append(replace(turn, then=then))
        return result

    def _marked(self, step: Step) -> Step:
        """The step with a number, if it is what the thread saw before it was interrupted."""
        left = self.conflict.left
        if left is None or not left.access.reads or left.access not in step.accesses:
            return step
        self.marks += 1
        return replace(step, mark=self.marks)

    def _stopped_at(self) -> str:
        place, after = self.conflict.stopped_at, self.conflict.after
        if place is not None:
            return f"in line {place.line}"
        return f"before line {after[0].place.line}" if after else "at its end"

    def _passing(self, steps: Sequence[Access]) -> Iterable[tuple[str, Step]]:
        wanted = {_key(access) for access in steps}
        right = self.conflict.right
        found: list[Access] = []
        started = right is None
        for access in self.passing.accesses:
            if right is not None and _key(access) == _key(right.access) and access.time == right.access.time:
                started = True
            if started and _key(access) in wanted:
                found.append(access)
        letters, self.letters = self.letters, Letters()  # objects of another run
        for run in _by_thread(found[:_MOST_PASSING]):
            for step in self._steps(run):
                yield run[0].thread, step
        self.letters = letters

    def _inferred(self) -> Iterable[str]:
        yield "the kind, from the order of these accesses"
        if not self.failing.exact:
            yield "objects and keys, from the names in the code: without the accelerator, operands are not seen"
        for side, edge in (("before", self.conflict.left), ("after", self.conflict.right)):
            if edge is not None and edge.inferred:
                yield (
                    f"that {edge.access.place} is what must come {side} the other thread: it is the nearest access to "
                    f"the edge of the failing range that touches the same thing"
                )


def tell_race(conflict: Conflict, failing: Observation, passing: Observation, ending: Ending) -> Story | None:
    """The story of a conflict; None if the observation shows none.

    Args:
        conflict: what the threads did in the failing run.
        failing: all that the failing run accessed.
        passing: all that the passing run accessed.
        ending: how the failing run ended.
    """
    kind = kinds.kind_of(conflict, ending)
    if not kind or (conflict.left is None and conflict.right is None):
        return None
    story = _Teller(conflict, failing, passing).tell(kind, passes_in_words(conflict))
    waits = tuple(f"thread {waiter.thread} {waiter.explanation}" for waiter in ending.deadlock)
    return replace(story, waits=waits)


def path_of(access: Access) -> tuple[StackFrame, ...]:
    """The frames of counted code on the way to an access, the outermost first."""
    return tuple(frame for frame in reversed(access.stack) if frame.counted)


def _by_thread(accesses: Sequence[Access]) -> list[list[Access]]:
    runs: list[list[Access]] = []
    for access in accesses:
        if not runs or runs[-1][0].thread != access.thread:
            runs.append([])
        runs[-1].append(access)
    return runs


def _key(access: Access) -> tuple[str, str, int, str, str]:
    return access.thread, access.place.path, access.place.line, access.does, access.name


def summary_of(kind: str, conflict: Conflict) -> str:
    """What happened, in a sentence or two."""
    one = conflict.thread
    edge = conflict.right or conflict.left
    other = edge.others[-1].thread if edge is not None else "?"
    left, right = (None if side is None else side.access for side in (conflict.left, conflict.right))
    names = listed(dict.fromkeys(side.name for side in (left, right) if side is not None))
    if kind == kinds.CHECK_THEN_ACT and right is not None and right.writes and _made_twice(conflict):
        return "Both threads found it missing and both made it; the second store throws away the first one's."
    sentences = {
        kinds.LOST_UPDATE: f"Thread {one} computes a new value from one that thread {other} has replaced meanwhile; "
        f"storing it throws away what thread {other} stored.",
        kinds.CHECK_THEN_ACT: f"Thread {one} acts on what it has checked, but thread {other} has changed it meanwhile.",
        kinds.NON_REPEATABLE_READ: f"Thread {one} looks twice, and thread {other} changes it in between.",
        kinds.TORN_UPDATE: f"Thread {one} changes {names} in two steps; thread {other} looks in between and sees only "
        "the first.",
        kinds.TORN_READ: f"Thread {one} reads {names} one after the other; thread {other} changes them in between.",
        kinds.TOO_EARLY: f"Thread {other} uses it before thread {one} has set it.",
        kinds.INVALIDATED: f"Thread {one} goes on using what thread {other} has taken away meanwhile.",
        kinds.MISSED_NOTIFICATION: f"Thread {other} notifies before thread {one} waits; nothing wakes it any more.",
        kinds.EARLY_TIMEOUT: f"The time-out of thread {other} expires before thread {one} is done.",
    }
    before = "before" if right is not None else "after"
    where = right or left
    return sentences.get(kind, f"It fails if thread {other} comes {before} thread {one} at {where and where.place}.")


def _made_twice(conflict: Conflict) -> bool:
    right = conflict.right
    if right is None or right.access.does != "stores":
        return False
    stores = [other for other in right.others if other.does == "stores"]
    return bool(stores) and (stores[0].old.is_missing or stores[0].old.text in ("None", "False"))


def passes_in_words(conflict: Conflict) -> str:
    """When the run passes."""
    right, left = conflict.right, conflict.left
    if right is not None and not right.inferred:
        own, other = _in_short(right.access), _in_short(right.others[0])
        return f"if thread {conflict.thread} {own} before thread {right.others[0].thread} {other}"
    if left is not None:
        return f"if thread {left.others[0].thread} comes before thread {conflict.thread} runs {left.access.place}"
    return ""


def _in_short(access: Access) -> str:
    """An access in a few words, such as ``stores (bank.py:14)``."""
    does = access.does
    if does == "calls":
        does = f"calls {access.detail.partition('(')[0]}()"
    elif access.thing[0] == "file":
        does = f"does its {does}"
    elif does == "iterates":
        does = "takes the next item"
    file = access.place.file.rpartition("/")[2]
    return f"{does} ({file}:{access.place.line})"


def locks_in_words(failing: Observation, passing: Observation, steps: Sequence[Access]) -> Iterable[str]:
    """Which locks were held at the accesses of a story, and which guard the same things elsewhere."""
    held = {access.number: [failing.locks.get(lock, "a lock") for lock in access.held] for access in steps}
    if not any(held.values()):
        yield "none held at any of these accesses"
    else:
        common = set.intersection(*(set(access.held) for access in steps))
        rows: dict[str, list[str]] = {}
        for access in steps:
            names = listed(held[access.number]) or "no lock"
            place = f"{access.place.file}:{access.place.line}"
            at = rows.setdefault(f"thread {access.thread} holds {names}", [])
            if place not in at:
                at.append(place)
        yield from (f"{who} at {listed(at)}" for who, at in rows.items())
        if not common:
            yield "no lock is common to them"
    things = {access.name for access in steps}
    told = {(access.place.path, access.place.line) for access in steps}
    guards: dict[str, list[str]] = {}
    for run in (failing, passing):
        for access in run.accesses:
            if access.name in things and access.held and (access.place.path, access.place.line) not in told:
                for lock in access.held:
                    at = guards.setdefault(run.locks.get(lock, "a lock"), [])
                    place = f"{access.place.file}:{access.place.line}"
                    if place not in at:
                        at.append(place)
    yield from (f"{name} guards it at {listed(places[:4])}" for name, places in guards.items())
