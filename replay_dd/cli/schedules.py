"""``replay-dd schedules`` and ``replay-dd minimize``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from replay_dd.cli.options import FOLDER, LOG, fork_option, jobs_option, time_limit_option
from replay_dd.cli.progress import Progress, can_draw, say
from replay_dd.errors.program import DoesNotFailError
from replay_dd.files import check_writable
from replay_dd.report.lanes import lanes
from replay_dd.report.schedules import minimum_as_json, minimum_as_text, schedules_as_json, schedules_as_text
from replay_dd.schedules.isolate import isolate
from replay_dd.schedules.log import read_log, write_log
from replay_dd.schedules.minimize import minimize
from replay_dd.schedules.model import Log
from replay_dd.schedules.replay import check_unchanged
from replay_dd.schedules.signature import signature_of
from replay_dd.schedules.target import usable_jobs


@click.command("schedules")
@click.argument("passing", type=LOG, metavar="PASS")
@click.argument("failing", type=LOG, metavar="FAIL")
@jobs_option
@fork_option
@click.option(
    "-o", "--output", metavar="DIR", type=FOLDER, help="Where to write the minimal logs. [default: where FAIL is]"
)
@click.option("--json", "as_json", is_flag=True, help="Answer with one JSON object.")
@time_limit_option(None)
@click.option("--max-tests", metavar="N", type=click.IntRange(min=1), help="Stop after N tests with the best so far.")
@click.option("--accept-changes", is_flag=True, help="Go on although the program was changed since.")
@click.option(
    "--repeats",
    metavar="N",
    type=click.IntRange(min=1),
    default=1,
    help="Go on although the program is not deterministic: run each schedule N times.",
)
def schedules_command(
    passing: Path,
    failing: Path,
    jobs: int,
    no_fork: bool,
    output: Path | None,
    as_json: bool,
    time_limit: float | None,
    max_tests: int | None,
    accept_changes: bool,
    repeats: int,
) -> int:
    """Isolate the minimal failure-inducing difference of two schedules.

    PASS is the log of a run that passed, FAIL of one that failed. Exit status: 0 isolated, 4 not reproducible.
    """
    passing_log, failing_log = read_log(passing), read_log(failing)
    folder = output or failing.parent
    minimal_pass, minimal_fail = folder / "minimal-pass.log", folder / "minimal-fail.log"
    check_writable(minimal_fail)
    jobs = _jobs(failing_log, jobs)
    progress = Progress()
    try:
        found = isolate(
            passing_log,
            failing_log,
            jobs=jobs,
            time_limit_s=time_limit,
            accept_changes=accept_changes,
            max_tests=max_tests,
            may_fork=not no_fork,
            repeats=repeats,
            observer=progress.observer("unit delta"),
        )
    finally:
        progress.clear()
    write_log(found.passing, minimal_pass)
    write_log(found.failing, minimal_fail)
    if as_json:
        click.echo(json.dumps(schedules_as_json(found, minimal_pass, minimal_fail), indent=2))
    else:
        for line in schedules_as_text(found, minimal_pass, minimal_fail):
            click.echo(line)
    return found.isolation.exit_code


def _jobs(log: Log, jobs: int) -> int:
    usable = usable_jobs(log, jobs)
    if usable < jobs:
        say("one run at a time: the program writes files in its working directory (record with `--fresh-copy`)")
    return usable


@click.command("minimize")
@click.argument("log", type=LOG)
@jobs_option
@click.option("-o", "--output", metavar="LOG", type=LOG, help="Where to write it. [default: minimal.log beside LOG]")
@time_limit_option(None)
@click.option("--accept-changes", is_flag=True, help="Go on although the program was changed since.")
@click.option("--json", "as_json", is_flag=True, help="Answer with one JSON object.")
def minimize_command(
    log: Path, jobs: int, output: Path | None, time_limit: float | None, accept_changes: bool, as_json: bool
) -> int:
    """Find the fewest switches with which the run of LOG still fails (ddmin against the default schedule)."""
    recorded = read_log(log)
    if not signature_of(recorded.ending).failed:
        raise DoesNotFailError(f"The run of {log} did not fail: {signature_of(recorded.ending).text}.")
    target = output or log.with_name("minimal.log")
    check_writable(target)
    if not accept_changes:
        check_unchanged(recorded)
    progress = Progress()
    try:
        found = minimize(
            recorded,
            jobs=_jobs(recorded, jobs),
            time_limit_s=time_limit,
            observer=progress.observer("choice"),
        )
    finally:
        progress.clear()
    write_log(found.log, target)
    if as_json:
        click.echo(json.dumps(minimum_as_json(found, target), indent=2))
        return found.isolation.exit_code
    for line in minimum_as_text(found, target):
        click.echo(line)
    click.echo()
    for line in lanes(found.log, unicode=can_draw()):
        click.echo(line)
    return found.isolation.exit_code
