"""Explains an isolated switch: observes both twins and tells their story."""

from __future__ import annotations

from dataclasses import dataclass, replace

from replay_dd.errors import ReplayDDError
from replay_dd.schedules.answer import GuiltySwitch, ScheduleIsolation
from replay_dd.schedules.comparable import time_limit_for
from replay_dd.schedules.story.conflict import find_conflict
from replay_dd.schedules.story.deadlock import tell_deadlock, with_race
from replay_dd.schedules.story.kinds import essential
from replay_dd.schedules.story.story import Story
from replay_dd.schedules.story.tell import tell_race
from replay_dd.schedules.story.twins import Twins, observe_twins
from replay_dd.schedules.story.victim import better_of, conflict_of_victim, failed_access


@dataclass(frozen=True)
class Explanation:
    """The story of an isolated switch.

    Attributes:
        story: the story; None if there is none.
        why_not: why there is none.
        interrupted: whether Ctrl-C ended it.
        twins: what was seen of both runs; None if they were not observed.
    """

    story: Story | None
    why_not: str = ""
    interrupted: bool = False
    twins: Twins | None = None


def explain(found: ScheduleIsolation, time_limit_s: float | None = None) -> Explanation:
    """Explain an isolated switch, with two more runs; whatever goes wrong here costs the story, never the answer.

    Args:
        found: the isolation.
        time_limit_s: seconds after which a run is killed; None to derive it from the recorded runs.
    """
    if found.switch is None:
        return Explanation(None, "no switch was isolated")
    if not found.isolation.verified or found.isolation.circumstance.flaky:
        return Explanation(None, "the final runs do not replay exactly")
    limit_s = time_limit_for((found.passing, found.failing)) if time_limit_s is None else time_limit_s
    try:
        twins = observe_twins(found.passing, found.failing, found.switch.failing, found.failing_range, limit_s * 3)
        story = None if twins.why_not else _story(found, found.switch, twins)
    except KeyboardInterrupt:
        return Explanation(None, "interrupted", interrupted=True)
    except ReplayDDError as error:
        return Explanation(None, str(error))
    except Exception as error:
        return Explanation(None, f"what was seen cannot be told ({type(error).__name__}: {error})")
    if story is None:
        return Explanation(None, twins.why_not or "no access to a common thing was seen at the switch")
    return Explanation(story, twins=twins)


def _story(found: ScheduleIsolation, switch: GuiltySwitch, twins: Twins) -> Story | None:
    ending = found.failing.ending
    conflict = find_conflict(twins.failing, switch, found.failing_range)
    victim = failed_access(twins.failing, twins.passing, switch.failing, ending)
    if victim is not None:
        conflict = better_of(conflict, conflict_of_victim(twins.failing, victim), victim)
    conflict = essential(conflict, ending)
    if twins.failing_hang is None:
        return tell_race(conflict, twins.failing, twins.passing, ending)
    # What led there is told as if it had failed at once: the hang itself has its own story.
    race = tell_race(conflict, twins.failing, twins.passing, replace(ending, deadlock=()))
    return with_race(tell_deadlock(twins.failing_hang, twins.passing_hang, ending), race)
