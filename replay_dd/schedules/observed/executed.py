"""The instructions that the threads of a run executed, one by one: what an explanation is made of.

Rules of this module:

* They come from a run, never from the source: a thread's way between two moments is what it really did.
* Only counted code is in here. What library code does belongs to the call that led there.
* Instructions of one thread are in the order in which it executed them; those of several, in the order of the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from replay_dd.schedules.model import Place


@dataclass(frozen=True)
class Executed:
    """One instruction, or one operation on a lock, a file or the clock (``place.operation``).

    Attributes:
        thread: who executed it.
        time: the yield points that the thread had passed by then; of a yield point, its own number.
        global_time: those that all threads had passed.
        place: where it is.
        frame: the call that it belongs to; numbers may come again once a call is over. 0 for operations.
        index: which instruction of its function it is; -1 for operations.
        check: how the interpreter looks there whether another thread wants to run: just before it, as a function begins
            or resumes (``entry``); if it jumps back (``jump``); when what it calls is over (``call``, or ``star call``
            with unpacked arguments); others can run during the ``operation``; or not at all (empty).
        access: whether it touches what other threads may see.
        counted: whether it is a yield point: a switch at ``time`` comes just before it.
        looks: for calls, whether the interpreter looks when they are over: ``always``, ``at first`` (until it has
            specialised the instruction), ``never``, ``not begun`` (a generator was made); empty if unknown.
    """

    thread: str
    time: int
    global_time: int
    place: Place
    frame: int
    index: int
    check: str
    access: bool
    counted: bool
    looks: str = ""


def note_callee(executed: list[Executed], thread: str, frame: int, looks: str) -> None:
    """Note what the latest instruction of a thread in a frame calls; done while a run is read."""
    for number in range(len(executed) - 1, max(-1, len(executed) - 10), -1):
        one = executed[number]
        if (one.thread, one.frame) == (thread, frame):
            executed[number] = replace(one, looks=looks)
            return


class ExecutedRun(NamedTuple):
    """What the threads of a run executed.

    Attributes:
        instructions: of all threads, in the order of the run.
        whole: whether nothing is missing after the first of them.
    """

    instructions: tuple[Executed, ...]
    whole: bool = True

    def of(self, thread: str, first: int = 0, last: int | None = None) -> tuple[Executed, ...]:
        """What a thread executed from one of its thread times to another, both included.

        A thread time covers the instruction of that yield point and all until the next one.
        """
        return tuple(
            one
            for one in self.instructions
            if one.thread == thread and first <= one.time and (last is None or one.time <= last)
        )

    def between(self, first: int, last: int) -> tuple[Executed, ...]:
        """What all threads executed from one global time to another, both included."""
        return tuple(one for one in self.instructions if first <= one.global_time <= last)

    def others(self, thread: str, first: int, last: int) -> tuple[Executed, ...]:
        """The same without one thread."""
        return tuple(one for one in self.between(first, last) if one.thread != thread)


def lines_of(instructions: Iterable[Executed], first: int = 0, last: int | None = None) -> Iterator[Place]:
    """The lines that a thread executes from one of its times to another, in order: the place at which each is entered.

    A line to which the thread returns from a call is not entered again.

    Args:
        instructions: what the thread executed, from the start, so that it is known where it returns to.
        first: the first thread time; the line in which the thread is then comes first.
        last: the last one; None for the end.
    """
    latest: dict[int, tuple[str, int]] = {}  # the line in each frame
    begun = False
    for one in instructions:
        if one.place.operation or one.place.line == 0:
            continue
        line = (one.place.path, one.place.line)
        inside = first <= one.time and (last is None or one.time <= last)
        if inside and (latest.get(one.frame) != line or not begun):
            yield one.place
        begun = begun or inside
        latest[one.frame] = line
