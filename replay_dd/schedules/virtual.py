"""Virtual locks, orders, barriers and notifications: what is added to a run to try a repair.

The program itself is not touched.

Rules of this module:

* Plain, frozen data; a log of a run with one of these carries it in its settings, so that it replays exactly.
* A region is what a ``with`` statement could enclose: lines of one function, with all that is called from there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from replay_dd.schedules.shapes import Count, Expression, SourceLine, ThreadId
from replay_dd.system_texts import Name


@dataclass(frozen=True, order=True)
class Region:
    """Lines of one function.

    Attributes:
        file: short name, as in the places of a log.
        function: the qualified name.
        first: the first line, counted from 1.
        last: the last one.
    """

    file: Name
    function: str
    first: SourceLine
    last: SourceLine

    def __str__(self) -> str:
        return f"{self.file}:{self.first}" if self.first == self.last else f"{self.file}:{self.first}-{self.last}"


@dataclass(frozen=True)
class VirtualLock:
    """Only one thread at a time is inside of any of the regions.

    Attributes:
        regions: where it is held.
        taking: the lock of the program that is taken there, as the code there would name it (``self._lock``); empty for
            a lock that the program does not have.
    """

    regions: tuple[Region, ...]
    taking: Expression = ""


@dataclass(frozen=True)
class VirtualOrder:
    """Whoever comes to the later lines waits until another thread has passed the earlier ones, or waits in them.

    Attributes:
        later: before these lines, a thread waits.
        earlier: these lines have to be passed first.
        times: how often, by whichever threads; to wait in them only counts if it is once.
    """

    later: Region
    earlier: Region
    times: Count = 1


@dataclass(frozen=True)
class VirtualBarrier:
    """Some threads wait for each other before some lines, each time that they come there.

    Attributes:
        before: before these lines.
        threads: which threads.
    """

    before: Region
    threads: tuple[ThreadId, ...]


@dataclass(frozen=True)
class VirtualNotifyAll:
    """Where a thread notifies a condition, it wakes all threads that wait for it, not one of them.

    Attributes:
        regions: the lines in which ``notify()`` is called.
    """

    regions: tuple[Region, ...]


Virtual = VirtualLock | VirtualOrder | VirtualBarrier | VirtualNotifyAll


def as_request(virtual: Virtual | None) -> dict[str, Any] | None:
    """What the runtime is told; see ``runtime/virtual/guard.py``."""
    if virtual is None:
        return None
    if isinstance(virtual, VirtualOrder):
        return _request([virtual.later], earlier=[_plain(virtual.earlier)], times=virtual.times)
    if isinstance(virtual, VirtualBarrier):
        return _request([virtual.before], threads=list(virtual.threads))
    if isinstance(virtual, VirtualNotifyAll):
        return _request(virtual.regions, notifies_all=True)
    return _request(virtual.regions, taking=virtual.taking)


def _request(regions: Iterable[Region], **rest: Any) -> dict[str, Any]:
    return {
        "regions": [_plain(region) for region in regions],
        "taking": "",
        "earlier": [],
        "times": 1,
        "threads": [],
        "notifies_all": False,
        **rest,
    }


def _plain(region: Region) -> tuple[str, str, int, int]:
    return region.file, region.function, region.first, region.last
