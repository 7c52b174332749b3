"""The options that say how a program with threads is run, for all commands that run one."""

from __future__ import annotations

from typing import TypedDict

from replay_dd.cli.program_under_test import check_script, standard_input
from replay_dd.errors.user import UsageError
from replay_dd.schedules.model import Program, Settings
from replay_dd.schedules.replaying.record import settings_for_now
from replay_dd.schedules.running.target import describe_program

_SEEDED = ("random", "pct", "bounded")


class RunOptions(TypedDict):
    """The values of :func:`~replay_dd.cli.options.run_options`, under the names that click gives them."""

    granularity: str
    trace_include: tuple[str, ...]
    trace_exclude: tuple[str, ...]
    preload: tuple[str, ...]
    real_clock: bool
    real_entropy: bool
    untested: bool
    max_delay: float
    time_limit: float
    fresh_copy: bool
    stdin: str | None
    process: str


def program_of(command: tuple[str, ...], options: RunOptions, *, is_here: bool = True) -> Program:
    """The program to run.

    Args:
        command: what the user typed after the ``--``.
        options: how it is run.
        is_here: whether its script must exist in the working directory.

    Raises:
        UsageError: the file for standard input cannot be read.
        ProgramNotFoundError: the script does not exist.
    """
    if is_here:
        check_script(command)
    return describe_program(
        command,
        standard_input=standard_input(options["stdin"]),
        fresh_copy=options["fresh_copy"],
        process=options["process"],
    )


def settings_of(options: RunOptions) -> Settings:
    """What holds in each run, from now on."""
    return settings_for_now(
        *(options["granularity"], options["trace_include"], options["trace_exclude"]),
        real_clock=options["real_clock"],
        real_entropy=options["real_entropy"],
        preload=options["preload"],
        untested=options["untested"],
        max_delay_s=options["max_delay"],
    )


def check_seed(strategy: str | None, seed: int | None) -> None:
    """Refuse a seed that has no effect.

    Args:
        strategy: what chooses schedules; None for a mixture, which draws some.
        seed: what was asked for; None for nothing.

    Raises:
        UsageError: the strategy draws nothing.
    """
    if seed is not None and strategy is not None and strategy not in _SEEDED:
        raise UsageError(
            f"The strategy {strategy} makes no random choices, so `--seed` has no effect.",
            f"Leave it out, or choose one of {', '.join(_SEEDED)} with `--strategy`.",
        )
