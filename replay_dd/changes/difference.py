"""What leads from one version of a program to another, as deltas that can be applied in any combination.

Rules of this module:

* The smallest delta is a *line change*: a line of the old version that is replaced or removed, or a new one beside it.
  Files that are added, removed, renamed or not text are one delta each, and so are permissions. In an added file, lines
  of functions that came from elsewhere change, too.
* Deltas are numbered in the order of the files and of their lines, so that neighbours have neighbouring numbers.
* A line change is bound to its place in the old version, not to the lines around it: any set of them can be applied.
  What cannot be applied is two files at one place, or a file at the place of a folder.
* Lines are bytes with their ends, so neither the encoding nor the kind of line end matters.
"""

from __future__ import annotations

import hashlib
import itertools
import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property

from replay_dd.changes.line_changes import LineChange, line_changes
from replay_dd.changes.moved import Lost, as_they_were
from replay_dd.changes.tree import Entry, Tree
from replay_dd.dd import IntervalSet

SIMILAR = 0.5
"""How much of its lines a file must share with a removed one to count as renamed."""
_LARGEST_TEXT = 20_000_000
_LOOKED_AT = 8000  # bytes in which a text has no zero; what `git diff` looks at
_MOST_PAIRS = 100_000  # of files compared to find renamed ones


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


class Clash(Exception):
    """A set of deltas that cannot be applied: it puts two things at one place."""


class Difference:
    """All deltas between two versions.

    Args:
        old: the old version, which passes.
        new: the new version, which fails.

    Attributes:
        old: the old version.
        files: what happens to each file.
        all: all deltas.
    """

    def __init__(self, old: Tree, new: Tree) -> None:
        self.old = old
        self._new = new
        self.files = tuple(_file_changes(old, new))
        self._starts = [0, *itertools.accumulate(file.count for file in self.files)]
        self.all = IntervalSet.range(0, self._starts[-1])

    @cached_property
    def digest(self) -> str:
        """Equal for the same two versions, in any process."""
        digest = hashlib.sha256()
        for tree in (self.old, self._new):
            digest.update(f"{len(tree)} files".encode())
            for path, entry in sorted(tree.items()):
                content = entry.read() if entry.link is None else os.fsencode(entry.link)
                digest.update(repr((path, entry.mode, entry.link is None, len(content))).encode())
                digest.update(content)
        return digest.hexdigest()

    def deltas_of(self, file: int) -> IntervalSet:
        """The deltas of the file with this number."""
        return IntervalSet.range(self._starts[file], self._starts[file + 1])

    @cached_property
    def _file_of(self) -> list[int]:
        return [number for number, file in enumerate(self.files) for _ in range(file.count)]

    def file_of(self, delta: int) -> int:
        """The number of the file that a delta belongs to."""
        return self._file_of[delta]

    def local(self, delta: int) -> int:
        """The number of a delta among those of its file."""
        return delta - self._starts[self._file_of[delta]]

    def line_change(self, delta: int) -> LineChange | None:
        """What a delta does to a line; None if it does something else."""
        file = self.files[self._file_of[delta]]
        number = self.local(delta) - len(file.kinds)
        return file.lines[number] if number >= 0 else None

    def kind(self, delta: int) -> Kind:
        """What a delta does."""
        file = self.files[self._file_of[delta]]
        number = self.local(delta)
        return file.kinds[number] if number < len(file.kinds) else Kind.LINE

    def texts(self, path: str) -> tuple[bytes, ...]:
        """The old and the new text of a file whose lines change, by its old or its new path."""
        found = [file for file in self.files if path in (file.old_path, file.new_path) and file.lines]
        return tuple(b"".join(lines) for file in found for lines in (file.before, file.after))

    def deltas_at(self, paths: Collection[str]) -> IntervalSet:
        """The deltas of the files with these paths, old or new."""
        found = (
            interval
            for number, file in enumerate(self.files)
            if file.old_path in paths or file.new_path in paths
            for interval in self.deltas_of(number).intervals
        )
        return IntervalSet.from_intervals(found)

    def applied_to(self, configuration: IntervalSet) -> dict[int, list[int]]:
        """For each file that these deltas touch, which of its own they are."""
        touched: dict[int, list[int]] = {}
        for delta in configuration:
            touched.setdefault(self._file_of[delta], []).append(self.local(delta))
        return touched

    def mixture(self, configuration: IntervalSet) -> Mapping[str, Version | None]:
        """What lies where with these deltas applied to the old version; None for what is gone.

        Places that are not mentioned are as in the old version.

        Raises:
            Clash: two things would lie at one place.
        """
        gone: set[str] = set()
        there: dict[str, Version] = {}
        for number, applied in self.applied_to(configuration).items():
            file = self.files[number]
            path, version = file.version(applied)
            if file.old_path is not None and path != file.old_path:
                gone.add(file.old_path)
            if path is not None and version is not None:
                if path in there:
                    raise Clash(f"two files would be at {path}")
                there[path] = version
        for path in there:
            if path in self.old and path not in gone and not self._is_own(path, configuration):
                raise Clash(f"two files would be at {path}")
        files = {path for path in self.old if path not in gone} | set(there)
        for path in there:
            for above in folders_above(path):
                if above in files:
                    raise Clash(f"{above} would be a file and a folder")
        return {**dict.fromkeys(gone - set(there)), **there}

    @cached_property
    def _own_places(self) -> dict[str, int]:
        return {file.old_path: number for number, file in enumerate(self.files) if file.old_path is not None}

    def _is_own(self, path: str, configuration: IntervalSet) -> bool:
        """Whether what lies at this place now is a version of what was there."""
        number = self._own_places.get(path)
        return number is not None and bool(self.deltas_of(number) & configuration)


