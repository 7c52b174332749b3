"""What the edits of a stage make of a text, each alone."""

from __future__ import annotations

from collections.abc import Callable

from replay_dd.code.edits import Edit, Space
from replay_dd.code.source import Program, read_python
from replay_dd.code.syntax import Node, parse
from replay_dd.dd import IntervalSet

OfFile = Callable[[int, bytes, Node], list[Edit]]


def space_of(text: str, edits: OfFile) -> Space:
    content = text.encode()
    return Space(Program((read_python("a.py", content),)), "edit", edits(0, content, parse(content)))


def each_alone(text: str, edits: OfFile) -> list[str]:
    """The text after each edit alone; those that do not parse are marked."""
    space = space_of(text, edits)
    return [_built(space, space.all - IntervalSet.of([number])) for number in range(len(space.edits))]


def all_together(text: str, edits: OfFile) -> str:
    space = space_of(text, edits)
    return _built(space, IntervalSet.of([]))


def _built(space: Space, kept: IntervalSet) -> str:
    program = space.build(kept)
    (file,) = program.files
    return file.content.decode() + ("" if program.parses else "<does not parse>")
