"""``replay-dd input``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from replay_dd.cli.command import OneOf, Option, command
from replay_dd.cli.input_options import failure_options, jobs_option, oracle_of, read_input
from replay_dd.cli.input_settings import check_only_settings, tell_settings
from replay_dd.cli.options import LOG, OUTPUT, OUTPUT_FILE, PROGRAM, SEARCH, budget_options, json_option, page_option
from replay_dd.cli.output import echo_json, echo_lines
from replay_dd.cli.program_under_test import check_script
from replay_dd.cli.progress import Progress
from replay_dd.errors.user import UsageError
from replay_dd.files import check_writable, write_whole
from replay_dd.input.levels import NAMES, Tree, levels_named
from replay_dd.input.reduce import ALGORITHMS, InputIsolation, reduce_input
from replay_dd.input.target import Target, check_command
from replay_dd.input.units import Level, delimited
from replay_dd.report.input import input_as_json, input_as_text, plot_of

SETTINGS = "Options and environment"
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
        type=OUTPUT_FILE,
        shown_default="next to FILE",
        help="Where to write the reduced input.",
    ),
    Option("--plot", section=OUTPUT, metavar="SVG", type=OUTPUT_FILE, help="Draw what was left after each test."),
    page_option(),
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
    Option(
        "--options",
        section=SETTINGS,
        metavar="WORDS",
        multiple=True,
        help="Leave FILE whole, and try these options of CMD: which ones does the failure need? They come at the end "
        "of CMD, or where {options} stands. Repeatable.",
    ),
    Option(
        "--environment",
        section=SETTINGS,
        metavar="NAMES",
        help="Try these environment variables, separated by commas; `all` for all.",
    ),
    Option("--prevents", section=SETTINGS, is_flag=True, help="Which of them prevent the failure of CMD?"),
    Option("--fresh-copy", section=PROGRAM, is_flag=True, help="Run in a fresh copy of the working directory."),
    click.Argument(["command"], nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- CMD {}"),
)
def input_command(
    file: Path,
    output: Path | None,
    plot: Path | None,
    html: Path | None,
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
    options: tuple[str, ...],
    environment: str | None,
    prevents: bool,
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
    content = read_input(file)
    base = read_input(passing) if passing is not None else b"" if isolate else None
    if base is not None and algorithm is not None:
        raise UsageError("`--algorithm` is for simplifying: a difference is isolated by dd.")
    check_script(command)
    check_command(command, file)
    target = Target(command, file.name, fresh_copy=fresh_copy, time_limit_s=time_limit)
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
        }
        check_only_settings([name for name, value in others.items() if value is not None] + ["--isolate"] * isolate)
        return tell_settings(content, target, options, environment, prevents, search, as_json=as_json)
    if prevents:
        raise UsageError("`--prevents` asks about `--options` or `--environment`; give some.")
    levels = _levels(file, units, delimiter, language)
    paths = _paths(file, output, isolate=base is not None)
    if plot is not None:
        paths["plot"] = plot
    if html is not None:
        paths["page"] = html
    for path in paths.values():
        if any(path.exists() and path.samefile(source) for source in (file, passing) if source is not None):
            raise UsageError(f"The result would overwrite {path}.", "Name another file with `-o`.")
        check_writable(path)
    return reduce_file(file, content, target, search, levels=levels, passing=base, paths=paths, as_json=as_json)


def reduce_file(
    file: Path,
    content: bytes,
    target: Target,
    search: dict[str, Any],
    *,
    paths: dict[str, Path] | None = None,
    levels: tuple[Level | Tree, ...] | None = None,
    passing: bytes | None = None,
    as_json: bool,
) -> int:
    """Reduce an input, write the result, and tell it; returns the exit status.

    Args:
        file: where the input is.
        content: the input.
        target: runs the program.
        search: more arguments of :func:`~replay_dd.input.reduce.reduce_input`.
        paths: where to write the results; by default next to the input.
        levels: the units.
        passing: the passing input.
        as_json: print one JSON object.
    """
    paths = paths or _paths(file, None, isolate=passing is not None)
    progress = Progress()
    try:
        observer = progress.observer("unit")
        found = reduce_input(content, target, levels=levels, passing=passing, observer=observer, **search)
    finally:
        progress.clear()
    _write(found, paths, file.name)
    if as_json:
        echo_json(input_as_json(found, paths))
    else:
        echo_lines(input_as_text(found, file.name, paths))
    return found.isolation.exit_code


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


def _write(found: InputIsolation, paths: dict[str, Path], name: str) -> None:
    write_whole(paths["failing"], found.failing)
    if found.passing is not None:
        write_whole(paths["passing"], found.passing)
    if "plot" in paths:
        write_whole(paths["plot"], plot_of(found, name).encode())
    if "page" in paths:
        from replay_dd.report.page.answer import input_page
        from replay_dd.report.page.frame import write_page

        write_page(input_page(found, name, paths), paths["page"])
