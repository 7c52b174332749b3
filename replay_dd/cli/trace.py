"""``replay-dd trace``."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from replay_dd.cli.command import OneOf, Option, command
from replay_dd.cli.options import (
    OUTPUT,
    OUTPUT_FILE,
    PROGRAM,
    SEARCH,
    budget_options,
    jobs_option,
    journal_option,
    json_option,
    page_option,
    program_argument,
    time_limit_option,
)
from replay_dd.cli.output import echo, echo_json, echo_lines, wants_color
from replay_dd.cli.program_under_test import standard_input
from replay_dd.cli.progress import Progress
from replay_dd.errors.user import UsageError
from replay_dd.files import write_whole
from replay_dd.report.statements import NEEDED, statements_as_json, statements_as_text
from replay_dd.trace.listing import File, listing
from replay_dd.trace.slice import ALGORITHMS, DEFAULT_TIME_LIMIT_S, LEVELS, Slice, find_slice
from replay_dd.trace.target import target_of
from replay_dd.trust.printable import printable

OUTCOME = "Outcome"


def _algorithms() -> Sequence[str]:
    return ALGORITHMS


def _levels() -> Sequence[str]:
    return LEVELS


@command(
    "trace",
    Option(
        "-o",
        "--output",
        section=OUTPUT,
        metavar="TEXT",
        type=OUTPUT_FILE,
        help="Also write the answer to this file, as text.",
    ),
    page_option("Write the sources, with what mattered highlighted, as an HTML page, which needs no network."),
    json_option(),
    Option("--no-color", section=OUTPUT, is_flag=True, help="Mark what mattered by `>` only, not by colors."),
    Option(
        "--output-line",
        section=OUTCOME,
        metavar="N|TEXT",
        help="Explain this line of the output: its number, or a text in it.",
    ),
    Option(
        "--variable",
        section=OUTCOME,
        metavar="NAME",
        help="Explain the final value of this variable: one of the script, one of the function that raises the "
        "exception, or MODULE.NAME.",
    ),
    Option("--stdin", section=PROGRAM, metavar="FILE", help="Standard input of the program; - for that of replay-dd."),
    time_limit_option(f"{DEFAULT_TIME_LIMIT_S:g}, then 20 times the first run, and 5 s"),
    Option(
        "--levels",
        section=SEARCH,
        type=OneOf(_levels),
        default=LEVELS[0],
        show_default=True,
        help="Search all executions of a statement together first, or single ones at once.",
    ),
    Option(
        "--algorithm",
        section=SEARCH,
        type=OneOf(_algorithms),
        default=ALGORITHMS[0],
        show_default=True,
        help="Find the needed statements one by one by bisection that adapts to how many are needed, by plain "
        "bisection, or by ddmin, as the paper does.",
    ),
    jobs_option(),
    *budget_options(),
    journal_option(),
    program_argument(),
)
def trace_command(
    output: Path | None,
    html: Path | None,
    as_json: bool,
    no_color: bool,
    output_line: str | None,
    variable: str | None,
    stdin: str | None,
    time_limit: float | None,
    levels: str,
    algorithm: str,
    jobs: int,
    max_tests: int | None,
    time_budget: float | None,
    command: tuple[str, ...],
) -> int:
    """Find the executed statements that an outcome of a Python program needs.

    CMD is run once, and then in parts: without some of the statements that it executed. The outcome is the exception
    that ends it, if one does, and otherwise all that it prints.

    Exit status:
      0  found
      3  the program has no such outcome
      4  the outcome or the answer is not reproducible
    """
    if output_line is not None and variable is not None:
        raise UsageError("Either `--output-line` or `--variable` says what the outcome is, not both.")
    if output_line == "":
        raise UsageError("`--output-line` is empty.", "Give the number of the line, or a text in it.")
    target = target_of(command, standard_input(stdin))
    target.time_limit_s = time_limit
    progress = Progress()
    try:
        found = find_slice(
            target,
            output_line=output_line,
            variable=variable,
            algorithm=algorithm,
            levels=levels,
            jobs=jobs,
            max_tests=max_tests,
            time_budget_s=time_budget,
            observer=progress.observer("statement"),
        )
    finally:
        progress.clear()
    files = listing(found, target.directory)
    paths = {name: path for name, path in (("text", output), ("page", html)) if path is not None}
    if output is not None:
        lines = [*statements_as_text(found, target.name, files, paths), ""]
        write_whole(output, "\n".join(printable(line, keep="\t") for line in lines).encode())
    if html is not None:
        _write_page(found, target.name, files, paths, html)
    if as_json:
        echo_json(statements_as_json(found, files, paths))
    else:
        _tell(statements_as_text(found, target.name, files, paths), colors=not no_color)
    return found.isolation.exit_code


def _write_page(found: Slice, name: str, files: list[File], paths: dict[str, Path], html: Path) -> None:
    from replay_dd.report.page.frame import write_page
    from replay_dd.report.page.statements import statements_page

    write_page(statements_page(found, name, files, paths), html)


def _tell(lines: Iterable[str], *, colors: bool) -> None:
    """Print the answer: on a terminal, with the source lines that did not matter in grey."""
    colored = getattr(sys.stdout, "steer", None)
    if not colors or colored is None or not wants_color(sys.stdout.isatty()):
        echo_lines(lines)
        return
    in_source = False
    for line in lines:
        # The source comes after the first empty line, and ends where the summary begins.
        in_source = line.startswith(("  ", NEEDED)) or (in_source and not line)
        if in_source and line.startswith(NEEDED):
            colored(f"{click.style(printable(line, keep=chr(9)), fg='yellow', bold=True)}\n")
        elif in_source and line:
            colored(f"{click.style(printable(line, keep=chr(9)), dim=True)}\n")
        else:
            echo(line)
