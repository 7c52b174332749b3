"""``replay-dd code``."""

from __future__ import annotations

from pathlib import Path

import click

from replay_dd.cli.command import Command, Option, command
from replay_dd.cli.input_options import failure_options, oracle_of
from replay_dd.cli.options import (
    OUTPUT,
    OUTPUT_FILE,
    OUTPUT_FOLDER,
    PROGRAM,
    budget_options,
    fork_option,
    jobs_option,
    journal_option,
    json_option,
)
from replay_dd.cli.output import echo_json, echo_lines
from replay_dd.cli.program_under_test import check_script
from replay_dd.cli.progress import Progress
from replay_dd.code.reading import Reading, read_program
from replay_dd.code.reduce import reduce_code
from replay_dd.code.source import Program
from replay_dd.code.target import CodeTarget
from replay_dd.errors.user import UsageError
from replay_dd.files import check_writable, write_whole
from replay_dd.input.target import PLACE, check_command
from replay_dd.report.code import code_as_json, code_as_text
from replay_dd.report.code_test import code_test


class CodeCommand(Command):
    """A command whose program comes after ``--``, since any number of files comes before it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Split the words at the first ``--``."""
        at = args.index("--") if "--" in args else len(args)
        rest = super().parse_args(ctx, args[:at])
        ctx.params["command"] = tuple(args[at + 1 :])
        return rest


@command(
    "code",
    click.Argument(["files"], nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE... -- CMD {}"),
    Option(
        "-o",
        "--output",
        section=OUTPUT,
        metavar="RESULT",
        type=OUTPUT_FILE,
        shown_default="next to FILE",
        help="Where to write the reduced program.",
    ),
    Option(
        "--output-folder",
        section=OUTPUT,
        metavar="DIR",
        type=OUTPUT_FOLDER,
        shown_default="next to the first FILE",
        help="Where to write it if it has several files.",
    ),
    Option(
        "--write-test", section=OUTPUT, metavar="TEST", type=OUTPUT_FILE, help="Write a pytest test with it inside."
    ),
    json_option(),
    *failure_options(),
    jobs_option(),
    *budget_options(),
    journal_option(),
    fork_option("a tool in Python where it first touches the program"),
    Option("--fresh-copy", section=PROGRAM, is_flag=True, help="Run in a fresh copy of the working directory."),
    kind=CodeCommand,
)
def code_command(
    files: tuple[Path, ...],
    output: Path | None,
    output_folder: Path | None,
    write_test: Path | None,
    as_json: bool,
    grep: str | None,
    script: bool,
    time_limit: float | None,
    jobs: int,
    max_tests: int | None,
    time_budget: float | None,
    no_fork: bool,
    fresh_copy: bool,
    command: tuple[str, ...],
) -> int:
    """Reduce a Python program on which a tool fails.

    CMD is a formatter, a type checker, a linter, a compiler, or the interpreter. It is run on smaller and smaller
    programs that still parse; {} in it stands for their path. FILE may be a folder: a package. Without {}, CMD reads
    the program from its standard input.

    Exit status:
      0  reduced
      3  the tool does not fail on the program, or fails on an empty one
      4  the failure or the answer is not reproducible
    """
    if not command:
        raise UsageError("The command that fails is missing.", "Give it after `--`: replay-dd code FILE -- CMD {}")
    check_script(command, place=PLACE)
    oracle = oracle_of(grep, script)
    reading = read_program(files)
    target = CodeTarget(
        command,
        reading.name,
        fresh_copy=fresh_copy,
        time_limit_s=time_limit,
        arguments=reading.arguments,
        folders=reading.folders,
    )
    if reading.arguments and not target.takes_a_file:
        raise UsageError(
            "A program of several files does not fit into the standard input of the command.",
            "Write {} where their paths belong.",
        )
    for file in files:
        check_command(command, file)
    paths = _paths(files, reading, output, output_folder)
    if write_test is not None:
        paths["test"] = write_test
    for path in paths.values():
        if any(path.exists() and path.samefile(source) for source in files):
            raise UsageError(f"The result would overwrite {path}.", "Name another file.")
    progress = Progress()
    try:
        found = reduce_code(
            *(reading.program, target),
            oracle=oracle,
            jobs=jobs,
            max_tests=max_tests,
            time_budget_s=time_budget,
            may_fork=not no_fork,
            observer=progress.observer("edit"),
        )
    finally:
        progress.clear()
    _write(found.failing, reading, paths["failing"])
    if write_test is not None:
        write_whole(write_test, code_test(found, target, oracle).encode())
    if as_json:
        echo_json(code_as_json(found, paths))
    else:
        names = [Path(path).name for path in reading.arguments] or [reading.name]
        echo_lines(code_as_text(found, names, paths))
    return found.isolation.exit_code


def _paths(files: tuple[Path, ...], reading: Reading, output: Path | None, folder: Path | None) -> dict[str, Path]:
    """Where to write what."""
    first = files[0]
    if not reading.arguments:
        if folder is not None:
            raise UsageError("The program is one file; `--output-folder` is for several.", "Use `-o`.")
        path = output or first.with_name(f"{first.stem}-minimal{first.suffix}")
        check_writable(path)
        return {"failing": path}
    if output is not None:
        raise UsageError("The program has several files; `-o` is for one.", "Use `--output-folder`.")
    path = folder or Path(f"{first.resolve().with_suffix('')}-minimal")
    if path.exists() and any(path.iterdir()):
        raise UsageError(
            f"The folder {path} is not empty; files of another program would stay there.",
            "Remove it, or name another one with `--output-folder`.",
        )
    check_writable(path / "any")
    return {"failing": path}


def _write(program: Program, reading: Reading, path: Path) -> None:
    if not reading.arguments:
        write_whole(path, program.files[0].written)
        return
    for file in program.files:
        write_whole(path / file.name, file.written)
