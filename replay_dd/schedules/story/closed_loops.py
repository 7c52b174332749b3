"""What would help where the library closes an event loop that another thread still uses.

``asyncio.run()`` closes the loop as soon as its coroutine has returned: no lock and no order of statements around the
whole call can keep a thread from being late.
"""

from __future__ import annotations

from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.story.conflict import Conflict
from replay_dd.schedules.story.story import path_of
from replay_dd.schedules.story.words import short_file


def help_of_closed_loop(conflict: Conflict) -> str:
    """What would help; empty if the conflict is not about an event loop that the library closes.

    Args:
        conflict: what the threads did in the failing run.
    """
    accesses = conflict.accesses
    closes = next((one for one in accesses if _is_closed_by_library(one)), None)
    late = [one for one in accesses if closes is not None and one.thing == closes.thing and one.thread != closes.thread]
    if closes is None or not late:
        return ""
    place = path_of(closes)[-1]
    return (
        f"wait for thread {late[0].thread} before the event loop is closed ({short_file(place.file)}:{place.line}), "
        "for instance by `await asyncio.to_thread(thread.join)` at the end of its coroutine"
    )


def _is_closed_by_library(access: Access) -> bool:
    """Whether the program's own code does not close the loop itself: the call that does is one of the library."""
    is_loop = access.holder_type.endswith("EventLoop")
    return is_loop and access.detail == "close()" and not access.stack[0].counted and bool(path_of(access))
