"""Whether a thread changes what it goes through, so that its loop fails: `for one in listeners: one.hear()` may.

Who else has made it do so, and when, is the story. But no lock and no order is what the loop lacks.
"""

from __future__ import annotations

from replay_dd.schedules.model import Ending
from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story.edges import takes_out
from replay_dd.schedules.story.victim import step_in_loop
from replay_dd.schedules.story.words import at_place


def help_of_own_change(failing: Observation, ending: Ending) -> str:
    """What would help; empty if no loop failed, or another thread has changed its container.

    Args:
        failing: what the failing run accessed.
        ending: how the failing run ended.
    """
    step = step_in_loop(failing, ending)
    if step is None:
        return ""
    earlier = [one for one in failing.accesses if one.number < step.number]
    same = (
        one for one in reversed(earlier) if (one.thread, one.place, one.does) == (step.thread, step.place, step.does)
    )
    last = next(same, None)
    changes = [one for one in earlier if one.writes and one.touches(step) and last and one.number > last.number]
    if not changes or any(one.thread != step.thread for one in changes):
        return ""
    does = "removes from" if _removes(changes[-1]) else "changes"
    return (
        f"go through a copy of {step.name} ({at_place(step.place)}): thread {step.thread} itself {does} it "
        f"({at_place(changes[-1].place)}) while it goes through it"
    )


def _removes(change: Access) -> bool:
    return change.does == "deletes" or takes_out(change)
