"""``replay-dd record``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from replay_dd.cli.errors import UsageError
from replay_dd.cli.gui_record import gui_record_options, record_gui
from replay_dd.cli.options import LOG, counting_options, program_of, program_options, time_limit_option, untested_option
from replay_dd.cli.progress import say
from replay_dd.cli.recorders import recorder_named
from replay_dd.report.log import describe_log
from replay_dd.schedules.errors import TimeLimitError
from replay_dd.schedules.log import check_place, write_log
from replay_dd.schedules.record import STRATEGIES, settings_for_now


@click.command("record")
@click.option("-o", "--output", metavar="LOG", type=LOG, required=True, help="Where to write the log.")
@click.option(
    "--strategy", type=click.Choice(STRATEGIES), default="default", show_default=True, help="Who decides on switches."
)
@click.option("--natural", "strategy", flag_value="natural", help="Let real time decide, as it does without replay-dd.")
@click.option("--seed", metavar="N", type=int, default=0, show_default=True, help="Of the strategy's random choices.")
@counting_options
@untested_option
@time_limit_option()
@click.option("--no-verify", is_flag=True, help="Do not replay the log once to check it.")
@gui_record_options
@program_options
def record_command(
    output: Path,
    gui: bool,
    display: str | None,
    no_text: bool,
    screen: str,
    wm: str | None,
    strategy: str,
    seed: int,
    granularity: str,
    trace_include: tuple[str, ...],
    trace_exclude: tuple[str, ...],
    preload: tuple[str, ...],
    real_clock: bool,
    real_entropy: bool,
    untested: bool,
    time_limit: float,
    no_verify: bool,
    fresh_copy: bool,
    stdin: str | None,
    command: tuple[str, ...],
) -> None:
    """Run a program under the deterministic scheduler and log its schedule; with --gui, log what is done to it."""
    if gui:
        record_gui(output, command, display, no_text=no_text, screen=screen, wm=wm, verify=not no_verify)
        return
    if display is not None or no_text or wm is not None:
        raise UsageError("The options --display, --no-text and --wm are for sessions with windows.", "Add `--gui`.")
    check_place(output)
    run = recorder_named("threads").record(
        program_of(command, stdin, fresh_copy),
        settings_for_now(
            *(granularity, trace_include, trace_exclude),
            real_clock=real_clock,
            real_entropy=real_entropy,
            preload=preload,
            untested=untested,
        ),
        strategy=strategy,
        seed=seed,
        time_limit_s=time_limit,
        verify=not no_verify,
    )
    write_log(run.log, output)
    sys.stdout.flush()
    say(f"recorded in {output}, yield points noticed by {run.backend} ({run.backend_reason})")
    for line in describe_log(run.log):
        click.echo(f"  {line}", err=True)
    if run.log.ending.timed_out:
        raise TimeLimitError(f"The run did not end within {time_limit:g} s; {output} holds it up to its last switch.")
    if run.log.verified is False:
        say("warning: a replay of this log took another way; `replay-dd replay` tells where")
