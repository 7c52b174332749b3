"""Notifications that could keep a hang from happening: where one woke the wrong thread, one of all."""

from __future__ import annotations

from collections.abc import Iterator

from replay_dd.schedules.model import Log
from replay_dd.schedules.story.story import Story
from replay_dd.schedules.story.unended import WAKE_ALL
from replay_dd.schedules.virtual import Region, VirtualNotifyAll


def notify_all_proposals(story: Story, failing: Log) -> Iterator[VirtualNotifyAll]:
    """All notifications of a condition, where one of them has woken a thread that waits for something else.

    To change the last one only would do for the schedule that failed, and leave the others as wrong as it was.

    Args:
        story: of the failure.
        failing: its log; where only operations are yield points, no line is known to be reached.
    """
    told = story.hang
    if told is None or not told.verdict.help.startswith(WAKE_ALL) or failing.settings.granularity == "sync":
        return
    numbers = {thing.number for thing in told.verdict.things}
    notifies = [step for step in told.hang.steps if step.thing in numbers and step.does == "notifies"]
    frames = [next((one for one in told.hang.stack(step.stack) if one.counted), None) for step in notifies]
    lines = {Region(one.file, one.function, one.line, one.line) for one in frames if one is not None}
    if lines:
        yield VirtualNotifyAll(tuple(sorted(lines)))
