"""Failures against which neither a lock nor an order is tried, as none could help."""

from __future__ import annotations

from collections.abc import Callable

from replay_dd.schedules.hang import Hang
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.closed_loops import help_of_closed_loop
from replay_dd.schedules.story.conflict import Conflict
from replay_dd.schedules.story.hanging import is_taken_by_finalizer, is_taken_by_handler
from replay_dd.schedules.story.stop_flag import ends_no_wait, help_of_stop_flag
from replay_dd.schedules.story.story import Story
from replay_dd.schedules.story.timers import help_of_cancelled_timer
from replay_dd.schedules.story.twins import Twins
from replay_dd.schedules.story.unended import LOOK_FIRST, ON_EXCEPTION
from replay_dd.schedules.story.verdict import Wait

_LOOK_AGAIN = "no lock makes a thread look again after its wait, and one that it keeps while it waits is no repair"
_CLOSED_LOOP = "the library closes the loop once the coroutine has returned, and no lock around the call keeps it open"
_LOOK_FIRST = "no lock makes a thread look at the state before it waits for a notification that has come already"
_SIGNAL = "no lock keeps a signal from interrupting the thread that has it"
_FINALIZER = "no lock keeps the garbage collector from calling a finalizer in the thread that has it"
_STOP_FLAG = "no lock and no order of the two makes the loop look whether anything is left"
_NO_FLAG = "no lock and no order of the two ends a wait that has begun"
_KEPT_PERMIT = "no lock and no order gives back the permit that an exception took along"
_TIMER = "no lock stops a timer that has expired; one that covers the look at the result, too, only moves that"


def why_in_vain(story: Story, conflict: Conflict | None, twins: Twins) -> str:
    """Why it is in vain to try anything, in words; empty if it is not.

    Args:
        story: of the failure.
        conflict: what it is about; None if that is not known.
        twins: what the two final runs accessed.
    """
    if story.kind == kinds.SELF_DEADLOCK and _is_of(is_taken_by_handler, story):
        return _SIGNAL
    if story.kind == kinds.SELF_DEADLOCK and _is_of(is_taken_by_finalizer, story):
        return _FINALIZER
    told = story.hang
    if told is not None and not told.led_by and told.verdict.help.startswith(LOOK_FIRST):
        return _LOOK_FIRST
    if told is not None and not told.led_by_kind and ON_EXCEPTION in told.verdict.help:
        return _KEPT_PERMIT
    if story.kind == kinds.WAIT_WITHOUT_LOOP:
        return _LOOK_AGAIN
    if conflict is None:
        return ""
    if help_of_cancelled_timer(story.kind, conflict, twins.failing):
        return _TIMER
    # What led to a hang is told as if it had failed at once.
    kind = story.kind if told is None else kinds.ORDER_VIOLATION
    stopped = help_of_stop_flag(kind, conflict, twins.failing, twins.passing)
    if stopped:
        return _NO_FLAG if ends_no_wait(stopped) else _STOP_FLAG
    return _CLOSED_LOOP if help_of_closed_loop(conflict) else ""


def _is_of(is_taken: Callable[[Hang, Wait], bool], story: Story) -> bool:
    """Whether the lock of a self-deadlock is taken by the code that was interrupted, and by what interrupted it."""
    told = story.hang
    return told is not None and any(is_taken(told.hang, wait) for wait in told.verdict.waits)
