"""Makes what holds threads back or wakes them, out of the request of a run."""

from __future__ import annotations

from .barrier import VirtualBarrier
from .lock import VirtualLock
from .notify_all import VirtualNotifyAll
from .order import VirtualOrder

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

    from ..baton.scheduler import Scheduler


def make_guard(
    scheduler: Scheduler, wanted: dict[str, Any]
) -> VirtualBarrier | VirtualLock | VirtualNotifyAll | VirtualOrder:
    """What a request asks for: a virtual lock, order, barrier, or notifications of all."""
    if wanted["notifies_all"]:
        return VirtualNotifyAll(scheduler, wanted["regions"])
    if wanted["threads"]:
        return VirtualBarrier(scheduler, wanted["regions"], wanted["threads"])
    if wanted["earlier"]:
        return VirtualOrder(scheduler, wanted["regions"], wanted["earlier"], wanted["times"])
    return VirtualLock(scheduler, wanted["regions"], wanted["taking"])
