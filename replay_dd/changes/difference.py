"""What leads from one version of a program to another, as deltas that can be applied in any combination.

Rules of this module:

* The smallest delta is a *line change*: a line of the old version that is replaced or removed, or a new one beside it.
  Files that are added, removed, renamed or not text are one delta each, and so are permissions.
* Deltas are numbered in the order of the files and of their lines, so that neighbours have neighbouring numbers.
* A line change is bound to its place in the old version, not to the lines around it: any set of them can be applied.
  What cannot be applied is two files at one place, or a file at the place of a folder.
"""

from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property

from replay_dd.changes.file_change import Arrival, FileChange, Kind, Version
from replay_dd.changes.line_changes import LineChange
from replay_dd.changes.paired_files import file_changes
from replay_dd.changes.tree import Tree
from replay_dd.dd import IntervalSet


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
        self.files = tuple(file_changes(old, new))
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

    def place_of_line(self, delta: int) -> tuple[FileChange, int] | None:
        """The file of a delta that changes a line, and its number among the line changes; None for others."""
        file = self.files[self._file_of[delta]]
        number = self.local(delta) - len(file.kinds)
        return (file, number) if number >= 0 else None

    def line_change(self, delta: int) -> LineChange | None:
        """What a delta does to a line; None if it does something else."""
        place = self.place_of_line(delta)
        return None if place is None else place[0].lines[place[1]]

    def kind(self, delta: int) -> Kind:
        """What a delta does."""
        file = self.files[self._file_of[delta]]
        number = self.local(delta)
        return file.kinds[number] if number < len(file.kinds) else Kind.LINE

    def arrival(self, delta: int) -> Arrival | None:
        """The function or class that comes from another file with a delta."""
        return self.files[self._file_of[delta]].arrival(self.local(delta))

    def moves(self, delta: int) -> bool:
        """Whether a delta puts a file, or functions of another one, as they were, into another place."""
        kind, file = self.kind(delta), self.files[self.file_of(delta)]
        return kind in (Kind.ARRIVE, Kind.RENAME) or (kind is Kind.ADD and bool(file.lines))

    def words(self, delta: int) -> str:
        """What a delta does to a file as a whole, or where lines change."""
        file, arrival = self.files[self._file_of[delta]], self.arrival(delta)
        if arrival is not None:
            return f"{arrival.name} comes to {file.path} from {arrival.source}"
        return file.words(self.kind(delta))

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

    def line_change_before(self, configuration: IntervalSet, path: str, line: int) -> int:
        """The last delta that changes a line at or before a line, from 0, of a file of a mixture; -1 for none."""
        for number, file in enumerate(self.files):
            if file.lines and path in (file.old_path, file.new_path):
                applied = [self.local(delta) for delta in configuration & self.deltas_of(number)]
                found = file.line_change_before(applied, line)
                if found >= 0:
                    return self._starts[number] + len(file.kinds) + found
        return -1

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
