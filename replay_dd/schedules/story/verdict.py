"""What is concluded of a hang: its kind, the waits that explain it, what would help; and the words for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from replay_dd.schedules.hang import Hang, HangFrame, HangStep, HangThing, HangThread
from replay_dd.schedules.model import Ending, UncaughtException
from replay_dd.schedules.story.words import listed

_TAKES_FOR_CALLER = ("__enter__", "__aenter__", "acquire", "lock", "acquire_lock")  # which the caller then has
LOCKS = ("Lock", "RLock")
_MAIN = "0"
ENDS_WAIT = ("sets", "notifies", "notifies all of", "puts into", "sets the result of", "sets an exception in")


class Wait(NamedTuple):
    """One thread that waits, and who would have to end that.

    Attributes:
        thread: who waits.
        thing: for what; None if it is the end of a thread or something outside.
        on: the threads that would have to act.
        known: whether that is known, not inferred from the code.
    """

    thread: HangThread
    thing: HangThing | None
    on: tuple[str, ...]
    known: bool


class Verdict(NamedTuple):
    """What kind of hang it is.

    Attributes:
        kind: in the field's words.
        waits: those that explain the hang; in a circle, each for the next one.
        things: the locks and other objects that it is about.
        summary: one or two sentences.
        steps: what happened before that explains it, in order.
        help: what would help, in words; not tried.
        inferred: what was not seen but concluded.
    """

    kind: str
    waits: tuple[Wait, ...]
    things: tuple[HangThing, ...]
    summary: str
    steps: tuple[HangStep, ...] = ()
    help: str = ""
    inferred: tuple[str, ...] = ()


# -- words -------------------------------------------------------------------------------------------------------------


def things_of(waits: list[Wait]) -> tuple[HangThing, ...]:
    """What these waits are for."""
    return tuple(dict.fromkeys(wait.thing for wait in waits if wait.thing is not None))


def ended(hang: Hang) -> list[str]:
    """The threads that have ended."""
    return [thread.thread for thread in hang.threads if thread.state == "ended"]


def name_of_dead(error: UncaughtException) -> str:
    """The thread that an exception ended."""
    return _MAIN if error.where == "main" else error.where


def how_died(ending: Ending, thread: str) -> str:
    """That a thread was ended by an exception, as a sentence with a space before it; empty if it was not."""
    for error in ending.exceptions:
        if name_of_dead(error) == thread:
            frame = error.innermost
            where = f" at {frame.file}:{frame.line} in {frame.function}" if frame is not None else ""
            text = error.text.splitlines()[0][:120] if error.text else ""
            return f" An exception ended thread {thread}: {error.type}{': ' if text else ''}{text}{where}."
    return ""


def short(wait: Wait) -> str:
    """What a thread waits for, in a few words."""
    if wait.thread.end_of:
        return f"waits for thread {wait.thread.end_of} to end"
    if wait.thing is None:
        return wait.thread.explanation
    return f"waits for {wait.thing.called}" + (f" ({wait.thing.state})" if wait.thing.kind not in LOCKS else "")


def who_needs(circle: list[Wait], lock: HangThing) -> str:
    """The thread in a circle that waits for this lock."""
    return next((wait.thread.thread for wait in circle if wait.thing == lock), "?")


def inferred_circle(circle: list[Wait]) -> str:
    """What of a circle of waits is not known but inferred."""
    said = [
        f"that thread {listed(wait.on)} would end the wait for {wait.thing.called}"
        for wait in circle
        if not wait.known and wait.thing is not None
    ]
    return f"{listed(said)}, from its code"


def kind_words(thing: HangThing) -> str:
    """What a thing is, with its article."""
    return f"a {thing.kind}"


def own_name(thing: HangThing) -> str:
    """The last part of a name, as the code that uses it is likely to write it."""
    return thing.name or thing.kind.lower()


def of_lines(turns: Sequence[tuple[str, str, int]]) -> str:
    """The lines of a circle, such as ``spin.py:22 to 23``."""
    lines: dict[str, list[int]] = {}
    for _, file, line in turns:
        lines.setdefault(file, []).append(line)
    return listed(
        f"{file}:{min(own)}" + (f" to {max(own)}" if max(own) > min(own) else "") for file, own in lines.items()
    )


def why_lost(hang: Hang, thing: HangThing) -> str:
    """Why nobody will release a lock: its holder has ended, or has left the call that took it; empty if neither.

    The stacks tell: a thread is still in that call if all the calls around it are those of then, at the same lines.
    """
    if thing.kind not in LOCKS or "has ended" in thing.state:
        return "has ended without releasing it" if thing.kind in LOCKS else ""
    holder = hang.thread(thing.holders[0]) if thing.holders else None
    then, now = _around_taking(hang, thing), own_calls(hang, -1 if holder is None else holder.stack)
    if not hang.with_history:
        return "has left the function that took it" if "has left" in thing.state else ""
    if not then or not now:
        return ""
    inside = then[-1]
    around = len(then) - 1
    if now[:around] != then[:around] or len(now) <= around or now[around].function != inside.function:
        return f"has left {inside.function} since, with the lock taken"
    again = holder is not None and holder.thing == thing.number and now[around:] == [inside]
    return f"did not release it before it came to {inside.file}:{inside.line} again" if again else ""


def _around_taking(hang: Hang, thing: HangThing) -> list[HangFrame]:
    """The calls of the program around the taking of a lock, without those that exist to take it."""
    stack = hang.stack(thing.taken)
    for number, frame in enumerate(stack):
        if frame.function.rpartition(".")[2] in _TAKES_FOR_CALLER:
            stack = hang.stack(thing.taken)[number + 1 :]
    return [frame for frame in reversed(stack) if frame.counted]


def own_calls(hang: Hang, stack: int) -> list[HangFrame]:
    """The calls of the program in a stack, the outermost first."""
    return [frame for frame in reversed(hang.stack(stack)) if frame.counted]
