"""What a run told through its channel, record by record."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from replay_dd.experiment.process import Finished
from replay_dd.schedules.failures.written_messages import WrittenMessages, complaints_in
from replay_dd.schedules.hang import NO_PROGRESS, TIME_LIMIT, Hang, hang_of
from replay_dd.schedules.model import Ending, Frame, Place, Program, Switch, Trigger, UncaughtException, Waiter, Wake
from replay_dd.schedules.observed.executed import Executed, note_callee
from replay_dd.schedules.observed.flow import FOLLOWED
from replay_dd.schedules.observed.observation import OBSERVED
from replay_dd.schedules.observed.touches import Alternative, Touch
from replay_dd.schedules.running.early_stop import ChangedFile
from replay_dd.schedules.running.repeating import repeated
from replay_dd.schedules.running.time_limit import is_guess
from replay_dd.schedules.runtime import channel

Record = tuple[Any, ...]


class Told:
    """The records of a run, sorted out; see :mod:`~replay_dd.schedules.runtime.channel` for what is in them.

    Args:
        program: what ran.
        work: where its working directory was, if it had a fresh copy.
        output: what it wrote.

    Attributes:
        places: the places by their numbers in this run.
        notes: what the log says beside the switches, each once.
        shared: the notes that decide how other runs are made, by name.
        least_asleep_ns: how late a thread would have been, at least, if a sleep or time-out had ended early that could
            not; 0 if there was none.
        stopped: whether the runtime ended the run.
        changed_files: those that it changed outside its temporary folder, if it was copied before its first thread.
        hang: where its threads were at the end, and what led there; None if nothing told.
    """

    def __init__(self, program: Program, work: str, output: bytes) -> None:
        self._program = program
        self._work = work
        self._output = output
        self._written = WrittenMessages(output)
        self.places: dict[int, Place] = {}
        self.switches: list[Switch] = []
        self.skipped: list[Trigger] = []
        self.exceptions: list[UncaughtException] = []
        self.exit: UncaughtException | None = None
        self.waiters: tuple[Waiter, ...] = ()
        self.hang: Hang | None = None
        self.notes: list[str] = []
        self.shared: dict[str, str] = {}
        self.touches: list[Touch] = []
        self.untouched: set[int] = set()
        self.alternatives: list[Alternative] = []
        self.drawn: list[tuple[str, tuple[str, ...]]] = []
        self.arrivals: list[Record] = []
        self.anchors_met: set[int] = set()
        self.trace: list[tuple[str, Place | None]] = []
        self.executed: list[Executed] = []
        self.observed: list[Record] = []
        self.followed: list[Record] = []
        self.least_asleep_ns = 0
        self.stopped = False
        self.changed_files: list[ChangedFile] = []
        self._end_record: Record | None = None
        self._counted_in_hang: tuple[tuple[str, str], ...] = ()

    @property
    def counted(self) -> tuple[tuple[str, str], ...]:
        """The short name and the path of each file whose code was counted."""
        return self._counted_in_hang if self._end_record is None else self._end_record[4]

    def ending(self, finished: Finished, at_limit: str) -> Ending:
        """How the run ended, once all records are taken.

        Args:
            finished: how its process ended.
            at_limit: where its threads were at the time limit, in words; empty if it did not reach that.
        """
        if at_limit and (self.hang is None or not is_guess(at_limit)):
            self.notes.append(at_limit)
        if self.hang is not None and self.hang.why in (NO_PROGRESS, TIME_LIMIT):
            self.hang = replace(self.hang, turns=repeated(self.trace))
        end, last = self._end_record, self.switches[-1] if self.switches else None
        # With status 0, a test was expected to fail, or has passed since.
        exceptions = [one for one in self.exceptions if finished.status != 0 or one.where != "main"]
        ended_itself = bool(finished.status) and not self.waiters
        said = self.exit is not None and self.exit.text
        return Ending(
            status=finished.status,
            signal=finished.signal,
            timed_out=finished.timed_out,
            stopped=self.stopped,
            exceptions=tuple(exceptions),
            deadlock=self.waiters,
            complete=end is not None,
            # A killed run is known up to its last switch.
            global_time=end[1] if end else last.global_time if last else 0,
            digest=end[2] if end else last.digest if last else 0,
            thread_times=dict(end[3]) if end else {},
            skipped=tuple(self.skipped),
            notes=tuple(self.notes),
            writes_files=channel.WRITES in self.shared,
            exclusive=self.shared.get(channel.EXCLUSIVE, ""),
            seconds=round(finished.seconds, 6),
            hang=self.hang if self.hang is not None and self.hang.why else None,
            exit=self.exit if ended_itself else None,
            complaints=complaints_in(self._output) if ended_itself and not said and not exceptions else (),
        )

    def take(self, record: Record) -> None:
        """Take the next record; those of unknown kinds tell nothing here."""
        take = _BY_KIND.get(record[0])
        if take is not None:
            take(self, record)

    def _place(self, record: Record) -> None:
        place = Place(*record[2:])
        copied = self._program.fresh_copy
        self.places[record[1]] = _moved(place, self._work, self._program.directory) if copied else place

    def _switch(self, record: Record) -> None:
        thread, time, to, forced, by_default, number, global_time, digest, visit, ended, wake, collects = record[1:]
        ends = Wake(wake[0], self.places.get(wake[1]), wake[2]) if wake else None
        place = self.places.get(number)
        self.switches.append(
            Switch(thread, time, to, forced, by_default, place, global_time, digest, visit, ended, ends, collects)
        )

    def _skipped(self, record: Record) -> None:
        self.skipped.append(Trigger(*record[1:]))

    def _touch(self, record: Record) -> None:
        thread, time, global_time, number, thing, name, changes, held = record[1:]
        self.touches.append(Touch(thread, time, global_time, self.places[number].key, (thing, name), changes, held))

    def _untouched(self, record: Record) -> None:
        self.untouched.add(record[1])

    def _drawn(self, record: Record) -> None:
        self.drawn.append((record[1], tuple(record[2])))

    def _alternative(self, record: Record) -> None:
        self.alternatives.append(Alternative(*record[1:]))

    def _traced(self, record: Record) -> None:
        self.trace.append((record[1], self.places.get(record[2])))

    def _executed(self, record: Record) -> None:
        thread, time, global_time, number, *rest = record[1:]
        self.executed.append(Executed(thread, time, global_time, self.places[number], *rest))

    def _called(self, record: Record) -> None:
        note_callee(self.executed, *record[1:])

    def _followed(self, record: Record) -> None:
        self.followed.append(record)

    def _observed(self, record: Record) -> None:
        self.observed.append(record)

    def _arrival(self, record: Record) -> None:
        self.arrivals.append(record)

    def _exception(self, record: Record) -> None:
        where, name, text, frames = record[1:]
        self.exceptions.append(UncaughtException(where, name, self._written.message(name, text), _frames(frames)))

    def _exit(self, record: Record) -> None:
        where, name, text, frames = record[1:]
        self.exit = UncaughtException(where, name, text, _frames(frames))

    def _deadlock(self, record: Record) -> None:
        self.waiters = tuple(Waiter(thread, text, _frames(frames)) for thread, text, frames in record[1])

    def _hang(self, record: Record) -> None:
        self.hang, self._counted_in_hang = hang_of(record), record[3]

    def _note(self, record: Record) -> None:
        name, text = record[1:3]
        if name == "asleep":
            self.least_asleep_ns = int(text)
        elif name == channel.STOPPED:
            self.stopped = True
        elif name == "anchor":
            self.anchors_met.add(int(text))
        elif name == channel.CHANGED:
            self.changed_files.append(ChangedFile(*record[2:]))
        elif name in channel.SHARED:
            self.shared[name] = text
        elif text not in self.notes:
            self.notes.append(text)

    def _end(self, record: Record) -> None:
        self._end_record = record


_BY_KIND: dict[str, Callable[[Told, Record], None]] = {
    channel.PLACE: Told._place,
    channel.SWITCH: Told._switch,
    channel.SKIPPED: Told._skipped,
    channel.TOUCH: Told._touch,
    channel.UNTOUCHED: Told._untouched,
    channel.DRAWN: Told._drawn,
    channel.ALTERNATIVE: Told._alternative,
    channel.TRACED: Told._traced,
    channel.EXECUTED: Told._executed,
    channel.CALLED: Told._called,
    channel.ARRIVAL: Told._arrival,
    channel.DUE: Told._arrival,
    channel.PASSED: Told._arrival,
    channel.SIGNAL: Told._arrival,
    channel.EXCEPTION: Told._exception,
    channel.EXIT: Told._exit,
    channel.DEADLOCK: Told._deadlock,
    channel.HANG: Told._hang,
    channel.NOTE: Told._note,
    channel.END: Told._end,
    **dict.fromkeys(FOLLOWED, Told._followed),
    **dict.fromkeys(OBSERVED, Told._observed),
}


def _frames(rows: list[tuple[Any, ...]]) -> tuple[Frame, ...]:
    return tuple(Frame(row[0], row[2], row[3], row[4]) for row in rows)


def _moved(place: Place, copy: str, original: str) -> Place:
    """Map a place in the private copy of the working directory back to the original."""
    inside = place.path.startswith(copy + os.sep)
    return replace(place, path=original + place.path[len(copy) :]) if inside else place
