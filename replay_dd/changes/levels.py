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
from replay_dd.changes.outlines import outline
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
    """The neighbouring changed lines."""
    change = difference.line_change(delta)
    # A function that is moved away and one that comes in its place may share a hunk.
    number = -1 - difference.local(delta) if change is None else change.hunk
    return by_symbol(difference, delta), number


def by_statement(difference: Difference, delta: int) -> Hashable:
    """The statement (the head of a compound one) around the delta; where the grammar is not known, the delta itself."""
    change = difference.line_change(delta)
    if change is None:
        return delta
    adds = change.new < change.new_stop
    found = outline(difference.files[difference.file_of(delta)], new=adds)
    if not found.has_statements:
        return delta
    start = found.statement_at(change.new if adds else change.old)
    return by_hunk(difference, delta), adds, start


def by_line(difference: Difference, delta: int) -> Hashable:
    """The delta itself."""
    return delta


LEVELS: Mapping[str, Callable[[Difference, int], Hashable]] = {
    "folder": by_folder,
    "file": by_file,
    "function": by_symbol,
    "hunk": by_hunk,
    "statement": by_statement,
    "line": by_line,
}
"""The levels, coarse ones first: to which group of its level a delta belongs."""

DEFAULT_LEVELS = tuple(level for level in LEVELS if level != "line")
"""Single lines rarely make sense without the rest of their statement."""


def groups(difference: Difference, deltas: IntervalSet, level: str) -> tuple[IntervalSet, ...]:
    """Partition deltas into the groups of a level, in the order of their first deltas."""
    found: dict[Hashable, list[int]] = {}
    group_of = LEVELS[level]
    for delta in deltas:
        found.setdefault(group_of(difference, delta), []).append(delta)
    return tuple(IntervalSet.of(members) for members in found.values())


def symbol_of(difference: Difference, delta: int) -> str:
    """The name of the function or class around a line; empty outside of all."""
    change = difference.line_change(delta)
    if change is None:
        return ""
    file = difference.files[difference.file_of(delta)]
    adds = change.new < change.new_stop
    return outline(file, new=adds).symbol_at(change.new if adds else change.old)
