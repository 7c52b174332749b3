"""What the commands share that run any program: options, and what is read from them."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from replay_dd.cli.command import Option
from replay_dd.cli.options import time_limit_option
from replay_dd.errors.user import InputError, UsageError
from replay_dd.experiment.ending import Oracle
from replay_dd.files import read_to_end
from replay_dd.input.reduce import DEFAULT_TIME_LIMIT_S

FAILURE = "Failure"


def failure_options(
    shown_limit: str = f"{DEFAULT_TIME_LIMIT_S:g}, then 20 times the first run, and 10 s",
) -> tuple[Option, ...]:
    """``--grep``, ``--script``, ``--time-limit``: what counts as a failure.

    Args:
        shown_limit: what help says of the time limit where none is given.
    """
    return (
        Option("--grep", section=FAILURE, metavar="REGEX", help="The failure is output that REGEX matches."),
        Option(
            "--script",
            section=FAILURE,
            is_flag=True,
            help="CMD judges by its exit status: 0 good, 125 cannot tell, others below 128 bad.",
        ),
        time_limit_option(shown_limit, "Kill a run after this time, which counts as a failure.", section=FAILURE),
    )


def oracle_of(grep: str | None, script: bool, ignore: str | None = None) -> Oracle:
    """What counts as a failure.

    Raises:
        UsageError: the options contradict each other, or one is not a regular expression.
    """
    if grep is not None and script:
        raise UsageError("Either `--grep` or `--script` says what the failure is, not both.")
    if ignore is not None and script:
        raise UsageError("With `--script`, the exit status says what is no failure, not `--ignore`.")
    return Oracle(_pattern(grep), script, rejects=_pattern(ignore))


def _pattern(text: str | None) -> re.Pattern[bytes] | None:
    try:
        return None if text is None else re.compile(text.encode(), re.MULTILINE)
    except re.error as error:
        raise UsageError(f"`{text}` is not a regular expression: {error}.") from error


STANDARD_INPUT = Path("-")


def read_input(path: Path) -> bytes:
    """The content of an input; ``-`` is standard input.

    Raises:
        InputError: it cannot be read.
    """
    try:
        if path == STANDARD_INPUT:
            return sys.stdin.buffer.read()
        return read_to_end(path)
    except OSError as error:
        raise InputError(f"The input {path} cannot be read: {error.strerror}.") from error
