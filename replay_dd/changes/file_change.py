"""What happens to one file between two versions, and what it is with some of that applied.

Rules of this module:

* Lines are bytes with their ends, so neither the encoding nor the kind of line end matters.
* Deltas of a file as a whole come before those of its lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
        before: its old lines; empty unless lines change. Of an added file, those with functions as they were elsewhere.
        after: its new lines.
    """

    old_path: str | None
    new_path: str | None
    old: Entry | None
    new: Entry | None
    kinds: tuple[Kind, ...] = ()
    lines: tuple[LineChange, ...] = ()
    before: Sequence[bytes] = field(default=(), repr=False)
    after: Sequence[bytes] = field(default=(), repr=False)

    @property
    def path(self) -> str:
        """Its path, the new one if it has one."""
        path = self.new_path or self.old_path
        assert path is not None
        return path

    def words(self, kind: Kind) -> str:
        """What happens to the file as a whole, or where its lines change."""
        return {
            Kind.ADD: f"{self.path} is added",
            Kind.REMOVE: f"{self.path} is removed",
            Kind.RENAME: f"{self.old_path} becomes {self.path}",
            Kind.REPLACE: f"{self.path} {self._replaced}",
            Kind.MODE: f"{self.path} has other permissions",
            Kind.LINE: self.path,
        }[kind]

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
        if self.old is None:
            assert self.new is not None
            if Kind.ADD not in kinds:
                return None, None
            content = b"".join(self._mixed(changes)) if self.lines else None
            return self.new_path, Version(tuple(applied), self.new.mode, content, None if self.lines else self.new)
        if Kind.REMOVE in kinds:
            return None, None
        path = self.new_path if Kind.RENAME in kinds else self.old_path
        if Kind.REPLACE in kinds:
            assert self.new is not None
            return path, Version(tuple(applied), self.new.mode, None, self.new)
        mode = self.new.mode if Kind.MODE in kinds and self.new is not None else self.old.mode
        if changes:
            return path, Version(tuple(applied), mode, b"".join(self._mixed(changes)), None)
        return path, Version(tuple(applied), mode, None, self.old)

    def _mixed(self, changes: Sequence[int]) -> Iterator[bytes]:
        done = 0
        for number in changes:
            change = self.lines[number]
            yield from self.before[done : change.old]
            added = self.after[change.new : change.new_stop]
            yield from added
            done = max(done, change.old_stop)
        yield from self.before[done:]
