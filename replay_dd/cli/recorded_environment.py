"""The variables of a recorded program, and what the user is told about them."""

from __future__ import annotations

from dataclasses import replace

from replay_dd.cli.progress import say
from replay_dd.schedules.model import Log, Program
from replay_dd.schedules.running.environment import changed, differences, lower_limits


def with_environment(log: Log, wanted: tuple[str, ...]) -> Log:
    """A log whose program gets the variables that the user wants; says what differs from the recording.

    Args:
        log: the log.
        wanted: the values of ``--env``.

    Raises:
        UsageError: one names no variable.
    """
    program, differing = changed(log.program, wanted)
    for line in differences(differing, log.program):
        say(f"environment: {line}")
    for line in lower_limits(log.program):
        say(f"limit: {line}")
    return replace(log, program=program)


def tell_withheld(program: Program) -> None:
    """Say which variables the log of a program does not keep."""
    if program.withheld:
        say(f"the log does not keep the values of {', '.join(program.withheld)}: they look like secrets")
