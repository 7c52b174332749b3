"""Options that several commands share, and what they turn into."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from replay_dd.cli.errors import UsageError
from replay_dd.schedules.model import Program
from replay_dd.schedules.record import DEFAULT_TIME_LIMIT_S, GRANULARITIES
from replay_dd.schedules.target import describe_program

Command = TypeVar("Command", bound=Callable[..., Any])

LOG = click.Path(path_type=Path, dir_okay=False)
FOLDER = click.Path(path_type=Path, file_okay=False)


def counting_options(command: Command) -> Command:
    """``--granularity``, ``--trace-include``, ``--trace-exclude``, ``--preload``, and what is left real."""
    for option in (
        click.option(
            "--preload",
            metavar="MODULE",
            multiple=True,
            help="Import this installed module before the program's own code, so that forked runs need not.",
        ),
        click.option("--real-entropy", is_flag=True, help="Leave the system's entropy real."),
        click.option("--real-clock", is_flag=True, help="Leave the clocks real, and let sleeps take their time."),
        click.option("--trace-exclude", metavar="PKG", multiple=True, help="Do not count this package."),
        click.option(
            "--trace-include",
            metavar="PKG",
            multiple=True,
            help="Count this package too, although it is of the standard library or a test runner.",
        ),
        click.option(
            "--granularity",
            type=click.Choice(GRANULARITIES),
            default="access",
            show_default=True,
            help="Where threads may be switched.",
        ),
    ):
        command = option(command)
    return command


def untested_option(command: Command) -> Command:
    """``--untested``."""
    return click.option(
        "--untested",
        is_flag=True,
        help="Go on with a version of Python that replay-dd was not tested with; the log notes it.",
    )(command)


def program_options(command: Command) -> Command:
    """``--fresh-copy``, ``--stdin`` and the command after the ``--``."""
    for option in (
        click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- CMD..."),
        click.option("--stdin", metavar="FILE", help="What the program can read; `-` for our own standard input."),
        click.option("--fresh-copy", is_flag=True, help="Run in a fresh copy of the working directory each time."),
    ):
        command = option(command)
    return command


def time_limit_option(default: float | None = DEFAULT_TIME_LIMIT_S) -> Callable[[Command], Command]:
    """``--time-limit`` in seconds for each run."""
    return click.option(
        "--time-limit",
        metavar="S",
        type=click.FloatRange(min=0, min_open=True),
        default=default,
        show_default=default is not None,
        help="Seconds after which a run is killed." + ("" if default else " [default: from the recorded runs]"),
    )


def jobs_option(command: Command) -> Command:
    """``--jobs``, by default all processors this process may use."""
    return _jobs(_processors, "Runs at the same time. [default: one for each processor]")(command)


def displays_option(command: Command) -> Command:
    """``--jobs`` for sessions with windows: X server, window manager, program and player keep two processors busy."""
    help_text = "Displays at the same time. [default: one for two processors]"
    return _jobs(lambda: max(1, _processors() // 2), help_text)(command)


def _jobs(default: Callable[[], int], help_text: str) -> Callable[[Command], Command]:
    return click.option("--jobs", metavar="N", type=click.IntRange(min=1), default=default, help=help_text)


def fork_option(command: Command) -> Command:
    """``--no-fork``."""
    return click.option(
        "--no-fork",
        is_flag=True,
        help="Start a new process for each run, instead of forking the program where it starts its first thread.",
    )(command)


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def program_of(command: tuple[str, ...], stdin: str | None, fresh_copy: bool) -> Program:
    """The program to run.

    Raises:
        UsageError: the file for standard input cannot be read.
    """
    return describe_program(command, standard_input=_standard_input(stdin), fresh_copy=fresh_copy)


def _standard_input(source: str | None) -> bytes:
    try:
        if source == "-":
            return sys.stdin.buffer.read()
        if source is not None:
            return Path(source).read_bytes()
        # `< FILE` is meant for the program. A pipe is read only on request: it may never end.
        if sys.stdin is not None and stat.S_ISREG(os.fstat(sys.stdin.fileno()).st_mode):
            return sys.stdin.buffer.read()
    except (OSError, ValueError) as error:
        if source is not None:
            raise UsageError(f"The standard input {source} cannot be read: {error}.") from error
    return b""
