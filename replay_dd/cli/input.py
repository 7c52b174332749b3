"""``replay-dd input``."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import click

from replay_dd.cli.command import OneOf, Option, command
from replay_dd.cli.input_options import STANDARD_INPUT, failure_options, oracle_of, read_input
from replay_dd.cli.input_results import Source, paths_beside, reduce_and_tell
from replay_dd.cli.input_settings import check_only_settings, tell_settings
from replay_dd.cli.options import (
    LOG,
    OUTPUT,
    OUTPUT_FILE,
    OUTPUT_FILE_OR_FOLDER,
    PROGRAM,
    SEARCH,
    budget_options,
    fork_option,
    jobs_option,
    journal_option,
    json_option,
    page_option,
)
from replay_dd.cli.program_under_test import check_script
from replay_dd.errors.user import UsageError
from replay_dd.experiment.process import find_program
from replay_dd.input.archives import opened
from replay_dd.input.folder import Packing, pack
from replay_dd.input.folder_levels import LevelOfFile, levels_in_folder
from replay_dd.input.levels import NAMES, Tree, default_levels, levels_named
from replay_dd.input.reduce import ALGORITHMS
from replay_dd.input.target import OPTIONS, PLACE, Target, check_command
from replay_dd.input.units import Level, delimited

SETTINGS = "Options and environment"
UNITS = "Units"


def _algorithms() -> Sequence[str]:
    return ALGORITHMS


def _default_units() -> str:
    return ",".join(level.name for level in default_levels(b"text"))


@command(
    "input",
    click.Argument(["file"], type=click.Path(), metavar="FILE", required=False),
    Option(
        "-o",
        "--output",
        section=OUTPUT,
        metavar="RESULT",
        type=OUTPUT_FILE_OR_FOLDER,
        shown_default="next to FILE",
        help="Where to write the reduced input; a folder, with `--tree`.",
    ),
    Option("--plot", section=OUTPUT, metavar="SVG", type=OUTPUT_FILE, help="Draw what was left after each test."),
    page_option(),
    Option(
        "--write-test",
        section=OUTPUT,
        metavar="TEST",
        type=OUTPUT_FILE,
        help="Write a pytest test with the reduced input in it, which fails as long as CMD does.",
    ),
    json_option(),
    Option(
        "--tree",
        section=UNITS,
        metavar="DIR",
        type=click.Path(path_type=Path, exists=True, file_okay=False),
        help="Reduce this folder in place of FILE: leave out files, then parts of those left. {} stands for its path; "
        "without {}, CMD is run in it.",
    ),
    Option(
        "--units",
        section=UNITS,
        metavar="UNITS",
        shown_default=_default_units,
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
    Option(
        "--all",
        "every",
        section=SEARCH,
        is_flag=True,
        help="Go on with what is left when a failure is found, until CMD passes: one result for each failure.",
    ),
    *failure_options(),
    Option(
        "--algorithm",
        section=SEARCH,
        type=OneOf(_algorithms),
        shown_default=ALGORITHMS[0],
        help="How to simplify.",
    ),
    jobs_option(),
    *budget_options(),
    journal_option(),
    Option(
        "--options",
        section=SETTINGS,
        metavar="WORDS",
        multiple=True,
        help="Leave FILE whole, and isolate which of these options of CMD the failure needs. They come at the end of "
        "CMD, or where {options} stands. Repeatable.",
    ),
    Option(
        "--environment",
        section=SETTINGS,
        metavar="NAMES",
        help="The same for these environment variables, separated by commas; `all` for all.",
    ),
    Option("--prevents", section=SETTINGS, is_flag=True, help="Isolate which of them prevent the failure of CMD."),
    fork_option("a Python program where it first touches its input"),
    Option("--fresh-copy", section=PROGRAM, is_flag=True, help="Run in a fresh copy of the working directory."),
    click.Argument(["command"], nargs=-1, type=click.UNPROCESSED, metavar="-- CMD {}"),
)
def input_command(
    file: str | None,
    output: Path | None,
    plot: Path | None,
    html: Path | None,
    write_test: Path | None,
    as_json: bool,
    tree: Path | None,
    units: str | None,
    delimiter: str | None,
    language: str | None,
    passing: Path | None,
    isolate: bool,
    every: bool,
    grep: str | None,
    script: bool,
    time_limit: float | None,
    algorithm: str | None,
    jobs: int,
    max_tests: int | None,
    time_budget: float | None,
    options: tuple[str, ...],
    environment: str | None,
    prevents: bool,
    no_fork: bool,
    fresh_copy: bool,
    command: tuple[str, ...],
) -> int:
    """Reduce FILE to the parts that make a program fail.

    CMD is run on parts of FILE (- for standard input); {} in it stands for their path. Without {}, CMD reads them from
    its standard input.

    Exit status:
      0  reduced
      3  the program does not fail on FILE, or fails without it
      4  the failure or the answer is not reproducible
    """
    if tree is None:
        whole, packing, content = _whole_file(file, command)
    else:
        without_folders = {"--passing": passing, "--isolate": isolate or None, "--language": language}
        command = _command_of_folder(file, command)
        whole, packing, content = _whole_folder(tree, without_folders)
    if passing == whole == STANDARD_INPUT:
        raise UsageError("Both inputs are standard input, which can be read only once.", "Give one of them as a file.")
    base = read_input(passing) if passing is not None else b"" if isolate else None
    if base is not None and (algorithm is not None or every):
        option = "--all" if every else "--algorithm"
        raise UsageError(f"`{option}` is for simplifying: a difference is isolated by dd.")
    name = "stdin" if whole == STANDARD_INPUT else whole.name or whole.resolve().name
    target = Target(command, name, fresh_copy=fresh_copy, time_limit_s=time_limit, packing=packing)
    _check_command_of(target, whole)
    search: dict[str, Any] = {
        "oracle": oracle_of(grep, script),
        "algorithm": algorithm or ALGORITHMS[0],
        "jobs": jobs,
        "max_tests": max_tests,
        "time_budget_s": time_budget,
    }
    if options or environment is not None:
        others = {
            "-o": output,
            "--units": units,
            "--delimiter": delimiter,
            "--language": language,
            "--passing": passing,
            "--plot": plot,
            "--html": html,
            "--write-test": write_test,
            "--tree": tree,
        }
        flags = ["--isolate"] * isolate + ["--all"] * every
        check_only_settings([name for name, value in others.items() if value is not None] + flags)
        return tell_settings(content, target, options, environment, prevents, search, as_json=as_json)
    if prevents:
        raise UsageError("`--prevents` asks about `--options` or `--environment`; give some.")
    paths = paths_beside(whole, output, isolate=base is not None, is_folder=packing is not None)
    results = replace(paths, plot=plot, page=html, test=write_test)
    for path in results.named().values():
        if any(path.exists() and path.samefile(source) for source in (whole, passing) if source is not None):
            raise UsageError(f"The result would overwrite {path}.", "Name another file with `-o`.")
    results.check()
    source = Source(whole, content, read_input if packing is None else lambda folder: pack(folder)[1])
    if packing is None and base is None and units is delimiter is None and whole != STANDARD_INPUT:
        content, target = opened(content, target, search["oracle"])
    return reduce_and_tell(
        *(name, content, target, {**search, "may_fork": not no_fork}, results),
        levels=None if target.packing is not None else _levels(whole, units, delimiter, language),
        levels_of_files=None if target.packing is None else _levels_of_files(units, delimiter),
        passing=base,
        every=every,
        source=source,
        as_json=as_json,
    )


class _Whole(NamedTuple):
    """What is to be reduced: where it is, how its files are packed if it is a folder, and what is in it."""

    path: Path
    packing: Packing | None
    content: bytes


def _whole_file(file: str | None, command: tuple[str, ...]) -> _Whole:
    if file is None or not command:
        raise _no_command()
    whole = Path(file)
    if whole.is_dir():
        raise UsageError(f"{whole} is a directory.", f"To leave out files of it, write `--tree {whole} -- CMD {{}}`.")
    return _Whole(whole, None, read_input(whole))


def _whole_folder(tree: Path, without_folders: Mapping[str, object]) -> _Whole:
    """The content of a folder; none of these options may be given with one."""
    whole = _Whole(tree, *pack(tree))
    for name, value in without_folders.items():
        if value is not None:
            raise UsageError(f"`--tree` reduces a folder; {name} does not go with it.")
    return whole


def _command_of_folder(file: str | None, command: tuple[str, ...]) -> tuple[str, ...]:
    """With a folder, what stands in the place of FILE is the first word of the command."""
    if not file:
        raise _no_command()
    if _is_no_program(file) and command and find_program(command[0], os.environ.get("PATH")):
        raise UsageError(f"`--tree` reduces a folder; the file {file} does not go with it.")
    return (file, *command)


def _no_command() -> UsageError:
    return UsageError("Missing argument `-- CMD {}`.", "Write the command after the file and `--`.")


def _check_command_of(target: Target, whole: Path) -> None:
    """Refuse a command that cannot be run on parts of the input."""
    if target.packing is None:
        check_command(target.command, whole)
    if target.command[0] == OPTIONS:
        raise UsageError(f"`{OPTIONS}` stands for options of a program, which comes before it.")
    # Where options are tried, none of them is the script.
    words = tuple(word for word in target.command if word != OPTIONS)
    check_script(words, whole if target.packing is not None and not target.takes_a_file else None, place=PLACE)


def _is_no_program(file: str) -> bool:
    """Whether a word names a file that cannot be run."""
    return os.path.isfile(file) and not os.access(file, os.X_OK)


def _levels_of_files(units: str | None, delimiter: str | None) -> tuple[LevelOfFile, ...]:
    return levels_in_folder(units, None if delimiter is None else delimited(delimiter))


def _levels(
    file: Path, units: str | None, delimiter: str | None, language: str | None
) -> tuple[Level | Tree, ...] | None:
    if language is not None and not {"tree", "tokens"} & {name.strip() for name in (units or "").split(",")}:
        raise UsageError("`--language` is for `--units tree` and `--units tokens`.")
    levels = () if units is None else levels_named(units, file.name, language)
    return ((delimited(delimiter), *levels) if delimiter is not None else levels) or None
