"""What is known of a program that hangs: its threads, what they wait for, and what happened before.

Rules of this module:

* Plain, frozen data, made from one record of the channel; part of the log. Nothing is concluded here.
* Stacks are kept once each, from the innermost frame to the outermost; others refer to them by their number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from replay_dd.schedules.shapes import Count, SourceLine, ThreadId

NO_STACK = -1
DEADLOCK = "deadlock"
TIME_LIMIT = "time limit"
NO_PROGRESS = "no progress"  # some threads go round in a circle, and all others wait
# The function of a frame that stands between a handler, or a finalizer, and what was interrupted.
SIGNAL_HANDLER, GARBAGE_COLLECTION = "<signal handler>", "<garbage collection>"
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_OF_SELF, _ATTRIBUTE = "self.", "attribute of one "


@dataclass(frozen=True)
class HangFrame:
    """A frame of a stack; ``counted`` tells program code from library and test runner."""

    file: str
    path: str
    line: SourceLine
    function: str
    counted: bool


@dataclass(frozen=True)
class HangThread:
    """A thread of a program that hangs, or one that has ended.

    Attributes:
        thread: which.
        title: what the program calls it; empty if it was not started by ``threading``.
        state: ``waits``, ``can run``, ``runs`` or ``ended``.
        thing: the number of the object that it waits for; -1 if it is none.
        end_of: the thread whose end it waits for; empty if it is none.
        explanation: what it waits for, in words.
        stack: where it is.
        started: from where it was started.
        holds: the numbers of the locks that it has.
        runs_loop: whether it runs an event loop.
    """

    thread: ThreadId
    title: str
    state: str
    thing: int
    end_of: str
    explanation: str
    stack: int
    started: int
    holds: tuple[int, ...]
    runs_loop: bool


@dataclass(frozen=True)
class HangThing:
    """An object that threads wait for, or a lock.

    Attributes:
        number: by which threads and steps refer to it.
        kind: Lock, Condition, Queue, ...
        name: the way to it from a variable; empty if there is none.
        what: what it is: a global variable, an attribute of one object, ...
        made_file: where it was made; empty if that is not known.
        made_line: the line there.
        state: what is known of it at the end, in words.
        holders: the threads that have to do something for the wait to end.
        likely: threads that could do so, as their code tells; seen in the source and not in the run.
        taken: the stack with which its holder took it.
    """

    number: int
    kind: str
    name: str
    what: str
    made_file: str
    made_line: int
    state: str
    holders: tuple[ThreadId, ...]
    likely: tuple[ThreadId, ...]
    taken: int

    @property
    def called(self) -> str:
        """What to call it: each thread has a ``self`` of its own, so its attributes go by the class."""
        if self.name.startswith(_OF_SELF) and self.what.startswith(_ATTRIBUTE):
            return f"{self.what.removeprefix(_ATTRIBUTE)}.{self.name.rpartition('.')[2]}"
        if self.name:
            return self.name
        if self.made_file:
            return f"{self.kind} made at {self.made_file}:{self.made_line}"
        return f"{'an' if self.kind[:1] in 'AEIO' else 'a'} {self.kind}"


@dataclass(frozen=True)
class HangStep:
    """What a thread did to such an object.

    Attributes:
        thing: the number of the object.
        thread: who.
        time: its thread time.
        global_time: yield points passed by all threads.
        does: takes, waits, gives up, sets, notifies, puts into, ...
        stack: from where.
        held: the numbers of the locks that the thread had.
        detail: for a notification, whether somebody waited.
    """

    thing: int
    thread: ThreadId
    time: Count
    global_time: Count
    does: str
    stack: int
    held: tuple[int, ...]
    detail: str


@dataclass(frozen=True)
class Hang:
    """How a program hangs.

    Attributes:
        why: ``deadlock``, ``no progress``, ``time limit``, or empty for a run that ended and only tells what happened.
        with_history: whether steps were kept; then the stacks at which locks were taken are known.
        threads: all of them.
        things: what they wait for, and the locks that they have.
        steps: what happened to these before, in order.
        stacks: those of all.
        turns: for a run at its time limit, what ran last: (thread, file, line), in order.
    """

    why: str
    with_history: bool
    threads: tuple[HangThread, ...]
    things: tuple[HangThing, ...]
    steps: tuple[HangStep, ...]
    stacks: tuple[tuple[HangFrame, ...], ...]
    turns: tuple[tuple[str, str, int], ...] = ()

    def thread(self, name: str) -> HangThread | None:
        """The thread of this name."""
        return next((one for one in self.threads if one.thread == name), None)

    def thing(self, number: int) -> HangThing | None:
        """The object with this number."""
        return next((one for one in self.things if one.number == number), None)

    def stack(self, number: int) -> tuple[HangFrame, ...]:
        """The stack with this number, from the innermost frame to the outermost; empty if there is none."""
        return self.stacks[number] if 0 <= number < len(self.stacks) else ()

    def steps_of(self, thing: int) -> list[HangStep]:
        """What happened to an object, in order."""
        return [step for step in self.steps if step.thing == thing]


def hang_of(record: tuple[Any, ...]) -> Hang:
    """The hang that a record of the channel tells."""
    why, kept, threads, things, steps = record[1]
    stacks = tuple(tuple(HangFrame(*row) for row in rows) for rows in record[2])
    told_threads: list[tuple[Any, ...]] = [(*one[:8], tuple(one[8]), one[9]) for one in threads]
    told_things: list[tuple[Any, ...]] = [
        (*one[:4], *(one[4] or ("", 0)), one[5], tuple(one[6]), tuple(one[7]), one[8]) for one in things
    ]
    told_things = _distinct(told_things)
    told_steps: list[tuple[Any, ...]] = [(*one[:6], tuple(one[6]), one[7]) for one in steps]
    return Hang(
        *(why, kept, tuple(HangThread(*one) for one in told_threads), tuple(HangThing(*one) for one in told_things)),
        *(tuple(HangStep(*one) for one in told_steps), stacks),
    )


def _distinct(things: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """With letters behind the names of those that threads wait for or have, if several have the same one."""
    names = [thing[2] for thing in things if thing[6]]
    count: dict[str, int] = {}
    found = []
    for thing in things:
        name = thing[2]
        if name and thing[6] and names.count(name) > 1:
            count[name] = count.get(name, 0) + 1
            thing = (*thing[:2], f"{name} {_LETTERS[min(count[name], len(_LETTERS)) - 1]}", *thing[3:])
        found.append(thing)
    return found
