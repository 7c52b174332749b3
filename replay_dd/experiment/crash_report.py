"""What a report of a crash tells: what failed, and where in the program.

Rules of this module:

* The place is the innermost frame of the stack. If that is in a standard library, the innermost frame of the program
  belongs to it: a library raises the same error for all of its callers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from replay_dd.experiment.message_texts import cut

_FOLDERS = re.compile(r"(?<![\w.])/?(?:[^\s/()'\"]+/)+(?=[^\s/]+:\d)")  # of a path with a number of a line


class Report(NamedTuple):
    """A report of a crash.

    Attributes:
        signature: equal for the same failure, apart from the message.
        words: one line for it, which is text of the output.
        message: what an exception says; some of it may repeat the input.
        kinds: if there are any, a report of the same failure has one of them, too.
        whole: all that it says, if the words have only the beginning of that.
        place: where in the program, if the words do not say that.
        repeats: whether the signature may repeat the input.
        lacks_place: whether it says nothing of where the program was, though the stack of the program would.
    """

    signature: str
    words: str
    message: str = ""
    kinds: tuple[str, ...] = ()
    whole: str = ""
    place: str = ""
    repeats: bool = False
    lacks_place: bool = False

    @property
    def told(self) -> str:
        """The words, and the place in parentheses if they do not say it."""
        return f"{self.words} ({self.place})" if self.place else self.words

    def with_place(self) -> Report:
        """The same with the place that the signature has, without folders, unless the words say it."""
        place = _FOLDERS.sub("", self.signature.partition(" at ")[2])
        words = " ".join(_FOLDERS.sub("", self.words).split())
        said = self.place or self.repeats or not place or " ".join(place.split()) in words
        return self if said else self._replace(place=cut(place))


def place_of(frames: Sequence[tuple[str, str]], libraries: re.Pattern[str]) -> str:
    """The innermost frame, and the program's own one if that is another.

    Args:
        frames: of each frame, innermost first, what tells whose it is, and how to write it down.
        libraries: matches the beginning of the former if it is the standard library's.
    """
    if not frames:
        return ""
    inner = frames[0][1]
    own = next((place for where, place in frames if not libraries.match(where)), inner)
    return inner if own == inner else f"{inner}, from {own}"
