"""Which lines of a file are replaced, removed or inserted between two versions.

Rules of this module:

* Within a hunk, a line becomes the one that defines the same function, class or name, or else one that is much like
  it; what lies between such pairs is paired in order. Otherwise a line that is inserted at the top of a hunk would tie
  each line below to the next one, and no change could be made without parts of others.
* Failing that, it becomes one that leaves the block in the same way, or gives a value to the same name. What leaves a
  block becomes nothing else: after an old `return`, a new one is never executed; without both, `None` is returned.
* Where functions or classes begin at other places between two pairs than before, or other names are imported or
  assigned outside of them, no old line is replaced by a new one there: the new ones follow the old ones. Otherwise one
  name could not come before the other one has gone.
* Where functions come and go, a line stays only within its function. Equal lines of others, such as blank ones, would
  tie functions together that have nothing to do with each other: neither could come or go without the other one.
* Quotes that open a string of several lines and those that close it look alike, but one never stays as the other:
  between the two versions, the code in between would be text, or the text code.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from replay_dd.changes.outlines import parts_of_strings, symbols_of
from replay_dd.dd.alignment import Match, align

_HEAD = re.compile(
    rb"\s*(?:async\s+def|def|class|function)\b|(?:static|struct|enum|union|typedef)\b|[A-Za-z_][^;=#]*\)\s*\{?\s*$"
)
_BINDS = re.compile(rb"(?P<all>(?:from|import)\s.*|#\s*include\b.*)|(?P<name>[A-Za-z_]\w*)\s*(?::[^=\n]+)?=(?!=)")
# The name in a head: of a Python or JavaScript definition, of a C type, of a C function.
_HEAD_NAME = re.compile(rb"\b(?:(?:def|class|function)\s+(\w+)|(?:struct|enum|union)\s+(\w+)\s*[{;]|(\w+)\s*\()")
_WORD = re.compile(rb"\w+")
# What a statement in a function is for: to leave its block, or to name a value.
_PURPOSE = re.compile(rb"\s+(?:(?P<leaves>return|raise|break|continue)\b|[A-Za-z_][\w.]*\s*(?::[^=\n]+)?=(?!=))")
_MOST_PAIRS = 1600  # of lines of a hunk that are compared
_SIMILAR = 0.5  # the share of their words that two versions of a line have in common at least
_SAME_BEGINNING = 0.25  # what tells which of several similar lines it is, such as the key of a setting
_SAME_PURPOSE = 0.125  # less than for any similar line: it decides where none is
_SAME_DEFINITION = 2.0


@dataclass(frozen=True, slots=True)
class LineChange:
    """One line that is replaced, removed or inserted.

    Attributes:
        old: its number in the old version, from 0; for an insertion, that of the line it comes before.
        old_stop: ``old`` for an insertion, otherwise the next number.
        new: its number in the new version; for a removal, that of the line that follows there.
        new_stop: ``new`` for a removal, otherwise the next number.
        hunk: the number of its hunk in the file.
    """

    old: int
    old_stop: int
    new: int
    new_stop: int
    hunk: int


def line_changes(path: str, before: Sequence[bytes], after: Sequence[bytes]) -> Iterator[LineChange]:
    """What leads from the lines of one version of a file to those of another.

    Args:
        path: where the file is, which tells its language.
        before: the lines of the old version.
        after: those of the new version.
    """
    names = _names(path, before, after)
    hunks = _Hunks(before, after, names)
    old = new = number = 0
    for match in hunks.without_chance(_aligned(path, before, after, names)):
        left, right = match[0], match[1]
        if old < left or new < right:
            yield from hunks.changes(range(old, left), range(new, right), number)
            number += 1
        old, new = left + match[2], right + match[2]


_Names = tuple[Sequence[str | None], Sequence[str | None]]


@dataclass(frozen=True, slots=True)
class _Look:
    """What lines are compared by.

    Attributes:
        defines: the function, class or name that the line defines; empty if it defines none.
        words: its words, each with how often it came before.
        first: the first of them.
        purpose: how it begins, with its indentation, if it leaves a block or names a value; empty for any other.
        leaves: whether it leaves a block.
    """

    defines: bytes
    words: frozenset[tuple[bytes, int]]
    first: bytes
    purpose: bytes
    leaves: bool


class _Hunks:
    """The changes of stretches of lines that both versions do not have in common.

    Args:
        before: the lines of the old version.
        after: those of the new version.
        names: the functions that the lines belong to, as far as both versions have them.
    """

    def __init__(self, before: Sequence[bytes], after: Sequence[bytes], names: _Names) -> None:
        self._before = before
        self._after = after
        self._names = names
        self._looks: dict[bytes, _Look] = {}

    def changes(self, old: range, new: range, hunk: int) -> Iterator[LineChange]:
        """What leads from these old lines to these new ones."""
        one, other = old.start, new.start
        for left, right in (*self._pairs(old, new), (old.stop, new.stop)):
            yield from self._in_order(range(one, left), range(other, right), hunk)
            if left < old.stop:
                yield LineChange(left, left + 1, right, right + 1, hunk)
            one, other = left + 1, right + 1

    def without_chance(self, matches: Sequence[Match]) -> Iterator[Match]:
        """Some matches but for blank lines that keep similar lines apart, and a last one of nothing at the ends."""
        last = Match(0, 0, 0)
        matches = [*matches, Match(len(self._before), len(self._after), 0)]
        for match, following in itertools.pairwise(matches):
            blank = not b"".join(self._before[match.left : match.left + match.length]).strip()
            if not blank or not self._keeps_apart(last, match, following):
                yield match
                last = match
        yield matches[-1]

    def _keeps_apart(self, last: Match, match: Match, following: Match) -> bool:
        """Whether more lines find a similar one if this match is part of the hunks on its sides."""
        begins = last.left + last.length, last.right + last.length
        whole = range(begins[0], following.left), range(begins[1], following.right)
        if len(whole[0]) * len(whole[1]) > _MOST_PAIRS:
            return False
        goes_on = match.left + match.length, match.right + match.length
        hunks = [
            (range(begins[0], match.left), range(begins[1], match.right)),
            (range(goes_on[0], following.left), range(goes_on[1], following.right)),
        ]
        apart = sum(self._best(*hunk)[0][0] for hunk in hunks if all(hunk))
        return self._best(*whole)[0][0] > apart + _SIMILAR

    def _in_order(self, old: range, new: range, hunk: int) -> Iterator[LineChange]:
        one_side, other_side = self._before[old.start : old.stop], self._after[new.start : new.stop]
        if _heads(one_side) != _heads(other_side) or _bound(one_side) != _bound(other_side):
            yield from (LineChange(one, one + 1, new.start, new.start, hunk) for one in old)
            yield from (LineChange(old.stop, old.stop, other, other + 1, hunk) for other in new)
            return
        for number in range(max(len(old), len(new))):
            one, other = old.start + min(number, len(old)), new.start + min(number, len(new))
            removes, adds = number < len(old), number < len(new)
            if removes and adds and self._before[one] == self._after[other]:
                continue
            yield LineChange(one, one + removes, other, other + adds, hunk)

    def _pairs(self, old: range, new: range) -> Iterator[tuple[int, int]]:
        """The old lines that become similar new ones, in order: as many and as similar ones as possible."""
        if len(old) == len(new) == 1 or not 0 < len(old) * len(new) <= _MOST_PAIRS:
            return
        best = self._best(old, new)
        one = other = 0
        while one < len(old) and other < len(new):
            here = best[one][other]
            if here == best[one + 1][other]:
                one += 1
            elif here == best[one][other + 1]:
                other += 1
            else:
                yield old[one], new[other]
                one, other = one + 1, other + 1

    def _best(self, old: range, new: range) -> list[list[float]]:
        """The greatest sum of likenesses of pairs of lines, in order, from each old and each new line on."""
        best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
        for one in reversed(range(len(old))):
            for other in reversed(range(len(new))):
                like = self._likeness(old[one], new[other])
                paired = best[one + 1][other + 1] + like if like else 0.0
                best[one][other] = max(paired, best[one + 1][other], best[one][other + 1])
        return best

    def _likeness(self, old: int, new: int) -> float:
        """How much a line is like another one; 0 if it should not be told as having become that."""
        one, other = self._before[old], self._after[new]
        name = self._names[0][old]
        if one == other or name is None or name != self._names[1][new]:
            return 0.0
        looks = self._look(one), self._look(other)
        if looks[0].defines or looks[1].defines:
            return _SAME_DEFINITION if looks[0].defines == looks[1].defines else 0.0
        if looks[0].leaves != looks[1].leaves:
            return 0.0
        same_purpose = bool(looks[0].purpose) and looks[0].purpose == looks[1].purpose
        return _share(*looks) + _SAME_PURPOSE * same_purpose

    def _look(self, line: bytes) -> _Look:
        # Each line is compared with many others.
        look = self._looks.get(line)
        if look is None:
            words, before = _WORD.findall(line), Counter[bytes]()
            numbered = []
            for word in words:
                numbered.append((word, before[word]))
                before[word] += 1
            first, purpose = words[0] if words else b"", _PURPOSE.match(line)
            begins = purpose[0].expandtabs().rstrip(b" =") if purpose else b""
            leaves = purpose is not None and purpose["leaves"] is not None
            look = self._looks[line] = _Look(_defined(line), frozenset(numbered), first, begins, leaves)
        return look


def _share(one: _Look, other: _Look) -> float:
    """How many of the words of two lines are the same, if those are many; a little more if they begin alike."""
    total = len(one.words) + len(other.words)
    if not one.words or not other.words or 2 * min(len(one.words), len(other.words)) < _SIMILAR * total:
        return 0.0
    share = 2 * len(one.words & other.words) / total
    return 0.0 if share < _SIMILAR else share + _SAME_BEGINNING * (one.first == other.first)


def defined_at_top(line: bytes) -> bytes:
    """The function or class that a line begins in the first column; empty if it begins none."""
    return _defined(line) if not line[:1].isspace() and _HEAD.match(line) else b""


def _defined(line: bytes) -> bytes:
    """The function, class or name that a line defines, as deep as it is indented; empty if it defines none."""
    found = _BINDS.match(line)
    if found:
        return (found["all"] or found["name"]).strip()
    if not _HEAD.match(line):
        return b""
    head = _HEAD_NAME.search(line)
    indented = line[: len(line) - len(line.lstrip())]
    return indented + (next(filter(None, head.groups()), b"") if head else line.strip())


def _heads(lines: Sequence[bytes]) -> list[int]:
    """Where functions or classes begin among some lines."""
    return [number for number, line in enumerate(lines) if _HEAD.match(line)]


def _bound(lines: Sequence[bytes]) -> list[bytes]:
    """What is imported, and which names are assigned, outside of functions."""
    return [(found["all"] or found["name"]).strip() for line in lines if (found := _BINDS.match(line))]


def _names(path: str, before: Sequence[bytes], after: Sequence[bytes]) -> _Names:
    """The functions that lines belong to: None where only one version has it, empty where all functions stay."""
    if {line for line in before if _HEAD.match(line)} == {line for line in after if _HEAD.match(line)}:
        return [""] * len(before), [""] * len(after)
    one, other = (symbols_of(path, lines) for lines in (before, after))
    in_both = set(one) & set(other)
    return [name if name in in_both else None for name in one], [name if name in in_both else None for name in other]


def _aligned(path: str, before: Sequence[bytes], after: Sequence[bytes], names: _Names) -> list[Match]:
    """What both versions have; a function that only one of them has may be one of the other that was renamed."""
    versions = before, after
    keys: list[Sequence[Hashable]] = list(versions)
    if _quotes(before) != _quotes(after):
        parts = [parts_of_strings(path, lines) for lines in versions]
        keys = [list(zip(found, lines, strict=True)) for found, lines in zip(parts, keys, strict=True)]
    keys = [list(zip(functions, lines, strict=True)) for functions, lines in zip(names, keys, strict=True)]
    return align(*keys)


def _quotes(lines: Sequence[bytes]) -> list[bytes]:
    """The lines that may open or close strings of several lines."""
    return [line for line in lines if b'"""' in line or b"'''" in line]
