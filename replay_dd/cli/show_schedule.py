"""``replay-dd show`` of a schedule log."""

from __future__ import annotations

import json
from pathlib import Path

import click

from replay_dd.cli.progress import can_draw, say
from replay_dd.report.lanes import lanes
from replay_dd.report.log import describe_log
from replay_dd.report.show_json import schedule_as_json
from replay_dd.schedules.model import Log
from replay_dd.schedules.target import changed_files

_SHOWN = 3


def show_schedule(log: Log, path: Path, *, as_json: bool, ascii_only: bool) -> None:
    """Print what a log holds: its facts, and its switches as lanes; or one JSON object."""
    if as_json:
        click.echo(json.dumps(schedule_as_json(log), indent=2))
        return
    for line in describe_log(log):
        click.echo(line)
    click.echo()
    changed = changed_files(log.program)
    if changed:
        say(f"source lines are left out, as the program has changed since: {', '.join(changed[:_SHOWN])}")
    for line in lanes(log, unicode=can_draw() and not ascii_only, source=not changed):
        click.echo(line)