def folders_above(path: str) -> Iterator[str]:
    """The folders that a path below the root lies in, the innermost first."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _file_changes(old: Tree, new: Tree) -> Iterator[FileChange]:
    removed = [path for path in old if path not in new]
    added = [path for path in new if path not in old]
    renamed = _renamed(old, new, removed, added)
    found: dict[str, FileChange] = {}
    for path in removed:
        if path not in renamed:
            found[path] = FileChange(path, None, old[path], None, (Kind.REMOVE,))
    sources = {target: source for source, target in renamed.items()}
    for path in new:
        source = sources.get(path, path)
        if source not in old:
            found[path] = FileChange(None, path, None, new[path], (Kind.ADD,))
        else:
            change = _change(source, path, old[source], new[path])
            if change.count:
                found[path] = change
    for path, file in _with_moved_functions(found):
        found[path] = file
    yield from (found[path] for path in sorted(found))


def _with_moved_functions(files: Mapping[str, FileChange]) -> Iterator[tuple[str, FileChange]]:
    """The added files of which lines change, since functions in them came from other files."""
    added = [(path, file.new) for path, file in files.items() if file.old is None and file.new is not None]
    texts = [(path, lines) for path, entry in added if (lines := _text(entry)) is not None]
    lost = [Lost(file.old_path, file.before, file.after) for file in files.values() if file.old_path and file.lines]
    gone = [(path, file.old) for path, file in files.items() if file.new is None and file.old is not None]
    lost += [Lost(path, lines, ()) for path, entry in gone if texts and (lines := _text(entry)) is not None]
    for path, lines in texts:
        before = as_they_were(path, lines, lost)
        changes = tuple(line_changes(path, before, lines))
        if changes:
            yield path, replace(files[path], lines=changes, before=before, after=lines)


def _text(entry: Entry) -> Sequence[bytes] | None:
    """The lines of a file that is text."""
    if entry.link is not None or entry.size > _LARGEST_TEXT:
        return None
    content = entry.read()
    return None if b"\0" in content[:_LOOKED_AT] else lines_of(content)


def _change(old_path: str, new_path: str, old: Entry, new: Entry) -> FileChange:
    kinds = (Kind.RENAME,) if old_path != new_path else ()
    texts = _texts(old, new)
    if not old.is_same(new) and texts is None:
        return FileChange(old_path, new_path, old, new, (*kinds, Kind.REPLACE))
    if old.mode != new.mode:
        kinds = (*kinds, Kind.MODE)
    before, after = texts or ((), ())
    return FileChange(old_path, new_path, old, new, kinds, tuple(line_changes(new_path, before, after)), before, after)


def _texts(old: Entry, new: Entry) -> tuple[Sequence[bytes], Sequence[bytes]] | None:
    """The lines of two files that are both text and not the same."""
    if old.is_same(new):
        return None
    before, after = _text(old), _text(new)
    return None if before is None or after is None else (before, after)


def lines_of(text: bytes) -> list[bytes]:
    """The lines of a text with their ends."""
    lines = text.split(b"\n")
    last = lines.pop()
    return [*(line + b"\n" for line in lines), *([last] if last else [])]


def _renamed(old: Tree, new: Tree, removed: Sequence[str], added: Sequence[str]) -> dict[str, str]:
    """Which removed files are found again among the added ones: the same, or similar enough."""
    found: dict[str, str] = {}
    by_size: dict[tuple[int, str | None], list[str]] = {}
    for path in added:
        by_size.setdefault((new[path].size, new[path].link), []).append(path)
    taken: set[str] = set()
    for path in removed:
        for other in by_size.get((old[path].size, old[path].link), ()):
            if other not in taken and old[path].size and old[path].is_same(new[other]):
                found[path] = other
                taken.add(other)
                break
    left = [path for path in removed if path not in found]
    others = [path for path in added if path not in taken]
    if len(left) * len(others) > _MOST_PAIRS:
        return found
    counted = {path: _line_counts(old[path]) for path in left}
    counted_new = {path: _line_counts(new[path]) for path in others}
    pairs = [
        (-share, path, other)
        for path, lines in counted.items()
        for other, new_lines in counted_new.items()
        if (share := _share(lines, new_lines)) >= SIMILAR
    ]
    for _, path, other in sorted(pairs):
        if path not in found and other not in taken:
            found[path] = other
            taken.add(other)
    return found


def _line_counts(entry: Entry) -> Counter[bytes]:
    if entry.link is not None or entry.size > _LARGEST_TEXT:
        return Counter()
    return Counter(line for line in entry.read().split(b"\n") if line.strip())


def _share(one: Counter[bytes], other: Counter[bytes]) -> float:
    most = max(one.total(), other.total())
    return (one & other).total() / most if most else 0.0
