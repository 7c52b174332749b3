"""Long words that become short ones that the file itself begins its lines with, everywhere.

Rules of this module:

* A type, a keyword or a value may be needed where any other of its kind would do: a compiler that fails on a variable
  of some type fails on one of type `int`, and without what declares the other type. Which words are of a kind depends
  on the language. But lines begin with the same few words over and over, and these are the short common ones.
* A word becomes another one in all places or in none. It gets shorter, so there is an end.
* The bytes that are kept of a word are its first ones, as many as the other one has, though these are others now.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from replay_dd.dd import IntervalSet
from replay_dd.input.names import names_of
from replay_dd.input.space import Left, joined, shown
from replay_dd.input.trees import Cut

_FIRST_WORD = re.compile(rb"^[ \t]*([A-Za-z_]\w*)(?![\w\x80-\xff])", re.MULTILINE)
_MOST_WORDS = 5
_LONGEST = 5  # letters of a common word
_FEWEST_LINES = 3  # that begin with it
_SIMPLEST = b"0"  # a value in most languages


def common_words(content: bytes) -> list[bytes]:
    """The short words that most lines of a text begin with, and a value."""
    counts = Counter(_FIRST_WORD.findall(content))
    common = [word for word, count in counts.most_common() if count >= _FEWEST_LINES and 1 < len(word) <= _LONGEST]
    return [*common[:_MOST_WORDS], _SIMPLEST]


class Reworded(Left):
    """Words of which some stay as they are, and the others become another word.

    Args:
        content: the file.
        places: the words, with the places where each begins.
        other: the other word, which is shorter than any of them.
    """

    unit = "word"

    def __init__(self, content: bytes, places: Mapping[bytes, Sequence[int]], other: bytes) -> None:
        super().__init__(content)
        self._words = list(places)
        self._places = list(places.values())
        self._other = other
        self.all = IntervalSet.range(0, len(places))

    def kept(self, configuration: IntervalSet) -> IntervalSet:
        """All bytes but those that the other word does not need."""
        size = len(self._other)
        cuts = IntervalSet.from_intervals(
            (place + size, place + len(self._words[number]))
            for number in self.all - configuration
            for place in self._places[number]
        )
        return IntervalSet.range(0, len(self.content)) - cuts

    def build(self, configuration: IntervalSet) -> bytes:
        """The file with the other word in these places."""
        content = bytearray(self.content)
        for number in self.all - configuration:
            for place in self._places[number]:
                content[place : place + len(self._other)] = self._other
        return joined(content, self.kept(configuration))

    def stretch(self, delta: int) -> Cut:
        """The word, where it stands first."""
        place = self._places[delta][0]
        return place, place + len(self._words[delta])

    def words(self, delta: int) -> str:
        """The word."""
        return f"{self.unit}: {shown(self._words[delta])}"


def reworded(content: bytes, other: bytes) -> Reworded | None:
    """A space in which longer words can become another one; None if there are none."""
    places = {word: places for word, places in names_of(content).items() if len(word) > len(other)}
    return Reworded(content, places, other) if places else None
