"""``replay-dd record``: record the thread schedule of a program."""

from __future__ import annotations

import sys
from pathlib import Path
from shlex import quote
from typing import Any, Unpack

from replay_dd.cli.output import echo_json, echo_lines
from replay_dd.cli.progress import say
from replay_dd.cli.recorded_environment import tell_withheld
from replay_dd.cli.recorders import recorder_named
from replay_dd.cli.run_options import RunOptions, check_seed, program_of, settings_of
from replay_dd.errors.program import TimeLimitError
from replay_dd.errors.user import UsageError
from replay_dd.files import check_writable
from replay_dd.report.log import describe_log, schedule_as_json
from replay_dd.report.runs import recording_as_json
from replay_dd.schedules.log import write_log


def record_schedule(
    output: Path,
    command: tuple[str, ...],
    *,
    verify: bool,
    strategy: str | None,
    natural: bool,
    seed: int | None,
    as_json: bool,
    **running: Unpack[RunOptions],
) -> None:
    """Run a program under the deterministic scheduler and log its schedule.

    Raises:
        UsageError: the options contradict each other.
        TimeLimitError: the run was killed at the time limit; the log is written.
    """
    strategy = _strategy_of(strategy, natural, seed)
    check_writable(output)
    run = recorder_named("threads").record(
        program_of(command, running),
        settings_of(running),
        strategy=strategy,
        seed=seed or 0,
        time_limit_s=running["time_limit"],
        verify=verify,
        show_output=not as_json,
    )
    write_log(run.log, output)
    sys.stdout.flush()
    if as_json:
        echo_json(recording_as_json("schedule log", output, schedule_as_json(run.log), run.output))
        _check_ended(run, output, running["time_limit"])
        return
    _tell(run, output, running["time_limit"])


def _strategy_of(strategy: str | None, natural: bool, seed: int | None) -> str:
    if natural and strategy not in (None, "natural"):
        raise UsageError(f"`--natural` is short for `--strategy natural`; `--strategy {strategy}` contradicts it.")
    chosen = "natural" if natural else strategy or "default"
    check_seed(chosen, seed)
    return chosen


def _tell(run: Any, output: Path, time_limit: float) -> None:
    say(f"recorded in {quote(str(output))}, yield points noticed by {run.backend} ({run.backend_reason})")
    echo_lines((f"  {line}" for line in describe_log(run.log)), err=True)
    _check_ended(run, output, time_limit)
    tell_withheld(run.log.program)
    if run.log.verified is False:
        say("warning: a replay of this log diverged; `replay-dd replay` shows where")


def _check_ended(run: Any, output: Path, time_limit: float) -> None:
    if run.log.ending.timed_out:
        raise TimeLimitError(
            f"The run did not end within {time_limit:g} s; {quote(str(output))} holds it up to its last switch."
        )
