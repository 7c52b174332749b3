"""Leaves out values of a file whose format is known: outer ones first, then what is around others.

Rules of this module:

* A format says where values are, what can be left out of them, and what has to be corrected then.
* Where values refer to others, the file is first written so that they stand alone: all of them, or else those for
  which it makes no difference. If the program does not fail on that, it stays as it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol, Self

from replay_dd.input.space import Cuts, Left, Rewritten, Space
from replay_dd.input.trees import Cut

DEEPEST = 100
_UNIT = "value"
_FEWEST, _MOST = 4, 20_000  # values of a file; fewer may be there by chance
_MOST_TRIED = 8  # of the values inside of one, each in its place


@dataclass(slots=True)
class Value(ABC):
    """A value in a file.

    Attributes:
        start: its first byte.
        stop: the byte after its last one.
        inside: the values in it.
    """

    start: int
    stop: int
    inside: list[Self] = field(default_factory=list)

    @abstractmethod
    def elements(self) -> list[Cut]:
        """What can be left out of it."""

    @property
    def has_fields(self) -> bool:
        """Whether programs expect all of its elements, as of a record."""
        return False

    def all(self) -> Iterator[Self]:
        """This one and all inside of it, in order."""
        waiting = [self]
        while waiting:
            value = waiting.pop()
            yield value
            waiting += reversed(value.inside)


class Format(Protocol):
    """What is known of the values of a file."""

    def plain(self, content: bytes) -> Iterable[bytes]:
        """The same values with fewer references to others, in several ways: that with the fewest first."""

    def top(self, content: bytes) -> Sequence[Value]:
        """The outermost values, as far as they can be read."""

    def mended(self, space: Left) -> Left:
        """A space whose files have numbers that are right for what is left."""


def is_enough(top: Sequence[Value]) -> bool:
    """Whether there are so many values that they are not there by chance, and no more than can be searched."""
    return _FEWEST <= sum(1 for one in top for _ in one.all()) <= _MOST


def without_values(content: bytes, values: Format) -> Generator[Space, tuple[bytes, bytes], bytes]:
    """Leave out values, outer ones first; then put values in the place of those that they are in; gives what is left.

    Args:
        content: the file.
        values: what is known of it.
    """
    while True:
        before = content
        for plain in values.plain(content):
            if plain == content:
                break
            _, content = yield Rewritten(content, plain, _UNIT)
            if content == plain:
                break
        level = values.top(content)
        cuts = [(value.start, value.stop) for value in level]
        for depth in range(DEEPEST):
            if cuts:
                content = yield from _left_of(content, values, [[cut] for cut in cuts])
            level = values.top(content)
            for _ in range(depth):
                level = [value for around in level for value in around.inside]
            if not level:
                break
            cuts = [cut for around in level for cut in around.elements()]
        for rank in range(_MOST_TRIED):
            every = [value for one in values.top(content) for value in one.all()]
            pairs = [(value, value.inside[rank]) for value in every if len(value.inside) > rank]
            if not pairs:
                break
            around_them = [[(value.start, one.start), (one.stop, value.stop)] for value, one in pairs]
            content = yield from _left_of(content, values, around_them)
        if content == before:
            return content


def _left_of(
    content: bytes, values: Format, cuts: Sequence[Sequence[Cut]]
) -> Generator[Space, tuple[bytes, bytes], bytes]:
    space = values.mended(Cuts(content, _UNIT, cuts))
    space.coarse = True
    _, content = yield space
    return content
