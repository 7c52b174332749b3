"""Functions of the answer that came from another file, and what changed in them on the way.

Rules of this module:

* A function that moves into a file that was there before comes as lines that are added, and goes as lines that are
  removed. Which of them changed is told beside the answer: it is seen in the texts, not proved by tests.
* What moved is found as :mod:`~replay_dd.changes.moved` finds it for new files.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass

from replay_dd.changes.difference import Difference
from replay_dd.changes.levels import symbol_of
from replay_dd.changes.moved import SIMILAR, functions_in, share
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
    names = {name.encode() for _, name in touched if name}
    gone: dict[str, list[tuple[int, list[bytes]]]] = {}
    come: list[tuple[str, int, list[bytes]]] = []
    for number, file in enumerate(difference.files):
        if not any(name in line for name in names for line in (*file.before, *file.after)):
            continue  # to find its functions, it would be parsed twice
        before, after = functions_in(file.path, file.before), functions_in(file.path, file.after)
        for name in before.keys() - after.keys():
            gone.setdefault(name, []).append((number, list(file.before[before[name].start : before[name].stop])))
        come += [
            (name, number, list(file.after[where.start : where.stop]))
            for name, where in after.items()
            if name not in before
        ]
    for name, number, lines in come:
        sources = gone.get(name, [])
        if len(sources) != 1 or not {(number, name), (sources[0][0], name)} & touched:
            continue
        source, was = sources[0]
        if was == lines or share(was, lines) < SIMILAR:
            continue
        codes = difflib.SequenceMatcher(None, was, lines, autojunk=False).get_opcodes()
        removed = tuple(line for kind, one, stop, _, _ in codes if kind != "equal" for line in was[one:stop])
        added = tuple(line for kind, _, _, one, stop in codes if kind != "equal" for line in lines[one:stop])
        yield Move(name, difference.files[source].path, difference.files[number].path, removed, added)
