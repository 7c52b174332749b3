"""Functions of the answer that came from another file, and what changed in them on the way.

Rules of this module:

* All that changed in such a function is told beside the answer, which may be a part of it, or that it went.
* What moved is found by :mod:`~replay_dd.changes.moved`, in files that were there before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from replay_dd.changes.difference import Difference
from replay_dd.changes.levels import symbol_of
from replay_dd.dd import IntervalSet


@dataclass(frozen=True, slots=True)
class Move:
    """A function or class that moved from one file to another.

    Attributes:
        name: its name.
        source: the file that it came from.
        target: the file that it is in now.
        removed: its lines that are gone.
        added: those that are new.
    """

    name: str
    source: str
    target: str
    removed: tuple[bytes, ...]
    added: tuple[bytes, ...]


def moves_in(difference: Difference, deltas: IntervalSet) -> Iterator[Move]:
    """The functions and classes that these deltas touch, and that moved and changed.

    Args:
        difference: the two versions.
        deltas: the changes that count.
    """
    touched = {(difference.file_of(delta), symbol_of(difference, delta).partition(".")[0]) for delta in deltas}
    numbers = {file.old_path: number for number, file in enumerate(difference.files) if file.old_path is not None}
    for number, file in enumerate(difference.files):
        for one in file.arrivals:
            if {(number, one.name), (numbers.get(one.source), one.name)} & touched:
                changes = [change for change in file.lines if one.contains(change)]
                first = one.before.start + one.brought
                removed = tuple(
                    line for change in changes for line in file.before[max(change.old, first) : change.old_stop]
                )
                added = tuple(line for change in changes for line in file.after[change.new : change.new_stop])
                yield Move(one.name, one.source, file.path, removed, added)
