"""``replay-dd input``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import click

from replay_dd.cli.command import OneOf, Option, command
from replay_dd.cli.options import LOG, OUTPUT, PROGRAM, SEARCH, budget_options, json_option, processors
from replay_dd.cli.output import echo_json, echo_lines
from replay_dd.cli.program_under_test import check_script
from replay_dd.cli.progress import Progress
from replay_dd.errors.user import InputError, UsageError
from replay_dd.files import check_writable, write_whole
from replay_dd.input.ending import Oracle
from replay_dd.input.levels import NAMES, Tree, levels_named
from replay_dd.input.reduce import ALGORITHMS, DEFAULT_TIME_LIMIT_S, InputIsolation, reduce_input
from replay_dd.input.target import Target, check_command
from replay_dd.input.units import Level, delimited
from replay_dd.report.input import input_as_json, input_as_text

FAILURE = "Failure"
UNITS = "Units"


def _algorithms() -> Sequence[str]:
    return ALGORITHMS


@command(
    "input",
    click.Argument(["file"], type=LOG, metavar="FILE"),
    Option(
        "-o",
        "--output",
        section=OUTPUT,
        metavar="RESULT",
        type=LOG,
        shown_default="next to FILE",
        help="Where to write the reduced input.",
    ),
    json_option(),
    Option(
        "--units",
        section=UNITS,
        metavar="UNITS",
        shown_default="brackets,characters",
        help=f"What is left out as a whole, coarse units first: {', '.join(NAMES)}.",
    ),
    Option("--delimiter", section=UNITS, metavar="REGEX", help="Leave out parts that end where REGEX matches."),
    Option("--language", section=UNITS, metavar="NAME", help="The language of FILE, if its name does not tell."),
    Option(
        "--passing",
        section=SEARCH,
        metavar="FILE",
        type=LOG,
        help="Isolate the difference to this input, which passes, instead of simplifying.",
    ),
    Option("--isolate", section=SEARCH, is_flag=True, help="Isolate the difference to the empty input."),
    Option("--grep", section=FAILURE, metavar="REGEX", help="The failure is output that REGEX matches."),
    Option(
        "--script",
        section=FAILURE,
        is_flag=True,
        help="CMD judges by its exit status: 0 good, 125 cannot tell, others below 128 bad.",
    ),
    Option(
        "--time-limit",
        section=FAILURE,
        metavar="SECONDS",
        type=click.FloatRange(min=0, min_open=True),
        shown_default=f"{DEFAULT_TIME_LIMIT_S:g}, then 20 times the first run, and 10 s",
        help="Kill a run after this time, which counts as a failure.",
    ),
    Option(
        "--algorithm",
        section=SEARCH,
        type=OneOf(_algorithms),
        shown_default=ALGORITHMS[0],
        help="How to simplify.",
    ),
    Option(
        "--jobs",
        section=SEARCH,
        metavar="N",
        type=click.IntRange(min=1),
        default=processors,
        shown_default="one per processor",
        help="Number of runs at the same time.",
    ),
    *budget_options(),
    Option("--fresh-copy", section=PROGRAM, is_flag=True, help="Run in a fresh copy of the working directory."),
    click.Argument(["command"], nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- CMD {}"),
)
def input_command(
    file: Path,
    output: Path | None,
    as_json: bool,
    units: str | None,
    delimiter: str | None,
    language: str | None,
    passing: Path | None,
    isolate: bool,
    grep: str | None,
    script: bool,
    time_limit: float | None,
    algorithm: str | None,
    jobs: int,
    max_tests: int | None,
    time_budget: float | None,
    fresh_copy: bool,
    command: tuple[str, ...],
) -> int:
    """Reduce FILE to the parts that make a program fail.

    CMD is run on parts of FILE; {} in it stands for their path. Without {}, CMD reads them from its standard input.

    Exit status:
      0  reduced
      3  the program does not fail on FILE, or fails without it
      4  the failure or the answer is not reproducible
    """
    content = _read(file)
    base = _read(passing) if passing is not None else b"" if isolate else None
    oracle = Oracle(_pattern(grep), script)
    levels = _levels(file, units, delimiter, language)
    if base is not None and algorithm is not None:
        raise UsageError("`--algorithm` is for simplifying: a difference is isolated by dd.")
    if grep is not None and script:
        raise UsageError("Either `--grep` or `--script` says what the failure is, not both.")
    check_script(command)
    check_command(command, file)
    paths = _paths(file, output, isolate=base is not None)
    for path in paths.values():
        if any(path.exists() and path.samefile(source) for source in (file, passing) if source is not None):
            raise UsageError(f"The result would overwrite {path}.", "Name another file with `-o`.")
        check_writable(path)
    progress = Progress()
    try:
        found = reduce_input(
            content,
            Target(command, file.name, fresh_copy=fresh_copy, time_limit_s=time_limit),
            oracle=oracle,
            levels=levels,
            passing=base,
            algorithm=algorithm or ALGORITHMS[0],
            jobs=jobs,
            max_tests=max_tests,
            time_budget_s=time_budget,
            observer=progress.observer("unit"),
        )
    finally:
        progress.clear()
    _write(found, paths)
    if as_json:
        echo_json(input_as_json(found, paths))
    else:
        echo_lines(input_as_text(found, file.name, paths))
    return found.isolation.exit_code


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"The input {path} cannot be read: {error.strerror}.") from error


def _pattern(regex: str | None) -> re.Pattern[bytes] | None:
    try:
        return None if regex is None else re.compile(regex.encode(), re.MULTILINE)
    except re.error as error:
        raise UsageError(f"`{regex}` is not a regular expression: {error}.") from error


def _levels(
    file: Path, units: str | None, delimiter: str | None, language: str | None
) -> tuple[Level | Tree, ...] | None:
    levels = () if units is None else levels_named(units, file.name, language)
    return ((delimited(delimiter), *levels) if delimiter is not None else levels) or None


def _paths(file: Path, output: Path | None, *, isolate: bool) -> dict[str, Path]:
    """Where to write what."""
    if not isolate:
        return {"failing": output or file.with_name(f"{file.stem}-minimal{file.suffix}")}
    failing = output or file.with_name(f"{file.stem}-failing{file.suffix}")
    stem = failing.stem.removesuffix("-failing")
    return {"failing": failing, "passing": failing.with_name(f"{stem}-passing{failing.suffix}")}


def _write(found: InputIsolation, paths: dict[str, Path]) -> None:
    write_whole(paths["failing"], found.failing)
    if found.passing is not None:
        write_whole(paths["passing"], found.passing)
