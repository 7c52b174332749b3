"""``replay-dd hunt``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from replay_dd.cli.options import (
    FOLDER,
    counting_options,
    fork_option,
    jobs_option,
    program_of,
    program_options,
    time_limit_option,
    untested_option,
)
from replay_dd.cli.progress import Progress, say
from replay_dd.errors import EXIT_BASELINE, EXIT_INTERRUPTED
from replay_dd.report.log import describe_notes
from replay_dd.schedules.hunt import Hunt, hunt
from replay_dd.schedules.log import check_place, write_log
from replay_dd.schedules.record import STRATEGIES, settings_for_now
from replay_dd.schedules.signature import Signature
from replay_dd.schedules.target import Plan

EXIT_NO_FAILURE = 1
_SHOWN = 5  # other failures


@click.command("hunt")
@click.option(
    "-o", "--output", metavar="DIR", type=FOLDER, default=".", help="Where to write pass.log and fail.log. [default: .]"
)
@click.option("--runs", metavar="N", type=click.IntRange(min=1), default=1000, show_default=True, help="Runs at most.")
@click.option("--seed", metavar="N", type=int, default=0, show_default=True, help="The first seed.")
@click.option("--strategy", type=click.Choice(STRATEGIES), help="Who decides. [default: a mixture]")
@jobs_option
@fork_option
@counting_options
@untested_option
@time_limit_option()
@click.option("--failure", metavar="TEXT", default="", help="Look for a failure whose line here contains TEXT.")
@click.option("--no-simplify", is_flag=True, help="Keep the schedules as they were found.")
@program_options
def hunt_command(
    output: Path,
    runs: int,
    seed: int,
    strategy: str | None,
    jobs: int,
    no_fork: bool,
    granularity: str,
    trace_include: tuple[str, ...],
    trace_exclude: tuple[str, ...],
    preload: tuple[str, ...],
    real_clock: bool,
    real_entropy: bool,
    untested: bool,
    time_limit: float,
    failure: str,
    no_simplify: bool,
    fresh_copy: bool,
    stdin: str | None,
    command: tuple[str, ...],
) -> int:
    """Vary the schedule until one run fails and one passes; write both logs.

    Exit status: 0 both found, 1 no failure, 3 no pass.
    """
    progress = Progress()

    def on_run(number: int, plan: Plan, signature: Signature) -> None:
        progress.show(f"run {number} of at most {runs}, {plan}: {signature.text}")

    def on_simplify(number: int) -> None:
        progress.show(f"simplifying what was found, run {number}")

    check_place(output / "fail.log")
    try:
        found = hunt(
            program_of(command, stdin, fresh_copy),
            settings_for_now(
                *(granularity, trace_include, trace_exclude),
                real_clock=real_clock,
                real_entropy=real_entropy,
                preload=preload,
                untested=untested,
            ),
            runs=runs,
            seed=seed,
            strategy=strategy,
            jobs=jobs,
            time_limit_s=time_limit,
            simplify=not no_simplify,
            may_fork=not no_fork,
            failure=failure,
            on_run=on_run,
            on_simplify=on_simplify,
        )
    finally:
        progress.clear()
    if found.jobs < jobs:
        say(
            "one run at a time, as the program writes files in its working directory; "
            "`--fresh-copy` gives each run its own"
        )
    for log, name in ((found.passing, "pass.log"), (found.failing, "fail.log")):
        if log is not None:
            write_log(log, output / name)
    return _tell(found, output, failure)


def _tell(found: Hunt, output: Path, failure: str) -> int:
    covered = f"{found.runs} runs of about {found.yield_points:,} yield points"
    for label, endings in (
        ("failure", found.failures),
        ("passed over", found.passed_over),
        ("no verdict", found.others),
    ):
        for met in endings:
            messages = f", {met.messages} messages" if met.messages > 1 else ""
            click.echo(f"{label:<12} {met.text} ({met.runs} of {found.runs} runs{messages})")
    if found.not_reproduced:
        say(f"runs passed over, as their replay took another way or ended otherwise: {found.not_reproduced}")
    if found.passing is not None:
        click.echo(f"passes       replay-dd replay {output / 'pass.log'}")
    if found.failing is not None:
        click.echo(f"fails        replay-dd replay {output / 'fail.log'}")
    for line in describe_notes(found.passing, found.failing):
        click.echo(line)
    if found.interrupted:
        say(f"interrupted after {covered}")
        return EXIT_INTERRUPTED
    if found.one_schedule:
        said = found.output.decode(errors="replace").strip().splitlines()
        if (found.failing is not None or found.passed_over) and said:
            click.echo(f"it wrote     {said[-1]}")
        click.echo("The program started no thread, so it has only one schedule: there is nothing to vary.")
        return EXIT_NO_FAILURE if found.failing is None else EXIT_BASELINE
    if found.failing is None:
        which = f"failure with `{failure}`" if failure else "failure"
        click.echo(f"No {which} in {covered}. That is no proof: other schedules were not tried.")
        for hint in _hints(found):
            click.echo(f"  hint: {hint}")
        return EXIT_NO_FAILURE
    if found.passing is None:
        click.echo(f"No run passed in {covered}, so there is nothing to compare the failure with.")
        return EXIT_BASELINE
    more = f", and {found.simplifying_runs} more to simplify them" if found.simplifying_runs else ""
    next_command = f"replay-dd schedules {output / 'pass.log'} {output / 'fail.log'}"
    click.echo(f"Both found in {covered}{more}. Next: {next_command}")
    return 0


def _hints(found: Hunt) -> Iterator[str]:
    """What to try after a hunt without a failure."""
    if found.passed_over:
        texts = [met.text for met in found.passed_over]
        more = f"; and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
        yield f"other failures: {'; '.join(texts[:_SHOWN])}{more}. `--failure` takes a part of one, as written here."
    elif found.threads_meet is False:
        yield (
            "as far as the first run shows, no thread changes in counted code what another one touches. If they meet "
            "in the standard library, count that package, too: `--trace-include PACKAGE`."
        )
