"""What is tried on a program, in which order.

Rules of this module:

* Coarse first: files, statements by depth (hierarchical delta debugging: Misherghi and Su, ICSE 2006), what is inside
  blocks, lists and optional parts. Then what puts something simpler in the place of something else. Names and
  characters come last, when few are left.
* All of it is repeated until nothing changes. Then each edit was tried on the very program that is the answer: it is
  1-minimal under these edits. One more round confirms that, where answers are confirmed at all.
* A program is parsed once for each space; the programs in it are cut out of its text.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial
from itertools import count

from replay_dd.code.characters import leave_out_characters
from replay_dd.code.edits import Edit, Space
from replay_dd.code.expressions import (
    CONSTANTS,
    child_instead,
    constant_instead,
    empty_strings,
    leave_out_elements,
    leave_out_parts,
)
from replay_dd.code.names import Trees, inline_variables, leave_out_parameters, shorten_names
from replay_dd.code.source import Program
from replay_dd.code.statements import leave_out_blank_lines, leave_out_statements, pass_instead, unwrap
from replay_dd.code.syntax import Node, parse

Course = Generator[Space, Program, None]
"""Spaces to search, one after the other; it is sent the program that each search found."""

_OfFile = Callable[[int, bytes, Node], list[Edit]]
_OfAll = Callable[[Trees], list[Edit]]
_MOST_ROUNDS = 20  # no program is known that needs more than 5


def course(program: Program) -> Course:
    """All searches for one answer.

    Args:
        program: the program that fails.
    """
    confirmed = False
    for _ in range(_MOST_ROUNDS):
        before = program
        program = yield from _until_stable(program, _COARSE, confirm=confirmed)
        program = yield from _once(program, (*_SIMPLER, *_LAST), confirm=confirmed)
        if program != before:
            confirmed = False
        elif confirmed:
            return
        else:
            confirmed = True


_Search = Generator[Space, Program, Program]


def _until_stable(program: Program, stages: Sequence[_Stage], *, confirm: bool) -> _Search:
    while True:
        before = program
        program = yield from _once(program, stages, confirm=confirm)
        if program == before:
            return program


def _once(program: Program, stages: Sequence[_Stage], *, confirm: bool) -> _Search:
    for stage in stages:
        for step in count():
            unit, edits = stage(program, step)
            if not edits:
                break
            space = Space(program, unit, edits, apart=unit != "character")
            space.confirmed = confirm
            program = yield space
    return program


_Stage = Callable[[Program, int], tuple[str, Sequence[Edit]]]


def _trees(program: Program) -> Trees:
    return [(file.content, parse(file.content)) if file.is_python else None for file in program.files]


def _each_file(
    unit: str, edits: Callable[[int, bytes, Node, int], list[Edit]], program: Program, step: int
) -> tuple[str, Sequence[Edit]]:
    found = (edits(file, *tree, step) for file, tree in enumerate(_trees(program)) if tree is not None)
    return unit, [edit for some in found for edit in some]


def _stepped(unit: str, edits: Callable[[int, bytes, Node, int], list[Edit]]) -> _Stage:
    """A stage of several steps: depths, or ranks of what comes in the place of something else."""
    return partial(_each_file, unit, edits)


def _flat(unit: str, *edits: _OfFile) -> _Stage:
    """A stage with a step for each of some functions."""

    def of_step(file: int, content: bytes, tree: Node, step: int) -> list[Edit]:
        return edits[step](file, content, tree) if step < len(edits) else []

    return partial(_each_file, unit, of_step)


def _whole(unit: str, edits: _OfAll) -> _Stage:
    """A stage of one step for all files together."""

    def stage(program: Program, step: int) -> tuple[str, Sequence[Edit]]:
        return unit, [] if step else edits(_trees(program))

    return stage


def _files(program: Program, step: int) -> tuple[str, Sequence[Edit]]:
    if step or len(program.files) == 1:
        return "file", []
    return "file", [Edit(number, 0, len(file.content), removes=True) for number, file in enumerate(program.files)]


def _constants() -> Iterator[_OfFile]:
    for constant in CONSTANTS:
        yield partial(constant_instead, constant=constant)


_COARSE: Sequence[_Stage] = (
    _files,
    _stepped("statement", leave_out_statements),
    _stepped("block", unwrap),
    _flat("element", leave_out_elements),
    _flat("part", leave_out_parts),
    _whole("parameter", leave_out_parameters),
    _flat("blank line", leave_out_blank_lines),
)
_SIMPLER: Sequence[_Stage] = (
    _stepped("expression", child_instead),
    _flat("constant", *_constants(), empty_strings),
    _whole("variable", inline_variables),
    _flat("statement", pass_instead),
)
_LAST: Sequence[_Stage] = (
    _whole("name", shorten_names),
    _flat("character", leave_out_characters),
)
