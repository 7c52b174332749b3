"""Functions that moved into a new file, and changed on the way.

Rules of this module:

* A new file is one delta, unless functions or classes came into it from a file where they are gone. Then what changed
  in them is found as anywhere else: the file comes with the functions as they were, and their lines change.
* Only what has the same name, and is much alike, has moved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from replay_dd.changes.line_changes import defined_at_top
from replay_dd.changes.outlines import symbols_of

SIMILAR = 0.5
"""The share of lines that a function which moved keeps at least."""
_Lines = Sequence[bytes]


class Lost(NamedTuple):
    """A file that may have lost functions.

    Attributes:
        path: where it was.
        before: its lines.
        after: what is left of them.
    """

    path: str
    before: _Lines
    after: _Lines


def as_they_were(path: str, lines: _Lines, others: Sequence[Lost]) -> _Lines:
    """The lines of a new file, with the functions and classes that moved there as they were before.

    Args:
        path: where the file is.
        lines: its lines.
        others: the files that may have lost them.
    """
    heads = set(_heads(lines))
    sources = [other for other in others if heads & (set(_heads(other.before)) - set(_heads(other.after)))]
    if not sources:
        return lines
    gone: dict[str, list[_Lines]] = {}
    for source in sources:
        left = functions_in(source.path, source.after)
        for name, where in functions_in(source.path, source.before).items():
            if name not in left:
                gone.setdefault(name, []).append(source.before[where.start : where.stop])
    result = list(lines)
    for name, where in reversed(functions_in(path, lines).items()):
        text = lines[where.start : where.stop]
        came_from = gone.get(name, [])
        if len(came_from) == 1 and share(came_from[0], text) >= SIMILAR:
            result[where.start : where.stop] = came_from[0]
    return result


def _heads(lines: _Lines) -> Iterator[bytes]:
    return filter(None, map(defined_at_top, lines))


def functions_in(path: str, lines: _Lines) -> dict[str, range]:
    """Where the functions and classes that lie in no other one begin and end, in order."""
    places: dict[str, list[int]] = {}
    for number, symbol in enumerate(symbols_of(path, lines)):
        places.setdefault(symbol.partition(".")[0], []).append(number)
    found = {name: range(numbers[0], numbers[-1] + 1) for name, numbers in places.items() if name}
    # Of two with one name, it cannot be told which has moved.
    return {name: where for name, where in found.items() if len(where) == len(places[name])}


def share(one: _Lines, other: _Lines) -> float:
    """How many lines two functions have in common, of all that are not blank."""
    left, right = (Counter(line.strip() for line in lines if line.strip()) for lines in (one, other))
    return 2 * (left & right).total() / max(left.total() + right.total(), 1)
