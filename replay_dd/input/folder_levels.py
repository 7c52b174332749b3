"""What is searched in a folder, one level after the other.

Rules of this module:

* Files are left out first, folders before what is in them; then parts of all files that are left. If that has made a
  file superfluous, all of it is repeated.
* Each file is cut as its content and its language demand; all of them are searched together.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence

from replay_dd.input.folder import Packing
from replay_dd.input.grammars import knows
from replay_dd.input.levels import Course, Tree, default_levels, is_dense, levels_named, marked, prune
from replay_dd.input.space import Inside, Space, Subtrees
from replay_dd.input.trees import Cut, Node, Parse
from replay_dd.input.units import Level

LevelOfFile = Callable[[str, bytes], Level | Tree]
"""Chooses the level for a file in a folder, by its path and its content."""


def levels_in_folder(names: str | None = None, delimiter: Level | None = None) -> tuple[LevelOfFile, ...]:
    """The levels for the files of a folder.

    Args:
        names: their names, as for :func:`levels_named`; a file in an unknown language gets brackets and words in the
            place of a tree and tokens. By default, those of :func:`default_levels`.
        delimiter: a level before all others.

    Raises:
        UsageError: one of them does not exist.
        SoftwareMissingError: what knows the language of a file is not installed; when that is needed.
    """

    def named(name: str) -> LevelOfFile:
        plain = {"tree": "brackets", "tokens": "words"}.get(name, name)
        (fallback,) = levels_named(plain, "")
        if plain == name:
            return lambda path, body: fallback
        made: dict[str, Level | Tree] = {}

        def of_file(path: str, body: bytes) -> Level | Tree:
            if not knows(path):
                return fallback
            if path not in made:
                (made[path],) = levels_named(name, path)
            return made[path]

        return of_file

    def default(number: int) -> LevelOfFile:
        return lambda path, body: (default_levels(body) * 3)[number]

    first: list[LevelOfFile] = [] if delimiter is None else [lambda path, body: delimiter]
    if names is None:
        return tuple(first) or (default(0), default(1), default(2))
    return (*first, *(named(name.strip()) for name in names.split(",")))


def folder_course(data: bytes, packing: Packing, levels: Sequence[LevelOfFile]) -> Course:
    """All searches for one answer in a folder.

    Args:
        data: its packed files.
        packing: how they are packed.
        levels: the levels inside the files, in order.
    """
    # Between all and nothing first: a folder may have only one file.
    _, data = yield marked(Subtrees(data, [[Node(0, len(data), "folder")]]), True)
    data = yield from prune(data, packing.tree, True)
    while True:
        for number in range(len(levels)):
            data = yield from _inside_files(data, packing, levels, number)
        inside = data
        data = yield from prune(data, packing.tree, False)
        if data == inside:
            return


def _inside_files(
    data: bytes, packing: Packing, levels: Sequence[LevelOfFile], number: int
) -> Generator[Space, tuple[bytes, bytes], bytes]:
    level, coarse = levels[number], number < len(levels) - 1

    def parser(path: str, body: bytes) -> Parse | None:
        chosen = level(path, body)
        return chosen.parse if isinstance(chosen, Tree) else None

    data = yield from prune(data, packing.trees_inside(parser), coarse)
    flat: list[tuple[Cut, Level]] = []
    dense = number > 0
    for file in packing.files(data):
        body = data[slice(*file.body)]
        chosen = level(file.path, body)
        if body and isinstance(chosen, Level):
            flat.append((file.body, chosen))
            dense = dense and is_dense(chosen, levels[number - 1](file.path, body))
    if flat:
        space = marked(Inside(data, flat), coarse)
        space.dense = dense
        _, data = yield space
    return data
