"""What happens to one file between two versions, and what it is with some of that applied.

Rules of this module:

* Lines are bytes with their ends, so neither the encoding nor the kind of line end matters.
* Deltas of a file as a whole come before those of its lines.
* A function that arrives from another file, and changes on the way, is one delta: it is there as it was. What changes
  in it are lines as elsewhere; without the arrival, they change nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum

from replay_dd.changes.line_changes import LineChange
from replay_dd.changes.tree import Entry


class Kind(Enum):
    """What a delta does to its file."""

    LINE = "line"
    ADD = "add"
    REMOVE = "remove"
    RENAME = "rename"
    REPLACE = "replace"
    MODE = "mode"
    ARRIVE = "arrive"


@dataclass(frozen=True, slots=True)
class Version:
    """What lies at one place of a mixture of two versions.

    Attributes:
        key: equal for equal versions of one place.
        mode: the permissions.
        content: what a mixed file contains; None if it is as it was.
        entry: what is as it was.
    """

    key: object
    mode: int
    content: bytes | None
    entry: Entry | None


@dataclass(frozen=True, slots=True)
class Arrival:
    """A function or class that comes from another file.

    Attributes:
        name: its name.
        source: the old path of the file that it comes from.
        before: its lines, as it was, among the old lines.
        after: its lines among the new ones.
        brought: how many lines of imports come before it.
    """

    name: str
    source: str
    before: range
    after: range
    brought: int = 0

    def contains(self, change: LineChange) -> bool:
        """Whether a change is one of its lines."""
        return change.old in self.before if change.old < change.old_stop else change.new in self.after


@dataclass(frozen=True)
class FileChange:
    """All that happens to one file.

    Attributes:
        old_path: its path in the old version; None if it is added.
        new_path: its path in the new version; None if it is removed.
        old: what it was.
        new: what it will be.
        kinds: its deltas that are not of lines, in order; they come before those.
        lines: its line changes.
        before: its old lines, with functions that arrive as they were elsewhere; empty unless lines change.
        after: its new lines.
        arrivals: the functions that come from other files, in order.
    """

    old_path: str | None
    new_path: str | None
    old: Entry | None
    new: Entry | None
    kinds: tuple[Kind, ...] = ()
    lines: tuple[LineChange, ...] = ()
    before: Sequence[bytes] = field(default=(), repr=False)
    after: Sequence[bytes] = field(default=(), repr=False)
    arrivals: tuple[Arrival, ...] = ()

    @property
    def path(self) -> str:
        """Its path, the new one if it has one."""
        path = self.new_path or self.old_path
        assert path is not None
        return path

    @property
    def title(self) -> str:
        """Its path, with the old one if that is another: a patch of its lines alone names that one."""
        moved = self.old_path is not None and self.path != self.old_path
        return f"{self.path} ({self.old_path} in the old version)" if moved else self.path

    def words(self, kind: Kind) -> str:
        """What happens to the file as a whole, or where its lines change."""
        return {
            Kind.ADD: f"{self.path} is added",
            Kind.REMOVE: f"{self.path} is removed",
            Kind.RENAME: f"{self.old_path} becomes {self.path}",
            Kind.REPLACE: f"{self.title} {self._replaced}",
            Kind.MODE: f"{self.title} has other permissions",
            Kind.ARRIVE: f"functions arrive in {self.path}",
            Kind.LINE: self.title,
        }[kind]

    def arrival(self, number: int) -> Arrival | None:
        """What arrives with the delta of this number, from 0."""
        first = len(self.kinds) - len(self.arrivals)
        return self.arrivals[number - first] if first <= number < len(self.kinds) else None

    def arrival_of(self, change: LineChange) -> int | None:
        """The number of the delta without which a line change does nothing, from 0."""
        first = len(self.kinds) - len(self.arrivals)
        return next((first + place for place, one in enumerate(self.arrivals) if one.contains(change)), None)

    def line_of_old(self, line: int) -> int:
        """Where a line of the old file is among the old lines, both from 0."""
        for arrival in self.arrivals:
            line += len(arrival.before) if arrival.before.start <= line else 0
        return line

    def line_in_old(self, line: int) -> int:
        """Where one of the old lines was in the old file, both from 0; of one that arrives, what it comes before."""
        return line - sum(min(max(line - one.before.start, 0), len(one.before)) for one in self.arrivals)

    def line_change_before(self, applied: Collection[int], line: int) -> int:
        """The number of the last line change at or before a line, from 0, with these deltas applied; -1 for none.

        What arrives from other files is taken to be there.
        """
        found, shift, numbers = -1, 0, {*applied}
        for number, change in enumerate(self.lines):
            if change.old + shift > line:
                break
            found = number
            if number + len(self.kinds) in numbers:
                shift += (change.new_stop - change.new) - (change.old_stop - change.old)
        return found

    @property
    def _replaced(self) -> str:
        was, becomes = (entry.link if entry is not None else None for entry in (self.old, self.new))
        if becomes is None:
            return "is replaced" if was is None else f"is a file, no link to {was}"
        return f"links to {becomes}, " + ("and is no file" if was is None else f"not to {was}")

    @property
    def count(self) -> int:
        """How many deltas it has."""
        return len(self.kinds) + len(self.lines)

    def version(self, applied: Sequence[int]) -> tuple[str | None, Version | None]:
        """Where it is, and what it is, with these of its deltas applied; None if it is nowhere."""
        kinds = {self.kinds[number] for number in applied if number < len(self.kinds)}
        changes = [number - len(self.kinds) for number in applied if number >= len(self.kinds)]
        arrived = {number for number in applied if self.arrival(number) is not None}
        if self.old is None:
            assert self.new is not None
            if Kind.ADD not in kinds:
                return None, None
            content = b"".join(self._mixed(changes, arrived)) if self.lines else None
            return self.new_path, Version(tuple(applied), self.new.mode, content, None if self.lines else self.new)
        if Kind.REMOVE in kinds:
            return None, None
        path = self.new_path if Kind.RENAME in kinds else self.old_path
        if Kind.REPLACE in kinds:
            assert self.new is not None
            return path, Version(tuple(applied), self.new.mode, None, self.new)
        mode = self.new.mode if Kind.MODE in kinds and self.new is not None else self.old.mode
        if changes or arrived:
            return path, Version(tuple(applied), mode, b"".join(self._mixed(changes, arrived)), None)
        return path, Version(tuple(applied), mode, None, self.old)

    def _mixed(self, changes: Sequence[int], arrived: Collection[int]) -> Iterator[bytes]:
        absent = {
            line
            for number in range(len(self.kinds))
            if number not in arrived and (arrival := self.arrival(number)) is not None
            for line in arrival.before
        }

        def kept(start: int, stop: int) -> Iterator[bytes]:
            return (self.before[line] for line in range(start, stop) if line not in absent)

        done = 0
        for number in changes:
            change = self.lines[number]
            needed = self.arrival_of(change)
            if needed is not None and needed not in arrived:
                continue
            yield from kept(done, change.old)
            yield from self.after[change.new : change.new_stop]
            done = max(done, change.old_stop)
        yield from kept(done, len(self.before))
