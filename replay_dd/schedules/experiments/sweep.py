"""Schedules around an old one, in a program that has changed since: so that no anchor is all that decides.

Rules of this module:

* Where the old schedule could be followed, its switches are moved a little, one at a time.
* Whether it could or not, the thread of each switch gives way at every yield point that it passes in the function of
  that switch, as far as there is room; beyond that, at even distances.
* Where it no longer comes there, it does so in the whole file of that function, or in its whole run if it no longer
  comes to that file either: the function may have another name now.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from replay_dd.schedules.anchors import named
from replay_dd.schedules.model import Log, Place, Switch, Trigger
from replay_dd.schedules.replaying.replay import replay_plan
from replay_dd.schedules.running.target import Plan

MOST = 60  # positions in a function that are tried of one switch
MOST_OUTSIDE = 300  # the same where the function is gone
_NEAR = 6  # yield points by which a switch is moved, either way
TRACED = 200_000  # yield points of a run that are looked at


@dataclass(frozen=True)
class Sweep:
    """The positions at which one switch of the old schedule is tried.

    Attributes:
        thread: the thread that gives way.
        function: the function in which it does; empty if it no longer comes there.
        file: the file in which it does; empty for all of its run.
        gone: the function to which it no longer comes; empty if it does.
        times: the thread times.
        whole: whether these are all that it passed there.
        plans: the schedules.
    """

    thread: str
    function: str
    file: str
    gone: str
    times: tuple[int, ...]
    whole: bool
    plans: tuple[Plan, ...]

    @property
    def tells(self) -> bool:
        """Whether a failure that this switch alone makes would have been found, as far as can be told."""
        return not self.gone or (self.whole and bool(self.file))


def moved(log: Log) -> Iterator[Plan]:
    """The schedule of a log with one of its switches moved a little.

    Args:
        log: of a run of the program as it is now.
    """
    for switch in log.switches:
        if switch.by_default:
            continue
        others = [trigger for trigger in log.triggers if trigger != switch.trigger]
        for time in range(max(1, switch.time - _NEAR), switch.time + _NEAR + 1):
            if time != switch.time:
                triggers = tuple(sorted([*others, Trigger(switch.thread, time, switch.to)]))
                yield replay_plan(triggers, log.arrivals)


def sweeps(old: Log, trace: Sequence[tuple[str, Place | None]], threads: Iterable[str]) -> Iterator[Sweep]:
    """For each function with a switch of the old schedule: the switch at other places of it, alone.

    Args:
        old: the log from before the program was changed.
        trace: thread and place of each yield point of a run of the program as it is now.
        threads: all threads of that run.
    """
    there = set(threads)
    seen: set[tuple[str, str, str, str]] = set()
    for switch in old.switches:
        place = switch.place
        if switch.by_default or place is None or not {switch.thread, switch.to} <= there:
            continue
        key = (switch.thread, switch.to, place.file, named(place))
        if key in seen:
            continue
        seen.add(key)
        yield _sweep(switch, place, trace)


def _sweep(switch: Switch, place: Place, trace: Sequence[tuple[str, Place | None]]) -> Sweep:
    own = [where for thread, where in trace if thread == switch.thread]
    function = named(place)
    here = [time for time, where in enumerate(own, 1) if where is not None and where.file == place.file]
    inside = [time for time in here if named(own[time - 1]) == function]  # type: ignore[arg-type]  # it is a place
    # A switch before the first instruction of a function is not the same as one before the next one outside.
    wanted = inside or here or list(range(1, len(own) + 1))
    step = max(1, -(-len(wanted) // (MOST if inside else MOST_OUTSIDE)))
    times = tuple(wanted[::step])
    plans = tuple(replay_plan((Trigger(switch.thread, time, switch.to),)) for time in times)
    where, gone = (function, "") if inside else ("", function)
    return Sweep(switch.thread, where, place.file if here else "", gone, times, step == 1, plans)
