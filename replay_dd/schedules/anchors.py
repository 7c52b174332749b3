"""Source anchors: find the place of a switch again after the source was edited.

Rules of this module:

* An anchor consists of the function, the text of the line, and its index among the lines with that text in the
  function. The instruction, the column and the visit are matched at run time (``strategies/anchored.py``).
* A line that was itself edited is never guessed at: it is reported as not found.
* Only source text matters here and nothing is run, so a log recorded under another Python version works as well.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from replay_dd.errors.user import LogError
from replay_dd.logfile import read_regular
from replay_dd.python_sources import parsed
from replay_dd.schedules.model import Log, Place, Program, Switch
from replay_dd.schedules.vouched_sources import LARGEST_SOURCE_BYTES, vouched_text

# Up to 3.11 comprehensions are functions; lambdas and generators share the lines of the enclosing function.
_INNER = re.compile(r"(\.<locals>)?\.?<(lambda|genexpr|listcomp|setcomp|dictcomp)>")


class Anchor(NamedTuple):
    """A switch to repeat, and where its place is now.

    Attributes:
        switch: as it was recorded.
        line: the line now; 0 if the switch has no place; None if the line was not found.
        column: the column now; 0 if unknown.
        function: the named function that contains the line now.
        why: why it was not found.
    """

    switch: Switch
    line: int | None
    column: int = 0
    function: str = ""
    why: str = ""

    @property
    def moved(self) -> bool:
        """Whether the line number or the function has changed."""
        place = self.switch.place
        return place is not None and self.line is not None and (self.line, self.function) != (place.line, named(place))


def named(place: Place) -> str:
    """The named function that contains a place."""
    return _INNER.sub("", place.function) or "<module>"


class PlaceAnchors:
    """Adds the texts of lines to places of a run, for files that have not changed since.

    Args:
        program: the program that ran.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._sources: dict[str, Source | None] = {}

    def of(self, place: Place) -> Place:
        """The place with the text of its line, and how many there are before it in its function."""
        if place.text:
            return place
        if place.file not in self._sources:
            self._sources[place.file] = _parsed(vouched_text(self._program, place))
        source = self._sources[place.file]
        if source is None:
            return place
        text, repeat = source.anchor_of(place.line)
        return replace(place, text=text, repeat=repeat, indentation=source.indentation(place.line))


def with_anchors(log: Log) -> Log:
    """The log with line texts added to its places, for files that have not changed since the run."""
    anchors = PlaceAnchors(log.program)
    switches = []
    for switch in log.switches:
        if switch.place is not None:
            switch = replace(switch, place=anchors.of(switch.place))
        if switch.wake is not None and switch.wake.place is not None:
            switch = replace(switch, wake=replace(switch.wake, place=anchors.of(switch.wake.place)))
        switches.append(switch)
    return replace(log, switches=tuple(switches))


def find_anchors(log: Log) -> list[Anchor]:
    """Locate the switches of a log's schedule in the current sources."""
    sources: dict[str, Source | None] = {}
    found = []
    for switch in log.switches:
        if switch.by_default:
            continue
        place = switch.place
        if place is None:
            found.append(Anchor(switch, 0))
            continue
        if place.file not in sources:
            sources[place.file] = read_source(_path(log.program, place))
        found.append(_find(switch, place, sources[place.file]))
    return found


def _path(program: Program, place: Place) -> str:
    """The current path: the log may have been recorded elsewhere (another checkout, a private copy)."""
    here = Path(program.directory) / place.file
    return str(here) if os.path.exists(here) else place.path


def _find(switch: Switch, place: Place, source: Source | None) -> Anchor:
    if source is None:
        return Anchor(switch, None, why=f"{place.file} cannot be read")
    if not place.text:
        return Anchor(switch, None, why="the log does not contain the text of its line")
    if not switch.visit:
        return Anchor(switch, None, why="the log does not say which visit it was (the log was not verified)")
    wanted = named(place)
    lines = source.lines_with(place.text)
    own = [line for line in lines if source.function_of(line) == wanted]
    if not own and len({source.function_of(line) for line in lines}) == 1:
        own = lines  # the function was renamed
    if not own:
        return Anchor(switch, None, why=f"`{place.text}` is not in {wanted} any more")
    line = own[min(place.repeat, len(own) - 1)]
    column = max(1, place.column - place.indentation + source.indentation(line)) if place.column else 0
    return Anchor(switch, line, column, source.function_of(line))


class Source:
    """The text of one file, indexed by line and function. Lines are numbered from 1."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()
        self._functions = ["<module>"] * (len(self._lines) + 2)
        # Outer functions come first, so that inner ones overwrite their lines.
        for name, node in _functions(parsed(text), ""):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            for line in range(first, (node.end_lineno or first) + 1):
                self._functions[line] = name

    def text(self, line: int) -> str:
        """A line stripped of surrounding blanks; empty if there is no such line."""
        return self._lines[line - 1].strip() if 0 < line <= len(self._lines) else ""

    def indentation(self, line: int) -> int:
        """The number of columns before a line's text."""
        whole = self._lines[line - 1] if 0 < line <= len(self._lines) else ""
        return len(whole) - len(whole.lstrip())

    def function_of(self, line: int) -> str:
        """The qualified name of the function that contains a line."""
        return self._functions[line] if 0 < line < len(self._functions) else "<module>"

    def lines_with(self, text: str) -> list[int]:
        """The numbers of the lines with this text."""
        return [number for number, line in enumerate(self._lines, 1) if line.strip() == text]

    def anchor_of(self, line: int) -> tuple[str, int]:
        """(text, the number of earlier lines in the same function with the same text)."""
        text = self.text(line)
        function = self.function_of(line)
        return text, sum(self.function_of(number) == function for number in self.lines_with(text) if number < line)


def read_source(path: str) -> Source | None:
    """The source in a file; None if it cannot be read or parsed."""
    try:
        return _parsed(read_regular(Path(path), LARGEST_SOURCE_BYTES).decode("utf-8"))
    except (LogError, ValueError):
        return None


def _parsed(text: str | None) -> Source | None:
    try:
        return None if text is None else Source(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):  # the last two for what is nested deeply
        return None


def _functions(
    node: ast.AST, prefix: str
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = f"{prefix}{child.name}"
            yield name, child
            inside = "." if isinstance(child, ast.ClassDef) else ".<locals>."
            yield from _functions(child, name + inside)
        else:
            yield from _functions(child, prefix)
