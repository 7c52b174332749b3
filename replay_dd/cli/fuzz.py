"""``replay-dd fuzz``."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from replay_dd.cli.command import Option, command
from replay_dd.cli.input_options import FAILURE, failure_options, oracle_of, read_input
from replay_dd.cli.input_results import paths_beside, reduce_and_tell
from replay_dd.cli.options import (
    LOG,
    OUTPUT,
    OUTPUT_FILE,
    PROGRAM,
    SEARCH,
    budget_options,
    count_option,
    fork_option,
    jobs_option,
    journal_option,
    json_option,
    seed_option,
)
from replay_dd.cli.output import echo, echo_json
from replay_dd.cli.program_under_test import check_script
from replay_dd.cli.progress import Progress, say
from replay_dd.errors import EXIT_INTERRUPTED
from replay_dd.errors.user import InputError
from replay_dd.experiment.ending import TIME_OUT
from replay_dd.files import write_whole
from replay_dd.input.fuzz import find_failing_input
from replay_dd.input.reduce import DEFAULT_TIME_LIMIT_S
from replay_dd.input.target import PLACE, Target
from replay_dd.report.input import no_failure_as_json
from replay_dd.report.isolation import counted

EXIT_NO_FAILURE = 1
_WHY = {None: "", "time": " within the time budget", "interrupt": ": interrupted"}


@command(
    "fuzz",
    Option(
        "-o",
        "--output",
        section=OUTPUT,
        metavar="FILE",
        type=OUTPUT_FILE,
        required=True,
        help="Where to write the failing input; the reduced one goes next to it.",
    ),
    json_option(),
    Option("--from", "source", section=SEARCH, metavar="FILE", type=LOG, help="Mutate this file."),
    count_option("--length", "Longest random input.", default=10_000, metavar="BYTES"),
    count_option("--runs", "Maximum number of inputs.", default=1000),
    seed_option("Random seed.", SEARCH),
    jobs_option(),
    *budget_options(),
    journal_option(),
    *failure_options(),
    Option(
        "--ignore",
        section=FAILURE,
        metavar="REGEX",
        help="Output that REGEX matches is no failure: CMD rejects such an input, as it should.",
    ),
    fork_option("a Python program where it first touches its input"),
    Option("--fresh-copy", section=PROGRAM, is_flag=True, help="Run in a fresh copy of the working directory."),
    click.Argument(["command"], nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- CMD {}"),
)
def fuzz_command(
    output: Path,
    as_json: bool,
    source: Path | None,
    length: int,
    runs: int,
    seed: int | None,
    jobs: int,
    max_tests: int | None,
    time_budget: float | None,
    grep: str | None,
    script: bool,
    time_limit: float | None,
    ignore: str | None,
    no_fork: bool,
    fresh_copy: bool,
    command: tuple[str, ...],
) -> int:
    """Invent inputs until a program fails on one, and reduce that.

    CMD is run on random characters, or on mutations of a file; {} in it stands for their path. Without {}, CMD reads
    them from its standard input.

    Exit status:
      0  an input failed and was reduced
      1  none failed
      4  the failure or the answer is not reproducible
      130  interrupted before one failed
    """
    oracle = oracle_of(grep, script, ignore)
    content = None if source is None else read_input(source)
    if content == b"":
        raise InputError(f"The file {source} is empty: there is nothing to mutate.", "Leave out `--from`.")
    check_script(command, place=PLACE)
    target = Target(command, output.name, fresh_copy=fresh_copy, time_limit_s=time_limit or DEFAULT_TIME_LIMIT_S)
    progress = Progress()
    began_s = time.monotonic()
    try:
        fuzzed = find_failing_input(
            *(target, oracle),
            seed=seed or 0,
            runs=runs,
            length=length,
            source=content,
            jobs=jobs,
            time_budget_s=time_budget,
            may_fork=not no_fork,
            on_run=lambda number: progress.show(f"input {number} of {runs}"),
        )
    finally:
        progress.clear()
    found = fuzzed.found
    if found is None:
        if as_json:
            echo_json(no_failure_as_json(fuzzed, seed or 0))
        else:
            echo(f"No failure in {counted(fuzzed.tried, 'input')}{_WHY[fuzzed.stopped_by]}.")
        return EXIT_INTERRUPTED if fuzzed.stopped_by == "interrupt" else EXIT_NO_FAILURE
    write_whole(output, found.content)
    say(f"input {found.number} fails: {found.ending.words}; it is in {output}")
    if grep is ignore is None and not script and found.ending.signature != TIME_OUT:
        say("if that is how the program rejects an input, leave such inputs out with `--ignore REGEX`")
    target.time_limit_s = time_limit
    left_s = None if time_budget is None else max(time_budget - (time.monotonic() - began_s), 0.001)
    search: dict[str, Any] = {"oracle": oracle, "jobs": jobs, "max_tests": max_tests, "time_budget_s": left_s}
    search["may_fork"] = not no_fork
    return reduce_and_tell(output.name, found.content, target, search, paths_beside(output, None), as_json=as_json)
