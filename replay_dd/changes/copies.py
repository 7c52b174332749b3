"""Working copies: the files of a mixture, written where a program can run.

Rules of this module:

* Only the files that differ from the mixture before are written, or were changed by a run.
* Files are never shared (no hard links): a program that writes to one must not reach the versions that we were given.
* Each version of a file has a time of its own, in all copies, so that what Python compiled can be kept from run to run:
  it takes a compiled file for current by the time of its source in seconds. With a build, the times are the real ones,
  and what includes a changed file counts as changed, too.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import threading
from collections.abc import Mapping
from pathlib import Path

from replay_dd.changes.difference import folders_above
from replay_dd.changes.file_change import Version
from replay_dd.changes.includes import included_in, includers
from replay_dd.dd import IntervalSet
from replay_dd.experiment.process import Finished

_CACHES = frozenset({"__pycache__", ".pytest_cache", ".mypy_cache", ".hypothesis"})
_FIRST_TIME_S = 1_000_000_000
_State = tuple[int, int, int, int]


class Times:
    """Gives each version of each file a time of its own."""

    def __init__(self) -> None:
        self._known: dict[object, int] = {}
        self._lock = threading.Lock()

    def of(self, path: str, version: Version) -> int:
        """The time of this version in seconds."""
        entry = None if version.entry is None else version.entry.path
        key = path, entry, version.content and hashlib.sha256(version.content).digest()
        with self._lock:
            return self._known.setdefault(key, _FIRST_TIME_S + len(self._known))


class Copy:
    """One working copy.

    Attributes:
        root: its folder.
        bytecode: where Python keeps what it compiled.
        built: the mixture that was built last, with the outcome; None if none was.
    """

    def __init__(self, folder: Path, old: Mapping[str, Version], times: Times | None) -> None:
        self.root = folder / "tree"
        self.root.mkdir()
        self.bytecode = folder / "bytecode"
        self.built: tuple[IntervalSet, Finished] | None = None
        self._times = times
        self._old = old
        self._there: dict[str, Version] = {}
        self._states: dict[str, _State] = {}
        self._included: dict[str, tuple[Version, frozenset[str]]] = {}

    def distance(self, mixture: Mapping[str, Version | None]) -> int:
        """How many files have to be written or removed for a mixture."""
        if not self._there:
            return len(self._old) + len(mixture)
        paths = {path for path, there in self._there.items() if self._old.get(path) != there}
        paths |= {path for path in self._old if path not in self._there} | set(mixture)
        return sum(self._there.get(path) != mixture.get(path, self._old.get(path)) for path in paths)

    def become(self, mixture: Mapping[str, Version | None], *, keep_new_files: bool) -> None:
        """Write what differs from what is there."""
        wanted = {path: version for path in self._old if (version := mixture.get(path, self._old[path])) is not None}
        wanted |= {path: version for path, version in mixture.items() if version is not None}
        self._remove_others(wanted, keep_new_files=keep_new_files)
        changed = set(self._there) - set(wanted)
        for path, version in wanted.items():
            place = self.root / path
            if self._there.get(path) != version or self._states.get(path) != _state(place):
                _write(place, version, None if self._times is None else self._times.of(path, version))
                self._states[path] = _state(place) or (0, 0, 0, 0)
                changed.add(path)
        if self._times is None and self._there:
            for path in includers(changed, wanted, lambda path: self._includes(path, wanted[path])):
                os.utime(self.root / path, follow_symlinks=False)
                self._states[path] = _state(self.root / path) or (0, 0, 0, 0)
        self._there = wanted

    def _includes(self, path: str, version: Version) -> frozenset[str]:
        """The names of the files that a source includes."""
        known = self._included.get(path)
        if known is None or known[0] != version:
            place = self.root / path
            text = place.read_bytes() if place.is_file() else b""
            known = self._included[path] = version, included_in(text)
        return known[1]

    def _remove_others(self, wanted: Mapping[str, Version], *, keep_new_files: bool) -> None:
        folders = {above for path in wanted for above in folders_above(path)}
        for found, names, files in os.walk(self.root, topdown=True):
            below = os.path.relpath(found, self.root)
            prefix = "" if below == "." else f"{below}/"
            for name in list(names):
                path = f"{prefix}{name}"
                is_link = os.path.islink(os.path.join(found, name))
                if path in folders and not is_link:
                    continue
                if path in wanted and is_link:
                    names.remove(name)
                elif path in wanted or is_link or name in _CACHES or not (keep_new_files and path not in self._there):
                    names.remove(name)
                    _remove(self.root / path)
            for name in files:
                path = f"{prefix}{name}"
                gone = path in self._there and path not in wanted
                if path in folders or gone or not (path in wanted or keep_new_files):
                    _remove(self.root / path)


def _write(place: Path, version: Version, time_s: int | None) -> None:
    if os.path.lexists(place):
        _remove(place)
    place.parent.mkdir(parents=True, exist_ok=True)
    if version.content is not None:
        place.write_bytes(version.content)
    else:
        assert version.entry is not None
        if version.entry.link is not None:
            place.symlink_to(version.entry.link)
            return
        shutil.copyfile(version.entry.path, place)
    place.chmod(version.mode | 0o200)
    if time_s is not None:
        os.utime(place, (time_s, time_s))


def _remove(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        with contextlib.suppress(FileNotFoundError):
            place.unlink()


def _state(place: Path) -> _State | None:
    """Equal as long as nobody has written to a file."""
    try:
        found = os.lstat(place)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_mode
