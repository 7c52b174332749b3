"""What a failure says about its cause: changes that are tried before a search, alone and left out.

Rules of this module:

* Three things hint at changes: the names in the message of a failure, the functions on its stack, and the functions
  that the program names which is run. Each guess contains the one before it.
* Where a name is missing, what takes it away is tried first, as it is: a single line of a module that was written anew
  may be all that it takes.
* A guess is never an answer. It saves a search between versions that share little, where nearly no mixture of their
  changes runs at all.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from replay_dd.changes.dependences import MOST_UNITS, Dependences
from replay_dd.changes.difference import Difference
from replay_dd.changes.file_change import Kind
from replay_dd.changes.levels import symbol_of
from replay_dd.changes.names import missing_names, words_of
from replay_dd.changes.outlines import outline
from replay_dd.changes.tree import Tree
from replay_dd.dd import EMPTY, IntervalSet

LEAST_GROUPS = 8
"""With fewer groups, a search needs hardly more tests than the guesses would take."""
_MOST_OF_IT = 0.5  # a guess of more than this share of all changes tells nothing
_LARGEST_PROGRAM = 200_000
_LEAST_LETTERS = 3
# As Python prints its frames, and as most other languages and tools name a place.
_PLACES = re.compile(r'File "([^"\n]+)", line (\d+)|((?:[\w.+-]+/)*[\w+-]+\.[A-Za-z]\w{0,3}):(\d+)\b')


@dataclass(frozen=True, slots=True)
class Clues:
    """What the output of a failing run names.

    Attributes:
        names: the names in its message.
        places: files, relative to the version, and lines from 0.
    """

    names: tuple[str, ...] = ()
    places: tuple[tuple[str, int], ...] = ()


NO_CLUES = Clues()


def clues_in(output: bytes) -> Clues:
    """Read what a failing run printed."""
    text = output.decode("utf-8", "replace")
    places = dict.fromkeys((found[1] or found[3], int(found[2] or found[4]) - 1) for found in _PLACES.finditer(text))
    return Clues(missing_names(output), tuple(places))


def program_words(command: Sequence[str], tree: Tree) -> frozenset[str]:
    """The names in the program that is run: in the files among its arguments, and in these themselves.

    Args:
        command: the program and its arguments.
        tree: the version that it runs in.
    """
    found: set[str] = set()
    for argument in command[1:]:
        name = argument.partition("::")[0]
        path = tree[name].path if name in tree else Path(name)
        with contextlib.suppress(OSError, ValueError):
            if not path.is_file():
                found.update(words_of(argument))
            elif path.stat().st_size <= _LARGEST_PROGRAM and b"\0" not in (content := path.read_bytes()):
                found.update(words_of(content.decode("utf-8", "replace")))
    return frozenset(found)


def guesses(
    dependences: Dependences, clues: Clues, program: frozenset[str], universe: IntervalSet
) -> list[IntervalSet]:
    """Sets of changes that are suspected, the likeliest first; each contains the one before it.

    Args:
        dependences: which changes belong together.
        clues: what the new version printed as it failed.
        program: the names in the program that is run.
        universe: the changes that are searched.
    """
    found: list[IntervalSet] = []
    all_ = EMPTY
    difference = dependences.difference
    for more in (
        _named(dependences, clues.names),
        _at_places(difference, clues.places),
        _of_names(difference, program),
    ):
        all_ = all_ | (more & universe)
        if all_ and all_.count <= _MOST_OF_IT * universe.count and all_ not in found:
            found.append(all_)
    return found


def taking_away(dependences: Dependences, wanted: Sequence[str], universe: IntervalSet) -> IntervalSet:
    """The lines that take names away, each as it is: an import, or the head of a definition.

    A file that goes as a whole, or comes in the place of another one, needs more than that.
    """
    found, names, difference = EMPTY, dependences.names, dependences.difference
    for name in wanted:
        gone = IntervalSet.of(
            [
                delta
                for delta in (names.undefining(name) | names.unimporting(name)) & universe
                if difference.line_change(delta) and difference.files[difference.file_of(delta)].old is not None
            ]
        )
        if len(dependences.units(gone)) <= MOST_UNITS:
            found = found | gone
    return found


def _named(dependences: Dependences, wanted: Sequence[str]) -> IntervalSet:
    """The changes that define names, or take them away; otherwise those that mention them.

    Of a name that many define, those in a class or function count that is named, too.
    """
    found, names = EMPTY, dependences.names
    for name in wanted:
        units = dependences.units(names.defining(name) | names.undefining(name) or names.mentioning(name))
        if len(units) > MOST_UNITS:
            others = {*wanted} - {name}
            around = (symbol_of(dependences.difference, unit.first).split(".") for unit in units)
            units = tuple(unit for unit, parts in zip(units, around, strict=True) if not others.isdisjoint(parts))
        if len(units) <= MOST_UNITS:
            for unit in units:
                found = found | unit
    return found


def _at_places(difference: Difference, places: Sequence[tuple[str, int]]) -> IntervalSet:
    """The changes of the functions around these places of the new version; elsewhere, those of the line."""
    files = {file.new_path: number for number, file in enumerate(difference.files) if file.after}
    found: list[int] = []
    for path, line in places:
        number = files.get(path)
        if number is None:
            continue
        symbol = outline(difference.files[number], new=True).symbol_at(line)
        for delta in difference.deltas_of(number):
            change = difference.line_change(delta)
            if change is None or symbol_of(difference, delta) != symbol:
                continue
            if symbol or change.new <= line < max(change.new_stop, change.new + 1):
                found.append(delta)
    return IntervalSet.of(found)


def _of_names(difference: Difference, words: frozenset[str]) -> IntervalSet:
    """The changes of functions and classes with these names, and of what is inside of them."""
    wanted = {word for word in words if len(word) >= _LEAST_LETTERS}
    return IntervalSet.of(
        [
            delta
            for delta in difference.all
            if difference.kind(delta) is Kind.LINE and not wanted.isdisjoint(symbol_of(difference, delta).split("."))
        ]
    )
