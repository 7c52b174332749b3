"""What can only go together, though no part of it can go alone: words in a row, and a pair of brackets.

Rules of this module:

* An answer of which no single character can be left out may have a word and the comma after it that can go together, a
  type and its variable, or the brackets around something. Only words in a row are tried, and few of them: an answer
  that is still long would cost more tests than it is worth.
"""

from __future__ import annotations

from collections.abc import Sequence

from replay_dd.input.brackets import bracket_tree
from replay_dd.input.space import Cuts
from replay_dd.input.trees import Cut, everything
from replay_dd.input.units import WORDS

_MOST = 48  # rows of words that are tried
_LONGEST = 4  # words in a row


def neighbours(content: bytes) -> Cuts | None:
    """Rows of words and pairs of brackets that can be left out; None if there are none, or too many."""
    edges = WORDS.edges(content)
    count = len(edges) - 1
    cuts: list[Sequence[Cut]] = []
    for length in range(2, min(_LONGEST, count - 1) + 1):
        rows = [[(edges[first], edges[first + length])] for first in range(count - length + 1)]
        if len(cuts) + len(rows) > _MOST:
            break
        cuts += rows
    if count <= _MOST:
        groups = (node for node in everything(bracket_tree(content)) if node.kind in ("brackets", "quotes", "tags"))
        for node in groups:
            inside = [(one.start, one.stop) for one in node.children]
            if inside and node.stop - node.start < len(content):
                cuts.append([(node.start, inside[0][0]), (inside[-1][1], node.stop)])
    return Cuts(content, "row", cuts) if cuts else None
