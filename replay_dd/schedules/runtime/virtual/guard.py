"""Makes what holds threads back, out of the request of a run."""

from __future__ import annotations

from .lock import VirtualLock
from .order import VirtualOrder

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

    from ..baton.scheduler import Scheduler


def make_guard(scheduler: Scheduler, wanted: dict[str, Any]) -> VirtualLock | VirtualOrder:
    """The virtual lock, or the virtual order, that a request asks for."""
    if wanted["earlier"]:
        return VirtualOrder(scheduler, wanted["regions"], wanted["earlier"])
    return VirtualLock(scheduler, wanted["regions"], wanted["taking"])
