"""``replay-dd show`` of a schedule log."""

from __future__ import annotations

from pathlib import Path

from replay_dd.cli.output import echo, echo_json, echo_lines
from replay_dd.cli.progress import can_draw, say
from replay_dd.report.lanes import lanes
from replay_dd.report.log import describe_log, schedule_as_json
from replay_dd.schedules.model import Log
from replay_dd.schedules.target import changed_files

_SHOWN = 3


def show_schedule(log: Log, path: Path, *, as_json: bool, ascii_only: bool) -> None:
    """Print what a log holds: its facts, and its switches as lanes; or one JSON object."""
    if as_json:
        echo_json(schedule_as_json(log))
        return
    echo_lines(describe_log(log))
    echo()
    changed = changed_files(log.program)
    if changed:
        say(f"source lines are left out, as the program has changed since: {', '.join(changed[:_SHOWN])}")
    echo_lines(lanes(log, unicode=can_draw() and not ascii_only, source=not changed))
