"""Which line changes the grammar of Python ties together: heads with bodies, and the clauses of a statement.

Rules of this module:

* A head that comes needs a statement that comes with it; what comes under it, and other clauses of its statement, need
  it. A head that goes takes along what is left under it, and its other clauses.
* ``try`` needs another clause, and no statement has two of ``else``.
* Where a head stays, or becomes another one, and nothing of what it indents does, the first statement that goes and
  the first one that comes belong together: one of both must be there.
* A statement that stays under another head than before keeps that which goes and that which comes together.
* What goes between lines that come must not stay inside of a statement, or between a head and what it indents.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from replay_dd.changes.clauses import Clause, clauses_of
from replay_dd.changes.file_change import FileChange
from replay_dd.changes.line_changes import LineChange
from replay_dd.changes.outlines import Outline

_ONLY_ONCE = (b"else", b"finally")
_LARGEST_HUNK = 2_000  # changes


class Tie(NamedTuple):
    """Two line changes of a file that belong together.

    Attributes:
        one: the number of the first.
        other: the number of the one that it needs.
        both: whether that one needs the first one, too.
    """

    one: int
    other: int
    both: bool


def ties_of(file: FileChange) -> Iterator[Tie]:
    """How the line changes of a module belong together by the clauses that their lines are in."""
    old, new = _Side(file, new=False), _Side(file, new=True)
    stays = lines_that_stay(file)
    became = _becomes(file, old, new, stays)
    old.keeps(became.keys())
    new.keeps(became.values())
    yield from old.own()
    yield from new.own()
    moved = {
        change.old: change.new
        for change in file.lines
        if _replaces(change) and file.before[change.old].strip() == file.after[change.new].strip()
    }
    yield from _of_heads(old, new, became, moved)
    yield from _under_other_heads(old, new, stays)


class _Side:
    """The clauses of one version of a file.

    Args:
        file: the file.
        new: whether it is the new version.
    """

    def __init__(self, file: FileChange, *, new: bool) -> None:
        self.new = new
        self.clauses = clauses_of(file.after if new else file.before)
        self.head_around: dict[int, int] = {}
        """The heads of the clauses that statements are in, by where those begin."""
        self.kinds: dict[int, tuple[bool, bool]] = {}
        """What heads begin, by their lines: whether that is a ``try``, and whether it is a statement."""
        self.later: dict[int, list[Clause]] = {}
        """The later clauses of each statement, by its first line."""
        for clause in self.clauses:
            self.head_around.update(dict.fromkeys(clause.body, clause.head))
            self.kinds[clause.head] = clause.word == b"try", clause.main == clause.head
            if clause.main != clause.head:
                self.head_around[clause.head] = clause.main
                self.later.setdefault(clause.main, []).append(clause)
        self._only: dict[int, int] = {}
        """The changes by which statements and heads go or come, by their lines."""
        for number, change in enumerate(file.lines):
            line, stop = (change.new, change.new_stop) if new else (change.old, change.old_stop)
            if line < stop:
                self._only[line] = number

    def keeps(self, lines: Collection[int]) -> None:
        """Note what does not go or come, but becomes another one at its place, or stays."""
        for line in lines:
            self._only.pop(line, None)

    def only(self, line: int) -> int | None:
        """The change by which a statement or head comes (in the old version, goes)."""
        return self._only.get(line)

    def heads_only(self, main: int) -> list[int | None]:
        """The changes by which the later clauses of a statement come, or go; None for those that do not."""
        return [self.only(clause.head) for clause in self.later.get(main, ())]

    def own(self) -> Iterator[Tie]:
        """What this version alone tells."""
        for clause in self.clauses:
            head = self.only(clause.head)
            if head is None:
                continue
            first = self.only(clause.body[0]) if clause.body else None
            if first is not None and clause.word == b"class" and len(clause.body) > 1:
                yield from self._under(head, first)  # a method will do, too
            elif first is not None:
                yield Tie(head, first, both=True)
            for line in clause.body[1:]:
                yield from self._under(head, self.only(line))
            if clause.head != clause.main:
                continue
            changes = self.heads_only(clause.main)
            for change in changes:
                yield from self._under(head, change)
            if clause.word == b"try" and (needed := next(iter(changes), None)) is not None and None not in changes:
                yield Tie(head, needed, both=True)

    def _under(self, head: int, change: int | None) -> Iterator[Tie]:
        """A change that comes with a head needs it; a head that goes needs that the change goes."""
        if change is not None and change != head:
            yield Tie(change, head, both=False) if self.new else Tie(head, change, both=False)


def _becomes(file: FileChange, old: _Side, new: _Side, stays: Mapping[int, int]) -> Mapping[int, int]:
    """The lines of the old version that become one of the new version in the same clause, or stay.

    A line may be paired with one that it looks like, though one is a head and the other is none.
    """
    found: dict[int, int] = {**stays}
    for change in file.lines:
        if not _replaces(change) or old.kinds.get(change.old) != new.kinds.get(change.new):
            continue
        was, will_be = old.head_around.get(change.old), new.head_around.get(change.new)
        if (None if was is None else found.get(was, -1)) == will_be:
            found[change.old] = change.new
    return found


def _of_heads(old: _Side, new: _Side, became: Mapping[int, int], moved: Mapping[int, int]) -> Iterator[Tie]:
    """What is tied since a head is in both versions; what only moved to another depth is there before and after."""
    bodies = {clause.head: clause.body for clause in new.clauses if clause.body}
    for clause in old.clauses:
        body = bodies.get(became.get(clause.head, -1), ())
        stays = {became.get(line, -1) for line in clause.body} | {*moved.values()}
        if body and clause.body and not stays & {*body} and moved.keys().isdisjoint(clause.body):
            yield from _both(old.only(clause.body[0]), new.only(body[0]))
        if clause.main != clause.head or clause.head not in became:
            continue
        going, coming = old.heads_only(clause.head), new.heads_only(became[clause.head])
        if clause.word == b"try" and going and coming and None not in going and None not in coming:
            yield from _both(going[0], coming[0])
        for later in new.later.get(became[clause.head], ()):
            comes = new.only(later.head)
            for other in old.later.get(clause.head, ()):
                goes = old.only(other.head)
                if later.word == other.word in _ONLY_ONCE and None not in (comes, goes) and comes != goes:
                    assert comes is not None
                    assert goes is not None
                    yield Tie(comes, goes, both=False)


def _under_other_heads(old: _Side, new: _Side, stays: Mapping[int, int]) -> Iterator[Tie]:
    """What is tied since a statement or clause stays, and its head does not."""
    heads = (
        (head, new.head_around[stays[line]])
        for line, head in old.head_around.items()
        if line in stays and stays[line] in new.head_around
    )
    for was, will_be in dict.fromkeys(heads):
        yield from _both(old.only(was), new.only(will_be))


def _both(goes: int | None, comes: int | None) -> Iterator[Tie]:
    if goes is not None and comes is not None and goes != comes:
        yield Tie(goes, comes, both=True)


def ties_between_lines(file: FileChange, outlines: Mapping[bool, Outline]) -> Iterator[Tie]:
    """Which changes come only with others, since their lines would come to lie inside of a statement or a block.

    Args:
        file: the file.
        outlines: what the lines of the old (False) and the new version belong to.
    """
    for _, members in itertools.groupby(enumerate(file.lines), key=lambda numbered: numbered[1].hunk):
        changes = [*members]
        if len(changes) <= _LARGEST_HUNK:
            yield from _inside(file, outlines, changes, new=True)
            yield from _inside(file, outlines, changes, new=False)


def _inside(
    file: FileChange, outlines: Mapping[bool, Outline], changes: Sequence[tuple[int, LineChange]], *, new: bool
) -> Iterator[Tie]:
    """Lines of the other version of a file that lie between those of this one, in a hunk.

    In a line of its own, a later one of a statement lies as deep as people like; so of those, all others count. Between
    a head and what it indents, only those count that are less deep: they would end the block.
    """
    here, lines = outlines[new], file.after if new else file.before
    others, other_lines = outlines[not new], file.before if new else file.after
    between: list[tuple[int, int, int]] = []  # a change, the line of the other version, its depth
    seen: dict[int, int] = {}  # how many of these came before a line of this version
    for number, change in changes:
        line, stop = (change.new, change.new_stop) if new else (change.old, change.old_stop)
        other, other_stop = (change.old, change.old_stop) if new else (change.new, change.new_stop)
        if line < stop and lines[line].strip():
            first = here.statement_at(line)
            around = next(here.heads_of(line), -1) if first == line else first
            depth = _depth(lines[line])
            for one, _, deep in between[seen.get(around, 0) :]:
                if one != number and (first != line or deep < depth):
                    yield Tie(number, one, both=False) if new else Tie(one, number, both=False)
        if line < stop:
            seen[line] = len(between)
        if other < other_stop and other_lines[other].strip() and others.statement_at(other) == other:
            between.append((number, other, _depth(other_lines[other])))


def _depth(line: bytes) -> int:
    return len(line.expandtabs()) - len(line.expandtabs().lstrip())


def lines_that_stay(file: FileChange) -> Mapping[int, int]:
    """The lines that no change touches, by their numbers in the old version, and those in the new one."""
    found: dict[int, int] = {}
    old = new = 0
    for change in file.lines:
        found.update(zip(range(old, change.old), range(new, change.new), strict=True))
        old, new = change.old_stop, change.new_stop
    found.update(zip(range(old, len(file.before)), range(new, len(file.after)), strict=True))
    return found


def _replaces(change: LineChange) -> bool:
    return change.old < change.old_stop and change.new < change.new_stop
