"""Which functions and classes are suspected: where two versions behave differently, and where the failing one failed.

Rules of this module:

* Suspected is what the stack of the failing run names, what diverges, what only one version calls there, and the
  classes and functions around all that: a class binds what its instances do.
* This decides only what is asked first, and is never an answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from replay_dd.changes.clues import Clues
from replay_dd.changes.difference import Difference
from replay_dd.changes.divergences import Divergence, only_in_one
from replay_dd.changes.levels import symbol_of
from replay_dd.changes.outlines import outline
from replay_dd.dd import IntervalSet

Place = tuple[str, str]  # the path of a file, and the function or class


def suspects(
    difference: Difference, parts: Sequence[IntervalSet], diverged: Sequence[Divergence], clues: Clues
) -> list[IntervalSet]:
    """The parts that are suspected, the likeliest first.

    Args:
        difference: the two versions.
        parts: the changes of each function or class, and of each file outside of them.
        diverged: where the versions first behave differently.
        clues: what the failing version printed.
    """
    at: dict[Place, IntervalSet] = {}
    for part in parts:
        file = difference.files[difference.file_of(part.first)]
        for path in {file.old_path, file.new_path} - {None}:
            at[path or "", symbol_of(difference, part.first)] = part
    named = [*_of_calls(diverged), *_of_stack(difference, clues)]
    around = [(path, outer) for path, symbol in named for outer in _around(symbol)]
    return list(dict.fromkeys(at[place] for place in (*named, *around) if place in at))


def _of_calls(diverged: Sequence[Divergence]) -> Iterator[Place]:
    for found in diverged:
        for call in (found.new, *(call for calls in only_in_one(found) for call in calls)):
            yield call.path, call.name.replace(".<locals>", "")


def _of_stack(difference: Difference, clues: Clues) -> Iterator[Place]:
    files = {file.new_path: file for file in difference.files if file.after}
    for path, line in reversed(clues.places):
        if path in files:
            yield path, outline(files[path], new=True).symbol_at(line)


def _around(symbol: str) -> Iterator[str]:
    while symbol:
        symbol = symbol.rpartition(".")[0]
        yield symbol
