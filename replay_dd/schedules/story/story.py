"""The story of an isolated switch as data: what each thread did, in turns, steps and words.

Rules of this module:

* Plain, frozen data. Every step was seen in an observed run; what is concluded from them is in ``inferred``, in words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from replay_dd.schedules.hang import Hang
from replay_dd.schedules.observed.observation import Access, StackFrame
from replay_dd.schedules.story.verdict import Verdict

_DONE_TO = ("left over", "modified", "overwritten", "published", "undone")  # kinds that say what happened to a thing


class Step(NamedTuple):
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


class Turn(NamedTuple):
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


class Thing(NamedTuple):
    """What the threads share: its name, and what it is."""

    name: str
    what: str


class HangTold(NamedTuple):
    """The hang that a story ends with.

    Attributes:
        hang: what is known of it.
        verdict: what kind it is, and the waits that explain it.
        led_by_kind: the kind of that race; empty if there is none, or if it is the kind of the story.
        led_by: the race that leads there, in words; the turns of the story are that race. Empty if they are the hang.
    """

    hang: Hang
    verdict: Verdict
    led_by: str = ""
    led_by_kind: str = ""


class Story(NamedTuple):
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
        help: what else than a lock or an order would help, in words; concluded, and not tried.
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
    help: str = ""


def kind_in_words(story: Story) -> str:
    """The kind of a story; for a hang, also that of the race that leads there."""
    led_by = "" if story.hang is None else story.hang.led_by_kind
    if not led_by:
        return story.kind
    return f"{story.kind} after {'something' if led_by.startswith(_DONE_TO) else _article(led_by)} {led_by}"


def _article(words: str) -> str:
    return "an" if words[:1] in "aeio" else "a"


def path_of(access: Access) -> tuple[StackFrame, ...]:
    """The frames of counted code on the way to an access, the outermost first."""
    return _counted(access.stack)


def _counted(stack: Sequence[StackFrame]) -> tuple[StackFrame, ...]:
    return tuple(frame for frame in reversed(stack) if frame.counted)


def called_at(access: Access) -> StackFrame | None:
    """Where the program's own code calls the installed package that makes an access; None if none does."""
    return own_call(access.stack)


def own_call(stack: Sequence[StackFrame]) -> StackFrame | None:
    """Where the program's own code calls the installed package whose code is on top of a stack; None if none is.

    Args:
        stack: the frames, the innermost first.
    """
    path = _counted(stack)
    own = [frame for frame in path if not frame.is_installed]
    return own[-1] if own and path[-1].is_installed else None
