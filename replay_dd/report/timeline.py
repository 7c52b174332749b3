"""What happened in a run, in one order: its switches, and its accesses if it was observed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from replay_dd.schedules.model import Log, Switch
from replay_dd.schedules.observed.observation import Access, Observation


@dataclass(frozen=True)
class Turn:
    """A stretch in which one thread ran.

    Attributes:
        thread: which.
        start: yield points that all threads had passed when it began.
        stop: the same for its end.
        switch: what ended it; None at the end of the run.
    """

    thread: str
    start: int
    stop: int
    switch: Switch | None


def turns_of(log: Log) -> Iterator[Turn]:
    """The turns of a run, in order."""
    thread, start = "0", 0
    for switch in log.switches:
        yield Turn(switch.thread, start, switch.global_time, switch)
        thread, start = switch.to, switch.global_time
    yield Turn(thread, start, max(start, log.ending.global_time), None)


def in_order(log: Log, observation: Observation) -> Iterator[Switch | Access]:
    """The switches and the accesses of a run, as they came."""
    switches = iter(log.switches)
    switch = next(switches, None)
    for access in observation.accesses:
        while switch is not None and _comes_first(switch, access):
            yield switch
            switch = next(switches, None)
        yield access
    if switch is not None:
        yield switch
    yield from switches


def _comes_first(switch: Switch, access: Access) -> bool:
    if switch.global_time != access.global_time:
        return switch.global_time < access.global_time
    # At a switch, a thread has passed its yield point, and not yet run the instruction behind it.
    return switch.thread != access.thread or switch.time <= access.time


def by_path(thread: str) -> tuple[int, ...]:
    """The key by which threads are sorted: the path of their creation."""
    return tuple(int(part) for part in thread.split("."))
