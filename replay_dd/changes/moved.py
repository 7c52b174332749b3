"""Functions that moved into another file, and changed on the way.

Rules of this module:

* A new file is one delta, unless functions or classes came into it from a file where they are gone. Then what changed
  in them is found as anywhere else: the file comes with the functions as they were, and their lines change.
* Into a file that was there before, each comes as it was with a delta of its own, between two statements.
* What has the same name and something in common has moved; of files that are gone, also what is much alike under
  another name. It keeps the new name then, which others use.
* It brings what it needs of its old file (:mod:`~replay_dd.changes.brought`). These are old lines, too.
* All of that is written as the file that it comes to: line ends and encodings do not count as changes.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from replay_dd.changes.brought import brought
from replay_dd.changes.file_change import Arrival
from replay_dd.changes.origins import Source, functions_in, heads_of
from replay_dd.changes.outlines import outline_of
from replay_dd.changes.written import Written, written
from replay_dd.dd.alignment import align

SIMILAR = 0.2
"""The share of lines that a function which moved keeps at least."""
_MUCH_ALIKE = 0.5
"""The same under another name."""
_LEAST_LINES = 4  # functions of fewer lines are alike by chance
_HEAD = re.compile(rb"\s*(?:async\s+)?(?:def|class)\s")
_Lines = Sequence[bytes]


def as_they_were(path: str, lines: _Lines, others: Sequence[Source], elsewhere: Collection[str] = ()) -> _Lines:
    """The lines of a new file, with the functions and classes that moved there as they were before.

    Args:
        path: where the file is.
        lines: its lines.
        others: the files that may have lost them, the likeliest first.
        elsewhere: the names that new files bind.
    """
    style = written(path, lines)
    gone = _gone(path, heads_of(lines), others, style)
    if not gone:
        return lines
    functions = functions_in(path, lines)
    moved = {
        name: gone[name][0]
        for name, where in functions.items()
        if len(gone.get(name, ())) == 1 and share(gone[name][0].lines, lines[where.start : where.stop]) >= SIMILAR
    }
    moved |= _under_other_names(functions, lines, {name: found for name, found in gone.items() if name not in moved})
    if not moved:
        return lines
    of_sources: dict[str, list[_Gone]] = {}
    for one in moved.values():
        of_sources.setdefault(one.source.path, []).append(one)
    first, result = min(functions[name].start for name in moved), list(lines)
    for name, where in reversed(functions.items()):
        if name in moved:
            result[where.start : where.stop] = moved[name].lines
    for found in of_sources.values():
        result[first:first] = brought([one.lines for one in found], found[0].source, path, lines, elsewhere)
    # What was the last line of its old file need not have an end.
    return [*(line if line.endswith(b"\n") else line + style.end for line in result[:-1]), *result[-1:]]


def _under_other_names(
    functions: Mapping[str, range], lines: _Lines, gone: Mapping[str, Sequence[_Gone]]
) -> dict[str, _Gone]:
    """What is much alike in a file that is gone, under another name."""
    # Where a file cannot be parsed, or is in another language, whole lines stand for names.
    told = {name: found[0] for name, found in gone.items() if len(found) == 1 and name.isidentifier()}
    left = {name: one for name, one in told.items() if not one.source.after and len(one.lines) >= _LEAST_LINES}
    counts = {other: _counted(one.lines) for other, one in left.items()}
    holders: defaultdict[bytes, list[str]] = defaultdict(list)  # only functions that share lines are compared
    for other, counted in counts.items():
        for line in counted:
            holders[line].append(other)
    pairs: list[tuple[float, str, str]] = []
    for name, where in functions.items() if left else ():
        text = lines[where.start : where.stop]
        counted, common = _counted(text), Counter[str]()
        for line, count in counted.items() if name.isidentifier() and name not in gone else ():
            for other in holders.get(line, ()):
                common[other] += min(count, counts[other][line])
        for other, number in common.items():
            alike = 2 * number / (counted.total() + counts[other].total())
            if alike >= _MUCH_ALIKE and _is_class(left[other].lines) == _is_class(text):
                pairs.append((-alike, name, other))
    found: dict[str, _Gone] = {}
    for _, name, other in sorted(pairs):
        if name not in found and other in left:
            found[name] = _renamed(left.pop(other), other, name)
    return found


def _is_class(lines: _Lines) -> bool:
    head = next((line for line in lines if _HEAD.match(line)), b"")
    return head.split()[:1] == [b"class"]


def _renamed(one: _Gone, old: str, new: str) -> _Gone:
    """The same under its new name."""
    place = next((number for number, line in enumerate(one.lines) if _HEAD.match(line)), 0)
    head = re.sub(rb"\b%s\b" % re.escape(old.encode()), new.encode(), one.lines[place], count=1)
    return one._replace(lines=[*one.lines[:place], head, *one.lines[place + 1 :]])


def arrivals(
    path: str, before: _Lines, after: _Lines, others: Sequence[Source], elsewhere: Collection[str] = ()
) -> tuple[_Lines, tuple[Arrival, ...]]:
    """The old lines of a file with the functions and classes in them, as they were, that moved there and changed.

    Args:
        path: where the file is.
        before: its old lines.
        after: its new lines.
        others: the files that may have lost them, the likeliest first.
        elsewhere: the names that new files bind.
    """
    gone = _gone(path, heads_of(after) - heads_of(before), others, written(path, before))
    if not gone or not before or not before[-1].endswith(b"\n"):
        return before, ()
    had = functions_in(path, before)
    found: list[tuple[int, str, range, _Gone]] = []
    for name, where in functions_in(path, after).items():
        came_from = gone.get(name, [])
        if name in had or len(came_from) != 1:
            continue
        was, text = came_from[0].lines, after[where.start : where.stop]
        if was != text and share(was, text) >= SIMILAR and was[-1].endswith(b"\n"):
            found.append((_place(path, before, after, where.start, had), name, where, came_from[0]))
    result, arrived = list(before), list[Arrival]()
    for place, name, where, source in found:
        start = place + len(result) - len(before)
        more = brought([source.lines], source.source, path, before, elsewhere)
        result[start:start] = [*more, *source.lines]
        lines = range(start, start + len(more) + len(source.lines))
        arrived.append(Arrival(name, source.source.path, lines, where, len(more)))
    return result, tuple(arrived)


class _Gone(NamedTuple):
    """A function or class that is gone from a file.

    Attributes:
        lines: its lines, written as those of the file that it may have moved into.
        source: the file that it is gone from.
    """

    lines: _Lines
    source: Source


def _gone(path: str, heads: frozenset[bytes], others: Sequence[Source], style: Written) -> dict[str, list[_Gone]]:
    """The functions and classes that files in a language lost, among them all that begin with one of these heads.

    Of those that were the same in several files, the first one.
    """
    found: dict[str, list[_Gone]] = {}
    for source in others if heads else ():
        if not source.is_of_kind(path) or (source.after and not heads & source.lost_heads):
            continue
        for name, was in source.gone.items():
            lines, known = source.written.lines(was, style), found.setdefault(name, [])
            if all(one.lines != lines for one in known):
                known.append(_Gone(lines, source))
    return found


def _place(path: str, before: _Lines, after: _Lines, line: int, functions: Mapping[str, range]) -> int:
    """Where between the statements of an old file a line of the new one comes."""
    last = max((match for match in align(before, after) if match.right < line), key=lambda one: one.right, default=None)
    place = 0 if last is None else last.left + min(last.length, line - last.right)
    outline = outline_of(path, before)
    while place < len(before) and (
        outline.statement_at(place) != place
        or next(outline.heads_of(place), None) is not None
        or any(where.start < place < where.stop for where in functions.values())
    ):
        place += 1
    return place


def share(one: _Lines, other: _Lines) -> float:
    """How many lines two functions have in common, of all that are not blank."""
    left, right = _counted(one), _counted(other)
    return 2 * (left & right).total() / max(left.total() + right.total(), 1)


def _counted(lines: _Lines) -> Counter[bytes]:
    return Counter(line.strip() for line in lines if line.strip())
