"""What a report of a crash tells: what failed, and where in the program.

Rules of this module:

* The place is the innermost frame of the stack. If that is in a standard library, the innermost frame of the program
  belongs to it: a library raises the same error for all of its callers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple


class Report(NamedTuple):
    """A report of a crash.

    Attributes:
        signature: equal for the same failure, apart from the message.
        words: one line for it: text of the output, and then perhaps the place in parentheses.
        message: what an exception says; some of it may repeat the input.
        kinds: if there are any, a report of the same failure has one of them, too.
        whole: all that it says, if the words have only the beginning of that.
        repeats: whether the signature may repeat the input.
    """

    signature: str
    words: str
    message: str = ""
    kinds: tuple[str, ...] = ()
    whole: str = ""
    repeats: bool = False


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
