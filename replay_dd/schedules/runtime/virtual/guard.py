"""Makes what holds threads back, out of the request of a run."""

from __future__ import annotations

from .barrier import VirtualBarrier
from .lock import VirtualLock
from .order import VirtualOrder

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

    from ..baton.scheduler import Scheduler


def make_guard(scheduler: Scheduler, wanted: dict[str, Any]) -> VirtualBarrier | VirtualLock | VirtualOrder:
    """The virtual lock, order or barrier that a request asks for."""
    if wanted["threads"]:
        return VirtualBarrier(scheduler, wanted["regions"], wanted["threads"])
    if wanted["earlier"]:
        return VirtualOrder(scheduler, wanted["regions"], wanted["earlier"], wanted["times"])
    return VirtualLock(scheduler, wanted["regions"], wanted["taking"])
