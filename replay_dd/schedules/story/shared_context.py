"""A context of ``contextvars`` that one thread enters while another one is inside it; the interpreter refuses that.

Rules of this module:

* The exception tells that it happened; what was seen tells who was to enter which context. It may be one thread that
  gave the context to two tasks of a pool.
* A thread that the exception ended was refused what it was to enter last.
"""

from __future__ import annotations

from collections.abc import Sequence

from replay_dd.schedules.model import Ending
from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.story.kinds import SHARED_CONTEXT
from replay_dd.schedules.story.verdict import name_of_dead
from replay_dd.schedules.story.words import at_place

INFERRED = "which context it is, from the exception and from who was to enter one twice"
_REFUSED = "cannot enter context"


def find_shared_context(failing: Observation, ending: Ending) -> Conflict | None:
    """The conflict of those who enter one context; None if none was refused, or it is not known which one.

    Args:
        failing: all that the failing run accessed.
        ending: how the failing run ended.
    """
    refused = {name_of_dead(error) for error in ending.exceptions if _REFUSED in error.text}
    if not refused:
        return None
    entered = [one for one in failing.accesses if one.holder_type == "Context" and one.detail == "run()"]
    last = [one for one in entered if one.thread in refused][-1:]
    pairs = [(first, second) for second in (*last, *reversed(entered)) for first in _before(second, entered)]
    if not pairs:
        return None
    first, second = pairs[0]
    of_one = first.thread == second.thread
    own, others = ((first, second), ()) if of_one else ((first,), (second,))
    return Conflict(
        first.thread, Edge(first, others, inferred=False), None, None, others, own, (), fault=SHARED_CONTEXT
    )


def _before(second: Access, entered: Sequence[Access]) -> list[Access]:
    """Who was to enter the same context last before; empty if nobody was."""
    return [one for one in entered if one.thing == second.thing and one.number < second.number][-1:]


def in_words(conflict: Conflict) -> str:
    """What happened, in a sentence or two.

    Args:
        conflict: of those who enter one context.
    """
    first, second = (*conflict.before, *conflict.stretch)
    here, there = at_place(first.place), at_place(second.place)
    if first.thread == second.thread:
        return (
            f"Thread {first.thread} runs two calls in one context ({here}, {there}), which two threads may enter at "
            "the same time; a context that has been entered cannot be entered again."
        )
    return (
        f"Thread {second.thread} enters a context ({there}) that thread {first.thread} has entered ({here}) and not "
        "left yet."
    )


def help_of_shared_context(conflict: Conflict) -> str:
    """What would help.

    Args:
        conflict: of those who enter one context.
    """
    first, second = (*conflict.before, *conflict.stretch)
    return (
        f"give each call a context of its own at {at_place(first.place)} and {at_place(second.place)}: "
        "`contextvars.copy_context().run`, or `.copy().run` of the one that they share"
    )
