"""``replay-dd replay`` and ``replay-dd show``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from replay_dd.cli.errors import EXIT_CANNOT_TELL
from replay_dd.cli.gui_replay import SESSION_FORMAT, gui_replay_options, replay_session, show_session
from replay_dd.cli.options import FOLDER, LOG, time_limit_option
from replay_dd.cli.progress import can_draw, say
from replay_dd.cli.web import flow_options, replay_flow, settle_of_flow, show_flow
from replay_dd.logfile import format_of
from replay_dd.outcome import Outcome
from replay_dd.report.lanes import lanes
from replay_dd.report.log import describe_log
from replay_dd.schedules.anchors import replay_by_anchors
from replay_dd.schedules.log import read_log
from replay_dd.schedules.model import Log
from replay_dd.schedules.replay import ReplayResult, check_there, check_unchanged, replay
from replay_dd.schedules.signature import signature_of
from replay_dd.schedules.target import changed_files
from replay_dd.web.flow import looks_like_a_flow

_EXITS = {Outcome.PASS: 0, Outcome.FAIL: 1, Outcome.UNRESOLVED: EXIT_CANNOT_TELL}
_SHOWN = 5
_ANCHORED_LIMIT_S = 120.0  # at least: it asks at every yield point


@click.command("replay")
@click.argument("log", type=LOG)
@time_limit_option(None)
@click.option("--exact", is_flag=True, help="Refuse a program that was changed since, or another Python version.")
@click.option("--accept-changes", is_flag=True, help="Judge by the ending alone, whatever could not be found.")
@flow_options
@gui_replay_options
def replay_command(
    log: Path,
    time_limit: float | None,
    exact: bool,
    accept_changes: bool,
    text: str | None,
    browser: Path | None,
    **gui: Any,
) -> int:
    """Run the program of LOG again: under its schedule, with the same user actions, or as a user flow in a browser.

    If the program was changed since, the switches are looked for by their source lines.

    Exit status, as `git bisect run` takes it: 0 the program passed, 1 it failed as recorded, 125 neither, 128 and more
    no verdict.
    """
    if looks_like_a_flow(log):
        return replay_flow(log, browser=browser, text=text, settle_s=settle_of_flow(gui["settle"]))
    if format_of(log) == SESSION_FORMAT:
        return replay_session(log, accept_changes=accept_changes, **gui)
    recorded = read_log(log)
    limit = time_limit or 10 + 20 * recorded.ending.seconds
    sys.stdout.flush()
    if exact:
        check_unchanged(recorded)
    elif changed_files(recorded.program):
        if not accept_changes:
            check_there(recorded)
        return _replay_changed(recorded, max(limit, _ANCHORED_LIMIT_S) if time_limit is None else limit, accept_changes)
    result = replay(recorded, time_limit_s=limit, show_output=True)
    if result.run.log.program.python != recorded.program.python:
        if exact:
            check_unchanged(recorded, python=result.run.log.program.python)
        say(f"recorded under Python {recorded.program.python}: replayed once more, by source lines")
        return _replay_changed(recorded, max(limit, _ANCHORED_LIMIT_S) if time_limit is None else limit, accept_changes)
    click.echo(f"outcome: {signature_of(result.run.log.ending).text}")
    if result.divergence is None:
        click.echo("digest: same")
    else:
        click.echo(f"digest: diverged, {result.divergence}")
    _tell_skipped(result.run.log)
    return _verdict(result, accept_changes)


def _replay_changed(recorded: Log, limit_s: float, accept_changes: bool) -> int:
    """Replay by anchors, and tell what moved and what could not be found."""
    result = replay_by_anchors(recorded, time_limit_s=limit_s, show_output=True)
    click.echo(f"outcome: {signature_of(result.run.log.ending).text}")
    changed = changed_files(recorded.program)
    python = result.run.log.program.python
    what = [*changed[:3], *([f"Python {python}"] if python != recorded.program.python else [])]
    click.echo(f"changed: {', '.join(what)}; of {len(result.anchors)} switches {len(result.missed)} not found")
    for anchor in [anchor for anchor in result.anchors if anchor.moved and anchor not in result.missed][:_SHOWN]:
        place = anchor.switch.place
        if place is not None:
            click.echo(f"moved: {place} in {place.function} to line {anchor.line} in {anchor.function}")
    for anchor in result.missed[:_SHOWN]:
        switch = anchor.switch
        click.echo(f"not found: thread {switch.thread} to {switch.to} {switch.where}: {anchor.why}")
    _tell_skipped(result.run.log)
    if result.missed and result.outcome is Outcome.PASS and not accept_changes:
        return EXIT_CANNOT_TELL  # it might fail with the switch that is missing
    return _EXITS[result.outcome]


def _tell_skipped(log: Log) -> None:
    for trigger in log.ending.skipped[:_SHOWN]:
        click.echo(f"skipped: thread {trigger.thread} to {trigger.to} at its time {trigger.time}: it could not run")


def _verdict(result: ReplayResult, accept_changes: bool) -> int:
    if result.divergence is not None and not accept_changes:
        return EXIT_CANNOT_TELL
    return _EXITS[result.outcome]


@click.command("show")
@click.argument("log", type=LOG)
@click.option("--ascii", "ascii_only", is_flag=True, help="Draw with ASCII characters only.")
@click.option("--json", "as_json", is_flag=True, help="Of a session with windows: answer with one JSON object.")
@click.option(
    "--thumbnails",
    metavar="DIR",
    type=FOLDER,
    help="Of a session with windows: play it, with a picture for each action.",
)
def show_command(log: Path, ascii_only: bool, as_json: bool, thumbnails: Path | None) -> None:
    """Show what LOG holds: switches as lanes, one for each thread; user actions in words; the steps of a user flow."""
    if looks_like_a_flow(log):
        show_flow(log)
        return
    if format_of(log) == SESSION_FORMAT:
        show_session(log, as_json=as_json, thumbnails=thumbnails)
        return
    recorded = read_log(log)
    for line in describe_log(recorded):
        click.echo(line)
    click.echo()
    changed = changed_files(recorded.program)
    if changed:
        say(f"source lines are left out, as the program was changed since: {', '.join(changed[:3])}")
    for line in lanes(recorded, unicode=can_draw() and not ascii_only, source=not changed):
        click.echo(line)
