"""Units of a file: what is kept or left out as a whole.

Rules of this module:

* A file is bytes. A unit is a stretch of them, and the units of a level make up the whole file, so that nothing gets
  lost: neither a carriage return, nor a byte that is no text.
* A level is told the content anew each time it is used, and cuts it the same way each time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from replay_dd.errors.user import UsageError

Edges = Sequence[int]
"""Where units begin, in increasing order from 0, and where the last one ends."""


@dataclass(frozen=True)
class Level:
    """One way to cut a file into units.

    Attributes:
        name: what options call it.
        unit: a noun in the singular for one unit.
        edges: cuts a file.
    """

    name: str
    unit: str
    edges: Callable[[bytes], Edges]


def edges_of(pieces: Iterable[bytes]) -> Edges:
    """The edges of consecutive pieces."""
    return [0, *accumulate(map(len, pieces))]


# A word or another character, with the blanks that follow it.
_PARTS = 64
_WORDS = re.compile(rb"(?:[\w\x80-\xff]+|[^\w\s])\s*|\s+")


def decoded(content: bytes) -> str:
    """A file as text, with each byte that is not UTF-8 as one character of its own."""
    return content.decode("utf-8", "surrogateescape")


def encoded(text: str) -> bytes:
    """The opposite of :func:`decoded`."""
    return text.encode("utf-8", "surrogateescape")


def _characters(content: bytes) -> Edges:
    return range(len(content) + 1) if content.isascii() else edges_of(map(encoded, decoded(content)))


def _parts(content: bytes) -> Edges:
    """A few parts of equal size, which end where lines do if there are any."""
    size = -(-len(content) // _PARTS)
    found = (content.find(b"\n", at, at + size) + 1 or at for at in range(size, len(content), size))
    return sorted({0, *found, len(content)})


BYTES = Level("bytes", "byte", lambda content: range(len(content) + 1))
CHARACTERS = Level("characters", "character", _characters)
LINES = Level("lines", "line", lambda content: edges_of(content.splitlines(keepends=True)))

PARTS = Level("parts", "part", _parts)
WORDS = Level("words", "word", lambda content: edges_of(_WORDS.findall(content)))


def delimited(pattern: str) -> Level:
    """Units that end where a regular expression matches.

    Args:
        pattern: matches what ends a unit and belongs to it.

    Raises:
        UsageError: it is not a regular expression, or it matches nothing at all, which is everywhere.
    """
    try:
        ends = re.compile(encoded(pattern))
    except re.error as error:
        raise UsageError(f"`{pattern}` is not a regular expression: {error}.") from error
    if ends.match(b""):
        raise UsageError(f"The delimiter `{pattern}` also matches the empty text.", "Use `--units characters`.")

    def edges(content: bytes) -> Edges:
        found = [0, *(match.end() for match in ends.finditer(content))]
        return found if found[-1] == len(content) else [*found, len(content)]

    return Level("delimited", "part", edges)
