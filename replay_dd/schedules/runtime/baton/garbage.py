"""Garbage collection at moments that the schedule fixes.

The automatic collector is triggered by the number of allocations, which the runtime's own work shifts; finalizers would
then run at other yield points in a replay. So it is switched off when the first thread starts, and each thread collects
at fixed multiples of thread time instead. (Not at granularity ``sync``, where yield points can be far apart.) In
reality it may run at any allocation, and the program's finalizers with it, so a schedule may ask for a collection at
any other yield point, too. That one collects everything, and stands in the log, whether it finds anything or not.

How much garbage the automatic collector has left by then differs, too: a suite that was loaded for many tests has made
more than a run of one test has. So all of it is collected once, before the first thread starts. What is still alive has
its finalizers and weak references called at the same moments in each run, the end of the program among them.

Nobody is warned of what is found there, such as a file that was not closed. Without control it would be found later, or
never: where warnings are errors, each test with a thread would fail for what its fixtures or imports have left behind.
"""

from __future__ import annotations

import _warnings
import gc
import sys

from ..accelerator.own_memory import hides_own
from ..warning_filters import filters_of

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

COLLECT_EVERY = 5_000  # yield points of one thread
_GENERATIONS = ((100 * COLLECT_EVERY, 2), (10 * COLLECT_EVERY, 1), (COLLECT_EVERY, 0))

_IGNORE_ALL = ("ignore", None, Warning, None, 0)  # a filter of module `warnings`

_wanted = True
_real_enable = gc.enable  # taken before ours stands in for it


def stand_ins() -> dict[str, Callable[..., list[Any]]]:
    """Functions of ``gc`` that tell of all objects there are: the program does not see the runtime's."""
    return {"get_objects": hides_own(gc.get_objects), "get_referrers": hides_own(gc.get_referrers)}


def collect_by_schedule() -> None:
    """Take over from the automatic collector."""
    global _wanted
    _wanted = gc.isenabled()
    if _wanted:
        _collect_without_warnings()
    gc.disable()
    gc.enable = _enable
    gc.disable = _disable
    gc.isenabled = _is_enabled


def _collect_without_warnings() -> None:
    filters = filters_of(sys.modules.get("warnings", _warnings))
    # Not by `warnings.catch_warnings`: that makes the program repeat the warnings that it gives only once.
    filters.insert(0, _IGNORE_ALL)
    try:
        gc.collect()
    finally:
        if _IGNORE_ALL in filters:  # a finalizer may have reset them
            filters.remove(_IGNORE_ALL)


def collect(thread_time: int) -> None:
    """Collect as is due at this thread time, unless the program switched collection off."""
    if _wanted:
        for every, generation in _GENERATIONS:
            if thread_time % every == 0:
                gc.collect(generation)
                return


def collect_all() -> None:
    """Collect all garbage, as a schedule may ask for at any yield point, unless the program switched collection off."""
    if _wanted:
        gc.collect()


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
