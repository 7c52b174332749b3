"""Reduces inputs for the commands ``input`` and ``fuzz``: where results go, how they are written and told."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from replay_dd.cli.input_options import STANDARD_INPUT
from replay_dd.cli.order_tests import check_new
from replay_dd.cli.output import echo_json, echo_lines
from replay_dd.cli.progress import Progress, say
from replay_dd.errors import ReplayDDError
from replay_dd.errors.user import OutputError
from replay_dd.experiment.ending import Oracle
from replay_dd.files import check_writable, write_whole
from replay_dd.input.folder_levels import LevelOfFile
from replay_dd.input.levels import Tree
from replay_dd.input.reduce import InputIsolation, reduce_input
from replay_dd.input.several import SeveralFailures, reduce_all
from replay_dd.input.target import Target
from replay_dd.input.units import Level
from replay_dd.report.input import input_as_json, input_as_text, plot_of
from replay_dd.report.input_several import several_as_json, several_as_text
from replay_dd.report.input_test import input_test


@dataclass(frozen=True)
class Results:
    """Where to write what.

    Attributes:
        failing: the reduced input.
        passing: the passing input closest to it; None for none.
        plot: a chart.
        page: an HTML page.
        test: a pytest test.
        is_folder: whether the input is a folder.
    """

    failing: Path
    passing: Path | None = None
    plot: Path | None = None
    page: Path | None = None
    test: Path | None = None
    is_folder: bool = False

    def check(self) -> None:
        """Check that all of it can be written.

        Raises:
            OutputError: something cannot, or is there already and must not be overwritten.
        """
        check_new(self.test)
        for path in self.named().values():
            if path == self.failing and self.is_folder:
                if os.path.lexists(path) and (not path.is_dir() or any(path.iterdir())):
                    raise OutputError(
                        f"The folder {path} already exists and is not empty.", "Name another one with `-o`."
                    )
                path = path / "any"
            check_writable(path)

    def named(self) -> dict[str, Path]:
        """The paths, by what they contain."""
        named = {
            "failing": self.failing,
            "passing": self.passing,
            "plot": self.plot,
            "page": self.page,
            "test": self.test,
        }
        return {name: path for name, path in named.items() if path is not None}

    def numbered(self, number: int) -> Results:
        """Where the results for one failure of several go, from 1."""

        def other(path: Path) -> Path:
            return path if number == 1 else path.with_name(f"{path.stem}-{number}{path.suffix}")

        plot = None if self.plot is None else other(self.plot)
        page = None if self.page is None else other(self.page)
        return replace(self, failing=other(self.failing), plot=plot, page=page, test=None)


_CHANGED = "{} has changed since it was read; the answer is about what was in it then."


@dataclass(frozen=True)
class Source:
    """Where an input comes from.

    Attributes:
        path: a file or a folder; ``-`` for standard input.
        content: what was in it.
        read: reads it again.
    """

    path: Path
    content: bytes
    read: Callable[[Path], bytes]

    @property
    def notes(self) -> tuple[str, ...]:
        """What has happened to it since."""
        if _is_stream(self.path):
            return ()
        try:
            same = self.read(self.path) == self.content
        except ReplayDDError:
            same = False
        return () if same else (_CHANGED.format(self.path),)


def _is_stream(path: Path) -> bool:
    """Whether it is standard input, a pipe or a device, which can be read only once."""
    return path == STANDARD_INPUT or (path.exists() and not path.is_file() and not path.is_dir())


def paths_beside(file: Path, output: Path | None, *, isolate: bool = False, is_folder: bool = False) -> Results:
    """The results, next to the input unless said otherwise; a stream has none beside it but the working directory."""
    if is_folder:
        named = file if file.name not in ("", "..") else file.resolve()
        return Results(output or named.with_name(f"{named.name}-minimal"), is_folder=True)
    if _is_stream(file):
        file = Path("stdin" if file == STANDARD_INPUT else file.name)
    if not isolate:
        return Results(output or file.with_name(f"{file.stem}-minimal{file.suffix}"))
    failing = output or file.with_name(f"{file.stem}-failing{file.suffix}")
    stem = failing.stem.removesuffix("-failing")
    return Results(failing, failing.with_name(f"{stem}-passing{failing.suffix}"))


def reduce_and_tell(
    name: str,
    content: bytes,
    target: Target,
    search: dict[str, Any],
    results: Results,
    *,
    levels: Sequence[Level | Tree] | None = None,
    levels_of_files: Sequence[LevelOfFile] | None = None,
    passing: bytes | None = None,
    every: bool = False,
    source: Source | None = None,
    as_json: bool,
) -> int:
    """Reduce an input, write the result, and tell it; returns the exit status.

    Args:
        name: of the input.
        content: the input; packed, if it is a folder.
        target: runs the program.
        search: more arguments of :func:`~replay_dd.input.reduce.reduce_input`.
        results: where to write what.
        levels: the units.
        levels_of_files: the units in the files of a folder.
        passing: the passing input.
        every: reduce it for each failure that it shows.
        source: where the input comes from; None if it is in no file.
        as_json: print one JSON object.
    """
    progress = Progress()
    oracle: Oracle = search["oracle"].about(content, *(() if passing is None else (passing,)))
    search = {**search, "oracle": oracle}

    def reduce(whole: bytes, max_tests: int | None, time_budget_s: float | None) -> InputIsolation:
        limits = {"max_tests": max_tests, "time_budget_s": time_budget_s}
        units = {"levels": levels, "levels_of_files": levels_of_files}
        observer = progress.observer("unit", halves=True)
        return reduce_input(whole, target, passing=passing, observer=observer, **{**search, **units, **limits})

    max_tests, time_budget_s = search["max_tests"], search["time_budget_s"]
    numbers = iter(range(1, len(content) + 2))

    def keep(found: InputIsolation) -> None:
        number = next(numbers)
        _write(found, results.numbered(number), name, target)
        progress.clear()
        say(f"failure {number}: {found.isolation.failure.words}")

    try:
        if every:
            budget = {"max_tests": max_tests, "time_budget_s": time_budget_s}
            several = reduce_all(content, target, oracle, reduce, **budget, on_found=keep)
        else:
            several = SeveralFailures((reduce(content, max_tests, time_budget_s),), None)
    finally:
        progress.clear()
    if source is not None:
        *others, last = several.found
        several = replace(several, found=(*others, replace(last, notes=(*last.notes, *source.notes))))
    found = several.found
    if not every:
        _write(found[0], results, name, target)
    if results.test is not None:
        inputs = [(one.failing, one.isolation.failing.run or one.first) for one in found]
        write_whole(results.test, input_test(inputs, target, oracle, results.test).encode())
    if every:
        named = [results.numbered(number).named() for number in range(1, len(found) + 1)]
        more = {} if results.test is None else {"test": results.test}
        if as_json:
            echo_json(several_as_json(several, [{**named[0], **more}, *named[1:]], target))
        else:
            echo_lines(several_as_text(several, name, named, more, target))
    elif as_json:
        echo_json(input_as_json(found[0], results.named(), target.packing))
    else:
        echo_lines(input_as_text(found[0], name, results.named(), target.packing))
    return several.exit_code


def _write(found: InputIsolation, results: Results, name: str, target: Target) -> None:
    if target.packing is None or not target.is_folder:
        write_whole(results.failing, target.given(found.failing))
    else:
        target.packing.unpack(found.failing, results.failing)
    if found.passing is not None and results.passing is not None:
        write_whole(results.passing, found.passing)
    if results.plot is not None:
        write_whole(results.plot, plot_of(found, name, target.packing).encode())
    if results.page is not None:
        from replay_dd.report.page.answer import input_page
        from replay_dd.report.page.frame import write_page

        write_page(input_page(found, name, results.named(), target.packing), results.page)
