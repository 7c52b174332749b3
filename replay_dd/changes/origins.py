"""Files that functions may have come from, and what is gone from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from replay_dd.changes.line_changes import defined_at_top
from replay_dd.changes.outlines import symbols_of
from replay_dd.changes.written import Written, written
from replay_dd.grammars import language_named

_Lines = Sequence[bytes]


@dataclass(frozen=True)
class Source:
    """A file that functions may have come from; many files ask for what is gone from it.

    Attributes:
        path: where it was.
        before: its lines.
        after: what is left of them.
    """

    path: str
    before: _Lines
    after: _Lines

    @cached_property
    def lost_heads(self) -> frozenset[bytes]:
        """The names of functions and classes that begin in the old lines only."""
        return heads_of(self.before) - heads_of(self.after)

    @cached_property
    def gone(self) -> Mapping[str, _Lines]:
        """The functions and classes that are gone, with their lines."""
        left = functions_in(self.path, self.after)
        functions = functions_in(self.path, self.before)
        return {name: self.before[at.start : at.stop] for name, at in functions.items() if name not in left}

    def is_of_kind(self, path: str) -> bool:
        """Whether another file is in the same language: the heading of a text is no function of that name."""
        return _kind(self.path) == _kind(path)

    @cached_property
    def written(self) -> Written:
        """How it is written."""
        return written(self.path, self.before)


def _kind(path: str) -> str:
    language = language_named(path) or PurePosixPath(path).suffix
    return "c" if language == "cpp" else language


def heads_of(lines: _Lines) -> frozenset[bytes]:
    """The names of functions and classes that begin in the first column."""
    return frozenset(filter(None, map(defined_at_top, lines)))


def functions_in(path: str, lines: _Lines) -> dict[str, range]:
    """Where the functions and classes that lie in no other one begin and end, in order."""
    places: dict[str, list[int]] = {}
    for number, symbol in enumerate(symbols_of(path, lines)):
        places.setdefault(symbol.partition(".")[0], []).append(number)
    found = {name: range(numbers[0], numbers[-1] + 1) for name, numbers in places.items() if name}
    # Of two with one name, it cannot be told which has moved.
    heads = Counter(map(defined_at_top, lines))
    return {
        name: where for name, where in found.items() if len(where) == len(places[name]) and heads[name.encode()] < 2
    }
