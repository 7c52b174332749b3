"""Where threads stood at the switches of a run, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from replay_dd.report.source import source_line
from replay_dd.schedules.model import Log, Place, Switch
from replay_dd.schedules.observed.observation import Observation, StackFrame

_MOST_SWITCHES = 200
_MOST_FRAMES = 20


def stacks_as_text(log: Log, observation: Observation) -> Iterator[str]:
    """Each switch with the stack of the thread that gives way, the innermost frame first; library frames are folded.

    Args:
        log: the run.
        observation: what was seen when it was repeated.
    """
    for number, switch in enumerate(log.switches[:_MOST_SWITCHES], 1):
        when = f"before its yield point {switch.time:,}"
        why = f"has to wait {when}" if switch.forced else f"is preempted {when}"
        yield f"{number}. thread {switch.thread} {'ends' if switch.ended else why}; thread {switch.to} runs"
        stack = observation.switch_stacks.get((switch.thread, switch.time), ())
        if not switch.ended:
            yield from (f"     {line}" for line in _frames(stack, log, switch))
    more = len(log.switches) - _MOST_SWITCHES
    if more > 0:
        yield f"and {more:,} more switches"


def _frames(stack: tuple[StackFrame, ...], log: Log, switch: Switch) -> Iterator[str]:
    if not any(frame.counted for frame in stack):
        yield f"{switch.where}: none of its code is counted"
        return
    folded = 0
    for frame in stack[:_MOST_FRAMES]:
        if not frame.counted:
            folded += 1
            continue
        if folded:
            yield f"... {folded} of the library ..."
            folded = 0
        text = source_line(Place(frame.file, frame.path, frame.line, 0, frame.function, "", False), log.program)
        yield f"{frame.file}:{frame.line} in {frame.function}{f'   {text}' if text else ''}"
    if len(stack) > _MOST_FRAMES:
        yield f"... and {len(stack) - _MOST_FRAMES} more"


def stacks_as_json(log: Log, observation: Observation) -> list[list[dict[str, Any]]]:
    """The stack at each switch, in their order; the member ``stacks`` of what ``show --json --stacks`` prints."""
    return [
        [
            {"file": frame.file, "line": frame.line, "function": frame.function, "counted": frame.counted}
            for frame in observation.switch_stacks.get((switch.thread, switch.time), ())
        ]
        for switch in log.switches
    ]
