"""``replay-dd replay`` and ``replay-dd show``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from replay_dd.cli.errors import EXIT_CANNOT_TELL
from replay_dd.cli.options import LOG, time_limit_option
from replay_dd.cli.progress import say
from replay_dd.cli.web import flow_options, replay_flow, show_flow
from replay_dd.outcome import Outcome
from replay_dd.report.isolation import describe_log
from replay_dd.report.lanes import lanes
from replay_dd.schedules.log import read_log
from replay_dd.schedules.replay import ReplayResult, check_unchanged, replay
from replay_dd.schedules.signature import signature_of
from replay_dd.schedules.target import changed_files
from replay_dd.web.flow import looks_like_a_flow


@click.command("replay")
@click.argument("log", type=LOG)
@time_limit_option(None)
@click.option("--accept-changes", is_flag=True, help="Judge by the ending, although the program was changed since.")
@flow_options
def replay_command(
    log: Path, time_limit: float | None, accept_changes: bool, text: str | None, browser: Path | None
) -> int:
    """Run the program of LOG again under its schedule, or play the user flow LOG in a browser.

    Exit status, as `git bisect run` takes it: 0 the program passed, 1 it failed as recorded, 125 neither, 128 and more
    no verdict.
    """
    if looks_like_a_flow(log):
        return replay_flow(log, browser=browser, text=text)
    recorded = read_log(log)
    if not accept_changes:
        check_unchanged(recorded)
    limit = time_limit or 10 + 20 * recorded.ending.seconds
    sys.stdout.flush()
    result = replay(recorded, time_limit_s=limit, show_output=True)
    if not accept_changes:
        check_unchanged(recorded, python=result.run.log.program.python)
    click.echo(f"outcome: {signature_of(result.run.log.ending).text}")
    if result.divergence is None:
        click.echo("digest: same")
    else:
        click.echo(f"digest: diverged, {result.divergence}")
    for trigger in result.run.log.ending.skipped[:5]:
        click.echo(f"skipped: thread {trigger.thread} to {trigger.to} at its time {trigger.time}: it could not run")
    return _verdict(result, accept_changes)


def _verdict(result: ReplayResult, accept_changes: bool) -> int:
    if result.divergence is not None and not accept_changes:
        return EXIT_CANNOT_TELL
    return {Outcome.PASS: 0, Outcome.FAIL: 1, Outcome.UNRESOLVED: EXIT_CANNOT_TELL}[result.outcome]


@click.command("show")
@click.argument("log", type=LOG)
@click.option("--ascii", "ascii_only", is_flag=True, help="Draw with ASCII characters only.")
def show_command(log: Path, ascii_only: bool) -> None:
    """Show what LOG holds: switches as lanes, one for each thread, with source lines; or the steps of a user flow."""
    if looks_like_a_flow(log):
        show_flow(log)
        return
    recorded = read_log(log)
    for line in describe_log(recorded):
        click.echo(line)
    click.echo()
    can_draw = "utf" in (sys.stdout.encoding or "").lower()
    changed = changed_files(recorded.program)
    if changed:
        say(f"source lines are left out, as the program was changed since: {', '.join(changed[:3])}")
    for line in lanes(recorded, unicode=can_draw and not ascii_only, source=not changed):
        click.echo(line)
