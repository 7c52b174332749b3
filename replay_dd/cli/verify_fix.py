"""``replay-dd verify-fix`` of a schedule log."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from replay_dd.cli.exit_status import EXIT_CANNOT_TELL
from replay_dd.cli.output import echo_json, echo_lines
from replay_dd.cli.program_under_test import check_script
from replay_dd.cli.progress import Progress, say
from replay_dd.cli.recorded_environment import with_environment
from replay_dd.errors import EXIT_INTERRUPTED
from replay_dd.files import check_writable
from replay_dd.report.verification import verification_as_json, verification_in_words
from replay_dd.schedules.experiments.verify import CANNOT_TELL, REPAIRED, Verification, verify_repair
from replay_dd.schedules.failures.signature import check_failed
from replay_dd.schedules.log import write_log
from replay_dd.schedules.model import Log
from replay_dd.schedules.replaying.record import DEFAULT_TIME_LIMIT_S, verify_log


def verify_fix_of(
    recorded: Log,
    path: Path,
    *,
    command: tuple[str, ...],
    runs: int,
    seed: int | None,
    jobs: int,
    no_fork: bool,
    output: Path | None,
    as_json: bool,
    time_limit: float | None,
    env: tuple[str, ...],
    max_delay: float | None,
) -> int:
    """Try whether the program of a log still fails; returns the exit status as ``git bisect run`` takes it.

    Raises:
        ReplayDDError: the recorded run did not fail, or the program cannot be run.
    """
    check_failed(recorded, path)
    recorded = with_environment(recorded, env)
    if max_delay is not None:
        recorded = replace(recorded, settings=replace(recorded.settings, max_delay_ns=round(max_delay * 1e9)))
    if command:
        check_script(command)
        recorded = replace(recorded, program=replace(recorded.program, command=command))
    target = output or path.with_name("still-fails.log")
    check_writable(target)
    progress = Progress()
    try:
        made = verify_repair(
            recorded,
            runs=runs,
            seed=seed or 0,
            jobs=jobs,
            may_fork=not no_fork,
            time_limit_s=time_limit,
            on_run=progress.show,
        )
    finally:
        progress.clear()
    if made.failing is not None:
        try:
            made.failing = verify_log(made.failing, time_limit or DEFAULT_TIME_LIMIT_S)
        except KeyboardInterrupt:  # the verdict stands; the log is not verified
            made.interrupted = True
        write_log(made.failing, target)
    if not made.changed and not command:
        say("no source file of the program has changed since the log was recorded")
    if as_json:
        echo_json(verification_as_json(made, target))
    else:
        echo_lines(verification_in_words(made, target))
    return _status(made)


def _status(made: Verification) -> int:
    if made.interrupted:
        return EXIT_INTERRUPTED
    if made.verdict == CANNOT_TELL:
        return EXIT_CANNOT_TELL
    return 0 if made.verdict == REPAIRED else 1
