"""``replay-dd call``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import click

from replay_dd.call.arguments_file import read_arguments
from replay_dd.call.circumstance import FIRST_LIMIT_S
from replay_dd.call.reduce import ALGORITHMS, CallIsolation, reduce_call
from replay_dd.cli.command import OneOf, Option, command
from replay_dd.cli.options import (
    LOG,
    OUTPUT,
    OUTPUT_FILE,
    PROGRAM,
    SEARCH,
    budget_options,
    jobs_option,
    journal_option,
    json_option,
    page_option,
    time_limit_option,
)
from replay_dd.cli.output import echo_json, echo_lines
from replay_dd.cli.progress import Progress
from replay_dd.errors.user import UsageError
from replay_dd.files import check_writable, write_whole
from replay_dd.report.call import call_as_json, call_as_text, call_test

FAILURE = "Failure"


def _algorithms() -> Sequence[str]:
    return ALGORITHMS


@command(
    "call",
    click.Argument(["function"], metavar="MODULE:FUNCTION"),
    Option(
        "--args-file",
        section=PROGRAM,
        metavar="FILE",
        type=LOG,
        required=True,
        help="The arguments, as JSON or as Python literals.",
    ),
    Option(
        "--python",
        section=PROGRAM,
        metavar="PYTHON",
        shown_default="the `python` of the shell",
        help="The interpreter that has the function.",
    ),
    Option(
        "-o",
        "--output",
        section=OUTPUT,
        metavar="RESULT",
        type=OUTPUT_FILE,
        shown_default="next to FILE",
        help="Where to write the minimal arguments.",
    ),
    Option("--write-test", section=OUTPUT, metavar="FILE", type=OUTPUT_FILE, help="Write a pytest test of the call."),
    page_option(),
    json_option(),
    Option(
        "--grep",
        section=FAILURE,
        metavar="REGEX",
        old_name="--failure",
        shown_default="the same exception, from the same place",
        help="The failure is an exception whose type and text REGEX matches.",
    ),
    time_limit_option(
        f"{FIRST_LIMIT_S:g}, then 20 times the first call, and 5 s",
        "Kill a call after this time, which counts as a failure.",
        section=FAILURE,
    ),
    Option(
        "--algorithm", section=SEARCH, type=OneOf(_algorithms), shown_default=ALGORITHMS[0], help="How to simplify."
    ),
    jobs_option("calls"),
    *budget_options(),
    journal_option(),
)
def call_command(
    function: str,
    args_file: Path,
    python: str | None,
    output: Path | None,
    write_test: Path | None,
    html: Path | None,
    as_json: bool,
    grep: str | None,
    time_limit: float | None,
    algorithm: str | None,
    jobs: int,
    max_tests: int | None,
    time_budget: float | None,
) -> int:
    """Reduce the arguments of a call to the parts that make it fail.

    The function is imported once; each call is made in a process of its own.

    Exit status:
      0  reduced
      3  the function does not fail with these arguments
      4  the failure or the answer is not reproducible
    """
    function = _full_name(function)
    pattern = _pattern(grep)
    given = read_arguments(args_file)
    result = output or args_file.with_name(f"{args_file.stem}-minimal{args_file.suffix}")
    if result.exists() and result.samefile(args_file):
        raise UsageError(f"The result would overwrite {result}.", "Name another file with `-o`.")
    check_writable(result)
    progress = Progress()
    try:
        found = reduce_call(
            *(function, given.positional, given.keywords),
            python=python,
            failure=pattern,
            algorithm=algorithm or ALGORITHMS[0],
            jobs=jobs,
            time_limit_s=time_limit,
            max_tests=max_tests,
            time_budget_s=time_budget,
            observer=progress.observer("part"),
        )
    finally:
        progress.clear()
    written = given.written(found.positional, found.keywords, function.rpartition(":")[2])
    files = {"minimal": result}
    write_whole(result, written.encode("utf-8", "surrogatepass"))
    if write_test is not None:
        files["test"] = write_test
        write_whole(write_test, call_test(found).encode("utf-8", "backslashreplace"))
    if html is not None:
        from replay_dd.report.page.answer import call_page
        from replay_dd.report.page.frame import write_page

        files["page"] = html
        write_page(call_page(found, files), html)
    return _tell(found, files, as_json=as_json)


def _tell(found: CallIsolation, files: dict[str, Path], *, as_json: bool) -> int:
    if as_json:
        echo_json(call_as_json(found, files))
    else:
        echo_lines(call_as_text(found, files))
    return found.isolation.exit_code


def _full_name(function: str) -> str:
    """``module:function``; with a dot in place of the colon, classes are known by their capital letters."""
    module, colon, name = function.partition(":")
    if not colon:
        parts = function.split(".")
        first = next((number for number, part in enumerate(parts) if part[:1].isupper()), len(parts) - 1)
        module, name = ".".join(parts[:first]), ".".join(parts[first:])
    if not all(part.isidentifier() for part in (*module.split("."), *name.split("."))):
        raise UsageError(f"`{function}` does not name a function.", "Write `module:function`, such as `json:loads`.")
    if module.endswith(".py"):
        raise UsageError(
            f"`{module}` is a file, not a module.", f"Name the module: `{module.removesuffix('.py')}:{name}`."
        )
    return f"{module}:{name}"


def _pattern(grep: str | None) -> re.Pattern[str] | None:
    try:
        return None if grep is None else re.compile(grep)
    except re.error as error:
        raise UsageError(f"`{grep}` is not a regular expression: {error}.") from error
