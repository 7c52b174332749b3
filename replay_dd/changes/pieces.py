"""Which line changes of a file make sense only together: those of a statement, and those that indent others.

Rules of this module:

* A statement is there as it was or as it will be, never half of each: what takes lines from it comes with what replaces
  them. Where a statement spans hunks, only those that open or close brackets belong together.
* Where the head of a compound statement comes or goes around lines that stay, they move with it, and so do the other
  clauses of that statement. Lines that come or go inside are changes of their own; but what would be left at the wrong
  depth must go with the head, and what comes needs it. So does what comes under a head that comes: a method of a new
  class would come to the class before it.
* A function that goes, and a string of several lines, are whole.
* Functions are never joined; so pieces never cross the groups of a coarser level.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import NamedTuple

from replay_dd.changes.blocks import Tie, lines_that_stay, ties_between_lines, ties_of
from replay_dd.changes.file_change import FileChange
from replay_dd.changes.line_changes import LineChange
from replay_dd.changes.outlines import Outline, is_python, outline

_CLAUSE = re.compile(rb"\s*(?:else|elif|except|finally|case)\b")
_TOKEN = re.compile(rb"#[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|[()\[\]{}]")
_QUOTES = re.compile(rb"\"\"\"|'''")


class Pieces(NamedTuple):
    """How the line changes of a file belong together.

    Attributes:
        statements: for each change, the first one of its statements.
        hunks: for each change, the first one of its hunk, which has whole statements.
        needs: which changes must come with a change, though not the other way round.
        gone: the functions and classes that are removed, and nothing of them stays.
    """

    statements: Sequence[int]
    hunks: Sequence[int]
    needs: Mapping[int, Sequence[int]]
    gone: frozenset[str]

    def members(self) -> Mapping[int, Sequence[int]]:
        """The changes of each statement, by the first one."""
        found: dict[int, list[int]] = {}
        for change, statement in enumerate(self.statements):
            found.setdefault(statement, []).append(change)
        return found


_known: dict[int, tuple[FileChange, Pieces]] = {}


def pieces(file: FileChange) -> Pieces:
    """How the line changes of a file belong together."""
    known = _known.get(id(file))
    if known is None or known[0] is not file:
        known = _known[id(file)] = file, _File(file).pieces()
    return known[1]


def _gone(file: FileChange) -> frozenset[str]:
    """The functions and classes of a file that are removed, and nothing of them stays.

    Without its head alone, what is left of such a function would belong to the one above it, or would not parse.
    """
    before, after = outline(file, new=False), outline(file, new=True)
    removed = {change.old for change in file.lines if _removes(change) and not _adds(change)}
    stays = {after.symbol_at(line) for line in range(len(file.after))}
    stays |= {before.symbol_at(line) for line, text in enumerate(file.before) if text.strip() and line not in removed}
    return frozenset(before.symbol_at(line) for line in removed) - stays - {""}


class _Sets:
    """Disjoint sets of the numbers of changes; the first one of each stands for it."""

    def __init__(self, count: int) -> None:
        self._above = list(range(count))

    def first(self, one: int) -> int:
        while self._above[one] != one:
            self._above[one] = one = self._above[self._above[one]]
        return one

    def join(self, one: int, other: int) -> None:
        low, high = sorted((self.first(one), self.first(other)))
        self._above[high] = low

    @property
    def all(self) -> list[int]:
        return [self.first(one) for one in range(len(self._above))]


class _File:
    def __init__(self, file: FileChange) -> None:
        self._file = file
        self._outlines: Mapping[bool, Outline] = {new: outline(file, new=new) for new in (False, True)}
        self._symbols = [
            self._outlines[_adds(change)].symbol_at(change.new if _adds(change) else change.old)
            for change in file.lines
        ]
        self._statements = _Sets(len(file.lines))
        self._needs: dict[int, list[int]] = {}
        self._gone = _gone(file)

    def pieces(self) -> Pieces:
        changes = self._file.lines
        if any(found.has_statements for found in self._outlines.values()):
            self._join(self._statements, self._wholes())
            if is_python(self._file):
                self._join_brackets()
                self._join_indented()
                for tie in (*ties_of(self._file), *ties_between_lines(self._file, self._outlines)):
                    self._tie(tie)
        hunks = _Sets(len(changes))
        self._join(hunks, ((number, change.hunk) for number, change in enumerate(changes)))
        self._join(hunks, enumerate(self._statements.all))
        return Pieces(self._statements.all, hunks.all, self._needs, self._gone)

    def _join(self, sets: _Sets, keys: Iterator[tuple[int, Hashable]]) -> None:
        """Join the changes of one function with the same key."""
        first: dict[Hashable, int] = {}
        for number, key in keys:
            sets.join(number, first.setdefault((self._symbols[number], key), number))

    def _wholes(self) -> Iterator[tuple[int, Hashable]]:
        """What must be whole, in each hunk: statements, strings, functions that go."""
        for number, change in enumerate(self._file.lines):
            for new, line in self._lines(change):
                yield number, (change.hunk, new, self._outlines[new].statement_at(line))
                if self._outlines[new].part_of_string(line):
                    yield number, (change.hunk, "string")
            if self._symbols[number] in self._gone:
                yield number, (change.hunk, "gone")

    def _lines(self, change: LineChange) -> Iterator[tuple[bool, int]]:
        if _removes(change):
            yield False, change.old
        if _adds(change):
            yield True, change.new

    def _text(self, new: bool, line: int) -> bytes:
        return (self._file.after if new else self._file.before)[line]

    def _join_brackets(self) -> None:
        """Join the parts of statements that open or close other brackets or strings than before."""
        more: dict[int, Counter[str]] = {}
        for number, change in enumerate(self._file.lines):
            opened = more.setdefault(self._statements.first(number), Counter())
            for new, line in self._lines(change):
                text = self._text(new, line)
                opened["brackets"] += _depth(text) * (1 if new else -1)
                opened["quotes"] += len(_QUOTES.findall(text)) * (1 if new else -1)
        # An old statement may become a new one of which some line stays: then both open, or close, for that.
        becomes: dict[tuple[bool, int], tuple[bool, int]] = {}
        for old, new_line in lines_that_stay(self._file).items():
            was, will_be = self._outlines[False].statement_at(old), self._outlines[True].statement_at(new_line)
            if (was, will_be) != (old, new_line):
                becomes.setdefault((True, will_be), (False, was))
        first_of: dict[tuple[bool, int], int] = {}
        for number, change in enumerate(self._file.lines):
            if any(more[self._statements.first(number)].values()):
                for new, line in self._lines(change):
                    statement = new, self._outlines[new].statement_at(line)
                    first = first_of.setdefault(becomes.get(statement, statement), number)
                    self._tie(Tie(first, number, both=True))

    def _join_indented(self) -> None:
        """Join the heads that come or go with the lines that they indent."""
        at = {place: number for number, change in enumerate(self._file.lines) for place in self._lines(change)}
        moved: dict[tuple[bool, int], list[int]] = {}
        for number, change in enumerate(self._file.lines):
            # Where a statement goes on, its depth says nothing.
            starts = all(self._outlines[new].statement_at(line) == line for new, line in self._lines(change))
            if starts and is_indented(self._file, change):
                before, after = (_indentation(self._text(*place)) for place in self._lines(change))
                deeper = len(after) > len(before)
                head = next(self._outlines[deeper].heads_of(change.new if deeper else change.old), None)
                if head is not None:
                    moved.setdefault((deeper, head), []).append(number)
        for (new, line), members in moved.items():
            self._join(self._statements, ((number, "together") for number in members))
            head = at.get((new, line))
            if head is None or self._symbols[head] != self._symbols[members[0]]:
                continue
            change = self._file.lines[head]
            if is_indented(self._file, change):
                self._statements.join(head, members[0])
            elif not (_removes(change) and _adds(change)):
                self._statements.join(head, members[0])
                self._join_clauses(new, line, members)

    def _join_clauses(self, deeper: bool, head: int, members: Sequence[int]) -> None:
        """Join other clauses of a compound statement that comes or goes, and note what else in it must or may."""
        lines = self._file.lines
        others = [getattr(lines[number], "old" if deeper else "new") for number in members]
        for number, change in enumerate(lines):
            if self._symbols[number] != self._symbols[members[0]] or (_removes(change) and _adds(change)):
                continue
            new, line = next(self._lines(change))
            if new is deeper:
                inside = head in self._outlines[new].heads_of(line)
                if inside and next(self._outlines[new].heads_of(line)) == head and _CLAUSE.match(self._text(new, line)):
                    self._statements.join(number, members[0])
                    continue
            else:
                inside = min(others) < line < max(others) and bool(self._text(new, line).strip())
            if inside and self._statements.first(number) != self._statements.first(members[0]):
                # What is removed would be left at the wrong depth; what is added would come at it.
                needing, needed = (number, members[0]) if new else (members[0], number)
                self._needs.setdefault(needing, []).append(needed)

    def _tie(self, tie: Tie) -> None:
        """Join two changes that need each other; what is in another function, or needed by one only, is noted."""
        if tie.both and self._symbols[tie.one] == self._symbols[tie.other]:
            self._statements.join(tie.one, tie.other)
            return
        self._needs.setdefault(tie.one, []).append(tie.other)
        if tie.both:
            self._needs.setdefault(tie.other, []).append(tie.one)


def is_indented(file: FileChange, change: LineChange) -> bool:
    """Whether a change moves a line to another depth."""
    if not (_removes(change) and _adds(change)):
        return False
    old, new = file.before[change.old], file.after[change.new]
    return bool(old.strip() and new.strip()) and _indentation(old) != _indentation(new)


def _removes(change: LineChange) -> bool:
    return change.old < change.old_stop


def _adds(change: LineChange) -> bool:
    return change.new < change.new_stop


def _indentation(line: bytes) -> bytes:
    return line[: len(line) - len(line.lstrip())].expandtabs()


def _depth(line: bytes) -> int:
    """How many more brackets a line opens than it closes."""
    return sum((token in b"([{") - (token in b")]}") for token in _TOKEN.findall(line) if len(token) == 1)
