"""What only adds names, and what only takes names away: tried before a search between versions that share little.

Rules of this module:

* A version that has been restructured defines new names in one place and uses them in many others. Once all that is new
  is there and all that is old still is, hardly any mixture misses a name.
* An addition is a new file, a function that arrives from another one, a function or class that the old version of its
  file does not have, or an import or assignment of names that it does not have. A removal is the same, seen from the
  new version.
* This is a guess: adding a name may change what a program does. What comes of it is run, like any other mixture.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from replay_dd.changes.bound import bound_at_top
from replay_dd.changes.difference import Difference
from replay_dd.changes.file_change import FileChange, Kind
from replay_dd.changes.mending import Breaks
from replay_dd.changes.names import names_defined, names_imported, words_of
from replay_dd.changes.outlines import is_python, outline
from replay_dd.dd import IntervalSet

LEAST_HUNKS = 100
"""With fewer hunks, a search can do without."""


def additions(difference: Difference, universe: IntervalSet, breaks: Breaks) -> IntervalSet:
    """The changes that only add names; applied alone, they leave files that parse."""
    found = _one_sided(difference, universe, new=True)
    return found - difference.deltas_at([one.path for one in breaks(found)]) if found else found


def removals(difference: Difference, universe: IntervalSet, breaks: Breaks) -> IntervalSet:
    """The changes that only take names away; without them, the files of the new version parse."""
    found = _one_sided(difference, universe, new=False)
    return found - difference.deltas_at([one.path for one in breaks(universe - found)]) if found else found


def _one_sided(difference: Difference, universe: IntervalSet, *, new: bool) -> IntervalSet:
    """The changes that define what the other version does not have.

    Args:
        difference: the two versions.
        universe: the changes that count.
        new: those of the new version; otherwise those of the old one.
    """
    whole = (Kind.ADD, Kind.ARRIVE) if new else (Kind.REMOVE,)
    found: list[int] = []
    for number, file in enumerate(difference.files):
        deltas = difference.deltas_of(number) & universe
        found += [delta for delta in deltas if difference.kind(delta) in whole]
        of_line: dict[int, int] = {}
        for delta in deltas:
            change = difference.line_change(delta)
            if change is not None and (change.old == change.old_stop if new else change.new == change.new_stop):
                of_line[change.new if new else change.old] = delta
        if of_line:
            units = _units(file, set(of_line), new=new)
            found += [of_line[line] for unit in units for line in unit]
    return IntervalSet.of(sorted(found))


def _units(file: FileChange, changed: set[int], *, new: bool) -> Iterator[list[int]]:
    """The lines of functions, classes and statements that the other version does not have: none of them stays."""
    lines, others = (file.after, file.before) if new else (file.before, file.after)
    found, other = outline(file, new=new), outline(file, new=not new)
    symbols = {other.symbol_at(line) for line in range(len(others))}
    words = words_of(b"".join(others).decode("utf-8", "replace"))
    bound = bound_at_top(others) if is_python(file) else words
    units: dict[object, list[int]] = {}
    for line in range(len(lines)):
        parts = found.symbol_at(line).split(".")
        prefixes = (".".join(parts[:count]) for count in range(1, len(parts) + 1))
        own = next((prefix for prefix in prefixes if prefix and prefix not in symbols), None)
        if own is not None:
            units.setdefault(own, []).append(line)
        elif not found.is_in_function(line) and lines[line].strip():
            units.setdefault(found.statement_at(line), []).append(line)
    for unit, members in units.items():
        there = words if found.symbol_at(members[0]) else bound
        if set(members) <= changed and (isinstance(unit, str) or _defines(file, lines, members, there)):
            yield members


def _defines(file: FileChange, lines: Sequence[bytes], members: Sequence[int], there: Collection[str]) -> bool:
    """Whether a statement defines or imports names, and none that the other version of the file has."""
    texts = [lines[line].decode("utf-8", "replace") for line in members]
    names = set(names_imported(" ".join(map(str.strip, texts))))
    names.update(*(names_defined(text, python=is_python(file)) for text in texts))
    return bool(names) and names.isdisjoint(there)
