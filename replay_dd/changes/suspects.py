"""Which functions and classes are suspected: where two versions behave differently, and where the failing one failed.

Rules of this module:

* Suspected is what diverges, what only one version calls there, what the stack of the failing run names, and the
  classes and functions around all that: a class binds what its instances do.
* An exception that only one version ends with is the failure, or leads to it; other values may be meant to differ.
* This decides only what is asked first, and is never an answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from replay_dd.changes.clues import Clues
from replay_dd.changes.difference import Difference
from replay_dd.changes.divergences import Divergence, only_in_one
from replay_dd.changes.levels import STATEMENT, groups, symbol_of
from replay_dd.changes.outlines import outline
from replay_dd.changes.pieces import pieces
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
    at = {place: part for part in parts for place in _places(difference, part.first)}
    failing, other = ([one for one in diverged if one.fails is fails] for fails in (True, False))
    named = [*_of_calls(failing), *_of_stack(difference, clues), *_of_calls(other)]
    around = [(path, outer) for path, symbol in named for outer in _around(symbol)]
    return list(dict.fromkeys(at[place] for place in (*named, *around) if place in at))


def likeliest(difference: Difference, diverged: Sequence[Divergence]) -> list[Divergence]:
    """Of what diverges, what was changed, if anything was; and of that, what is the failure."""
    changed = {place for delta in difference.all for place in _places(difference, delta)}
    found = [one for one in diverged if not changed.isdisjoint(_of_calls([one]))] or [*diverged]
    return [one for one in found if one.fails] or found


def blocks_in(difference: Difference, suspected: Sequence[IntervalSet]) -> Iterator[IntervalSet]:
    """The changes of single statements in suspected parts, each with all that cannot be there without it.

    Such as the head of a new block with all of that: outer blocks come before those inside of them.
    """
    users: dict[int, dict[int, list[int]]] = {}  # of each file: which changes need one
    for part in suspected:
        number = difference.file_of(part.first)
        if not difference.files[number].lines:
            continue
        if number not in users:
            users[number] = _users(difference, number)
        for statement in groups(difference, part, STATEMENT):
            block, waiting = set(statement), [*statement]
            while waiting:
                more = [delta for delta in users[number].get(waiting.pop(), ()) if delta not in block]
                block.update(more)
                waiting += more
            yield IntervalSet.of(sorted(block))


def _users(difference: Difference, number: int) -> dict[int, list[int]]:
    """Which changes of a file cannot be there without one, by the grammar."""
    file = difference.files[number]
    first = difference.deltas_of(number).first + len(file.kinds)
    found = pieces(file)
    members = found.members()
    users: dict[int, list[int]] = {}
    for change, needed in found.needs.items():
        own = [first + one for one in members[found.statements[change]]]
        for other in needed:
            for one in members[found.statements[other]]:
                users.setdefault(first + one, []).extend(own)
    return users


def _places(difference: Difference, delta: int) -> Iterator[Place]:
    file, symbol = difference.files[difference.file_of(delta)], symbol_of(difference, delta)
    return ((path, symbol) for path in (file.old_path, file.new_path) if path is not None)


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
