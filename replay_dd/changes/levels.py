"""Groups of deltas, from folders down to lines, that are likely to make sense only together.

Rules of this module:

* A mixture with only some of the changes that belong together often cannot be built or does not run, which tells a
  search nothing. So whole folders come first, then files, functions and classes, hunks, and lines last (ESEC/FSE 1999,
  section 5).
* Groups of one level are disjoint, contain every delta, and never cross those of the level above.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping

from replay_dd.changes.difference import Difference
from replay_dd.changes.outlines import Outline, outline
from replay_dd.changes.pieces import pieces
from replay_dd.dd import IntervalSet


def by_folder(difference: Difference, delta: int) -> Hashable:
    """The folder of the delta's file."""
    return difference.files[difference.file_of(delta)].path.rpartition("/")[0]


def by_file(difference: Difference, delta: int) -> Hashable:
    """The delta's file."""
    return difference.file_of(delta)


def by_symbol(difference: Difference, delta: int) -> Hashable:
    """The function or class around the delta."""
    return difference.file_of(delta), symbol_of(difference, delta)


def by_hunk(difference: Difference, delta: int) -> Hashable:
    """The neighbouring changed lines, with the rest of what belongs to their statements."""
    place = difference.place_of_line(delta)
    # A function that is moved away and one that comes in its place may share a hunk.
    number = -1 - difference.local(delta) if place is None else pieces(place[0]).hunks[place[1]]
    return by_symbol(difference, delta), number


def by_statement(difference: Difference, delta: int) -> Hashable:
    """The statement (the head of a compound one) around the delta; where the grammar is not known, the delta itself."""
    place = difference.place_of_line(delta)
    return delta if place is None else (by_symbol(difference, delta), pieces(place[0]).statements[place[1]])


def by_line(difference: Difference, delta: int) -> Hashable:
    """The delta itself."""
    return delta


STATEMENT, LINE = "statement", "line"

LEVELS: Mapping[str, Callable[[Difference, int], Hashable]] = {
    "folder": by_folder,
    "file": by_file,
    "function": by_symbol,
    "hunk": by_hunk,
    STATEMENT: by_statement,
    LINE: by_line,
}
"""The levels, coarse ones first: to which group of its level a delta belongs."""

DEFAULT_LEVELS = tuple(level for level in LEVELS if level != LINE)
"""Single lines rarely make sense without the rest of their statement, unless it is a long one."""
_LONG = 8  # changed lines of a statement: more are those of a table, as a list or a dictionary is


def groups(difference: Difference, deltas: IntervalSet, level: str) -> tuple[IntervalSet, ...]:
    """Partition deltas into the groups of a level, in the order of their first deltas."""
    found: dict[Hashable, list[int]] = {}
    group_of = LEVELS[level]
    for delta in deltas:
        found.setdefault(group_of(difference, delta), []).append(delta)
    return tuple(IntervalSet.of(members) for members in found.values())


def is_long(difference: Difference, deltas: IntervalSet) -> bool:
    """Whether some deltas are those of one statement, and so many that single lines may make sense, as of a table."""
    if deltas.count <= _LONG or len(groups(difference, deltas, STATEMENT)) > 1:
        return False
    return symbol_of(difference, deltas.first) not in pieces(difference.files[difference.file_of(deltas.first)]).gone


def is_local(difference: Difference, delta: int) -> bool:
    """Whether a line is in the body of a function of C or the like, so that what it defines is not seen elsewhere."""
    found = _outline_at(difference, delta)
    return found is not None and found[0].is_local(found[1])


def is_in_function(difference: Difference, delta: int) -> bool:
    """Whether a line belongs to a function."""
    found = _outline_at(difference, delta)
    return found is not None and found[0].is_in_function(found[1])


def symbol_of(difference: Difference, delta: int) -> str:
    """The name of the function or class around a line, or that arrives; empty outside of all."""
    arrival = difference.arrival(delta)
    if arrival is not None:
        return arrival.name
    found = _outline_at(difference, delta)
    return "" if found is None else found[0].symbol_at(found[1])


def _outline_at(difference: Difference, delta: int) -> tuple[Outline, int] | None:
    """The outline that tells where a line is, the new one for an added line, and its number there."""
    change = difference.line_change(delta)
    if change is None:
        return None
    adds = change.new < change.new_stop
    return outline(difference.files[difference.file_of(delta)], new=adds), change.new if adds else change.old
