"""Names of a text, each of which can go but for one of its letters, in all places where it stands.

Rules of this module:

* A program that looks a name up fails in another way if it is shorter in one place and not in others. So a name is left
  out everywhere or nowhere; what is left is a part of the file all the same.
* Two names get two letters as long as there are enough. A letter that the text has as a name is none of these.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from replay_dd.input.space import Cuts
from replay_dd.input.trees import Cut

# Not words with a digit first, nor parts of words that are not ASCII.
_NAME = re.compile(rb"(?<![\w\x80-\xff])[A-Za-z_]\w*(?![\w\x80-\xff])")
_LETTER = re.compile(rb"[A-Za-z]")


def names_of(content: bytes) -> dict[bytes, list[int]]:
    """The names of a text, with the places where each begins; in the order of the first ones."""
    found: dict[bytes, list[int]] = {}
    for match in _NAME.finditer(content):
        found.setdefault(match[0], []).append(match.start())
    return found


def shorter_names(content: bytes) -> Cuts | None:
    """Names that can be cut down to one letter; None if there are none."""
    names = names_of(content)
    taken = {name for name in names if len(name) == 1}
    cuts: list[Sequence[Cut]] = []
    for name, places in names.items():
        if len(name) == 1:
            continue
        letters = list(_LETTER.finditer(name))
        kept = next((letter for letter in letters if letter[0] not in taken), letters[0] if letters else None)
        if kept is None:
            continue
        taken.add(kept[0])
        around = (0, kept.start()), (kept.end(), len(name))
        cuts.append([(place + start, place + stop) for place in places for start, stop in around if start < stop])
    return Cuts(content, "name", cuts) if cuts else None
