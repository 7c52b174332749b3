"""What can be wrong with the runs and logs that a user gives."""

from __future__ import annotations

from typing import ClassVar

from replay_dd.errors import EXIT_BASELINE, EXIT_FLAKY, EXIT_USAGE, ReplayDDError


class ProgramChangedError(ReplayDDError):
    """The program is not the one that was recorded."""

    slug = "program-changed"
    exit_code: ClassVar[int] = EXIT_USAGE
    default_hint = "Record again, or accept the log all the same with `--accept-changes`."


class TwoProgramsError(ReplayDDError):
    """The two logs are of different programs."""

    slug = "two-programs"
    exit_code: ClassVar[int] = EXIT_USAGE
    default_hint = (
        "Record both logs with the same command, settings and interpreter; `replay-dd hunt` writes such a pair."
    )


class LogsSwappedError(ReplayDDError):
    """The passing log failed and the failing one passed."""

    slug = "logs-swapped"
    exit_code: ClassVar[int] = EXIT_BASELINE
    default_hint = "Give the passing log first: `replay-dd schedules PASS FAIL`."


class LogDoesNotPassError(ReplayDDError):
    """The log that should pass does not."""

    slug = "log-does-not-pass"
    exit_code: ClassVar[int] = EXIT_BASELINE
    default_hint = "Give the log of a run that passed; `replay-dd hunt` writes one."


class LogDoesNotFailError(ReplayDDError):
    """The log that should fail does not."""

    slug = "log-does-not-fail"
    exit_code: ClassVar[int] = EXIT_BASELINE
    default_hint = "Give the log of a run that failed; `replay-dd hunt` looks for one."


class SameScheduleError(ReplayDDError):
    """Both logs have the same schedule."""

    slug = "same-schedule"
    exit_code: ClassVar[int] = EXIT_BASELINE
    default_hint = (
        "Their outcomes differ for another reason than the schedule. Look for time, randomness or outside input "
        "that differs between the runs."
    )


class NotReproducedError(ReplayDDError):
    """A replay did not do what the log says."""

    slug = "not-reproduced"
    exit_code: ClassVar[int] = EXIT_FLAKY
    default_hint = (
        "Something besides the schedule decides: outside input, files left by other runs (try `--fresh-copy`), "
        "real time, or the order of addresses."
    )


class TimeLimitError(ReplayDDError):
    """The run was still going on at the time limit."""

    slug = "time-limit"
    exit_code: ClassVar[int] = EXIT_BASELINE
    default_hint = "Give more time with `--time-limit SECONDS`, or look with `replay-dd show` where the threads were."
