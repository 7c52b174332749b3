"""``replay-dd schedules`` and ``replay-dd minimize`` of schedule logs."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import click

from replay_dd.cli.progress import Progress, can_draw, say
from replay_dd.dd import Step
from replay_dd.errors import EXIT_FLAKY, EXIT_INTERRUPTED
from replay_dd.errors.program import DoesNotFailError
from replay_dd.report.counts import why_unresolved
from replay_dd.report.isolation import isolation_as_json, isolation_as_text
from replay_dd.report.lanes import lanes
from replay_dd.report.log import describe_log
from replay_dd.schedules.isolate import isolate
from replay_dd.schedules.log import check_place, write_log
from replay_dd.schedules.minimize import minimize
from replay_dd.schedules.model import Log
from replay_dd.schedules.replay import check_unchanged
from replay_dd.schedules.signature import Signature, signature_of
from replay_dd.schedules.target import usable_jobs


def isolate_schedule(
    passing: Log,
    failing: Log,
    failing_path: Path,
    *,
    jobs: int,
    no_fork: bool,
    output: Path | None,
    as_json: bool,
    time_limit: float | None,
    max_tests: int | None,
    accept_changes: bool,
    repeats: int,
) -> int:
    """Isolate the difference of two schedules that makes a run fail; returns the exit status.

    Raises:
        ReplayDDError: the logs do not fit together, or do not replay.
    """
    folder = output or failing_path.parent
    minimal_pass, minimal_fail = folder / "minimal-pass.log", folder / "minimal-fail.log"
    check_place(minimal_fail)
    jobs = _jobs(failing, jobs)
    progress = Progress()
    try:
        isolation = isolate(
            passing,
            failing,
            jobs=jobs,
            time_limit_s=time_limit,
            accept_changes=accept_changes,
            max_tests=max_tests,
            may_fork=not no_fork,
            repeats=repeats,
            on_test=lambda step, ending: progress.show(_told(step, ending, "unit deltas")),
        )
    finally:
        progress.clear()
    write_log(isolation.passing, minimal_pass)
    write_log(isolation.failing, minimal_fail)
    if as_json:
        click.echo(json.dumps(isolation_as_json(isolation, minimal_pass, minimal_fail), indent=2))
    else:
        for line in isolation_as_text(isolation, minimal_pass, minimal_fail):
            click.echo(line)
    if isolation.interrupted:
        return EXIT_INTERRUPTED
    return 0 if isolation.verified or not isolation.complete else EXIT_FLAKY


def _told(step: Step, ending: Signature, deltas: str) -> str:
    left = f"{step.deltas_left:,} {deltas} left"
    if step.outcome.resolved:
        return f"test {step.number}: {step.outcome.value}, {left}"
    return f"test {step.number}: unresolved, {left}; {why_unresolved(ending)}"


def _jobs(log: Log, jobs: int) -> int:
    usable = usable_jobs(log, jobs)
    if usable < jobs:
        say(
            "running one at a time, because the program writes files in its working directory "
            "(to avoid that, record with `--fresh-copy`)"
        )
    return usable


def minimize_schedule(
    recorded: Log, path: Path, *, jobs: int, output: Path | None, time_limit: float | None, accept_changes: bool
) -> int:
    """Find the fewest choices with which a run still fails; returns the exit status.

    Raises:
        ReplayDDError: the run did not fail, or does not replay.
    """
    if not signature_of(recorded.ending).failed:
        raise DoesNotFailError(f"The run of {path} did not fail: {signature_of(recorded.ending).text}.")
    target = output or path.with_name("minimal.log")
    check_place(target)
    if not accept_changes:
        check_unchanged(recorded)
    progress = Progress()
    try:
        found = minimize(
            recorded,
            jobs=_jobs(recorded, jobs),
            time_limit_s=time_limit,
            on_test=lambda step, ending: progress.show(_told(step, ending, "choices")),
        )
    finally:
        progress.clear()
    write_log(found.log, target)
    left = len(found.log.triggers)
    click.echo(f"{_needed(left, found.triggers_before)} for the failure; {found.tests} tests.")
    if not left:
        click.echo("The default schedule fails by itself.")
    for line in describe_log(found.log):
        click.echo(line)
    click.echo()
    for line in lanes(found.log, unicode=can_draw()):
        click.echo(line)
    click.echo(f"fails        replay-dd replay {shlex.quote(str(target))}")
    return EXIT_INTERRUPTED if not found.complete else 0


def _needed(left: int, before: int) -> str:
    if left == before == 1:
        return "The only choice of this schedule is needed"
    return f"{left} of {before} choice{'' if before == 1 else 's'} {'is' if left == 1 else 'are'} needed"
