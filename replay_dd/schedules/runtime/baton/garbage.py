"""Garbage collection at moments that the schedule fixes.

The automatic collector is triggered by the number of allocations, which the runtime's own work shifts; finalizers would
then run at other yield points in a replay. So it is switched off when the first thread starts, and each thread collects
at fixed multiples of thread time instead. (Not at granularity ``sync``, where yield points can be far apart.)
"""

from __future__ import annotations

import gc

from ..accelerator.own_memory import hides_own

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

COLLECT_EVERY = 5_000  # yield points of one thread
_GENERATIONS = ((100 * COLLECT_EVERY, 2), (10 * COLLECT_EVERY, 1), (COLLECT_EVERY, 0))

_wanted = True
_real_enable = gc.enable  # taken before ours stands in for it


def stand_ins() -> dict[str, Callable[..., list[Any]]]:
    """Functions of ``gc`` that tell of all objects there are: the program does not see the runtime's."""
    return {"get_objects": hides_own(gc.get_objects), "get_referrers": hides_own(gc.get_referrers)}


def collect_by_schedule() -> None:
    """Take over from the automatic collector."""
    global _wanted
    _wanted = gc.isenabled()
    gc.disable()
    gc.enable = _enable
    gc.disable = _disable
    gc.isenabled = _is_enabled


def collect(thread_time: int) -> None:
    """Collect as is due at this thread time, unless the program switched collection off."""
    if _wanted:
        for every, generation in _GENERATIONS:
            if thread_time % every == 0:
                gc.collect(generation)
                return


def give_back() -> None:
    """Switch the automatic collector on again, as the interpreter relies on it at exit.

    Without the collection that starts its end, file objects are found in the order in which they were made, and one is
    closed before the object that still holds data for it.
    """
    if _wanted:
        _real_enable()


def _enable() -> None:
    global _wanted
    _wanted = True


def _disable() -> None:
    global _wanted
    _wanted = False


def _is_enabled() -> bool:
    return _wanted
