"""Working copies in which mixtures of two versions are built and run.

Rules of this module:

* A run finds exactly the files of its mixture: whatever an earlier run wrote, changed or removed is undone before it.
  With a build, the files that it made stay for the next one, so that only what changed is built again.
* Only the files that differ from the mixture before are written. Files are never shared (no hard links): a program
  that writes to one must not reach the versions that we were given.
* All copies have paths of the same length.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import os
import queue
import shutil
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from replay_dd.changes.difference import Clash, Difference, Version, folders_above
from replay_dd.dd import IntervalSet
from replay_dd.errors.machine import MachineError
from replay_dd.experiment.ending import Ending, Oracle
from replay_dd.experiment.guard import GUARD
from replay_dd.experiment.process import Command, Finished, private_folder, run
from replay_dd.outcome import Outcome

_CACHES = frozenset({"__pycache__", ".pytest_cache", ".mypy_cache", ".hypothesis"})
_State = tuple[int, int, int, int]


@dataclass
class Target:
    """What is run in a version.

    Attributes:
        command: the program and its arguments.
        build: a command for the shell, run before the program; None for none.
        environment: all environment variables.
        time_limit_s: seconds after which a run is killed.
        build_limit_s: seconds after which a build is killed.
    """

    command: tuple[str, ...]
    build: str | None = None
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    time_limit_s: float | None = None
    build_limit_s: float | None = None


class _Copy:
    """One working copy."""

    def __init__(self, folder: Path, old: Mapping[str, Version]) -> None:
        self.root = folder / "tree"
        self.root.mkdir()
        self._old = old
        self._there: dict[str, Version] = {}
        self._states: dict[str, _State] = {}

    def become(self, mixture: Mapping[str, Version | None], *, keep_new_files: bool) -> None:
        """Write what differs from what is there."""
        wanted = {path: version for path in self._old if (version := mixture.get(path, self._old[path])) is not None}
        wanted |= {path: version for path, version in mixture.items() if version is not None}
        self._remove_others(wanted, keep_new_files=keep_new_files)
        for path, version in wanted.items():
            place = self.root / path
            if self._there.get(path) != version or self._states.get(path) != _state(place):
                _write(place, version)
                self._states[path] = _state(place) or (0, 0, 0, 0)
        self._there = wanted

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


class Workshop:
    """Runs mixtures, each in a working copy that no other run uses at the same time.

    Args:
        difference: the two versions.
        target: what is run.
        oracle: says what counts as a failure.
    """

    def __init__(self, difference: Difference, target: Target, oracle: Oracle) -> None:
        self._difference = difference
        self._target = target
        self._oracle = oracle
        self._old = {path: Version((), entry.mode, None, entry) for path, entry in difference.old.items()}
        self._free: queue.LifoQueue[_Copy] = queue.LifoQueue()
        self._folders: list[Path] = []

    def __enter__(self) -> Workshop:
        return self

    def __exit__(self, *_: object) -> None:
        for folder in self._folders:
            GUARD.remove_folder(folder)

    def run(self, configuration: IntervalSet) -> Ending:
        """Build and run the old version with these deltas applied.

        Raises:
            ProgramNotFoundError: there is no such program.
            MachineError: a working copy cannot be written.
        """
        try:
            mixture = self._difference.mixture(configuration)
        except Clash as clash:
            return Ending(Outcome.UNRESOLVED, "does not apply", f"it does not apply: {clash}")
        broken = self._not_parsed(mixture)
        if broken is not None:
            return Ending(Outcome.UNRESOLVED, "does not parse", broken)
        with self._copy() as copy:
            try:
                copy.become(mixture, keep_new_files=self._target.build is not None)
            except OSError as error:
                raise MachineError(f"A working copy cannot be written: {error}.") from error
            if self._target.build is not None:
                built = self._run(copy, ("sh", "-c", self._target.build), self._target.build_limit_s)
                if built.status != 0:
                    return _not_built(built)
            return self._oracle.ending(self._run(copy, self._target.command, self._target.time_limit_s))

    def _not_parsed(self, mixture: Mapping[str, Version | None]) -> str | None:
        """A file of Python that is broken in this mixture, though it is whole in both versions; known without a run."""
        for path, version in mixture.items():
            if version is None or version.content is None or not path.endswith(".py"):
                continue
            told = _syntax_error(path, version.content)
            if told and not any(_syntax_error(path, text) for text in self._difference.texts(path)):
                return told
        return None

    def _run(self, copy: _Copy, command: Sequence[str], limit_s: float | None) -> Finished:
        environment = {**self._target.environment}
        first = [str(copy.root), *([str(copy.root / "src")] if (copy.root / "src").is_dir() else [])]
        environment["PYTHONPATH"] = os.pathsep.join([*first, *filter(None, [environment.get("PYTHONPATH")])])
        # A compiled file is taken for current by the time of its source in seconds, and its size.
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        with private_folder() as folder:
            finished = run(
                Command(tuple(command), copy.root, environment), folder, time_limit_s=limit_s, show_output=False
            )
        output = finished.output.replace(os.fsencode(copy.root) + b"/", b"")
        return Finished(finished.status, finished.signal, finished.timed_out, finished.seconds, output)

    @contextlib.contextmanager
    def _copy(self) -> Iterator[_Copy]:
        try:
            copy = self._free.get_nowait()
        except queue.Empty:
            folder = GUARD.make_folder()
            self._folders.append(folder)
            copy = _Copy(folder, self._old)
        try:
            yield copy
        finally:
            self._free.put(copy)


@functools.lru_cache(4096)
def _syntax_error(path: str, text: bytes) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError as error:
        return f"{path}:{error.lineno} has a syntax error: {error.msg}"
    except (ValueError, RecursionError, MemoryError):
        return f"{path} cannot be parsed"
    return ""


def _not_built(built: Finished) -> Ending:
    lines = [line for line in built.output.decode("utf-8", "replace").splitlines() if line.strip()]
    told = next((line for line in lines if "error" in line.lower()), lines[-1] if lines else "")
    how = "takes too long" if built.timed_out else "fails"
    return Ending(Outcome.UNRESOLVED, "not built", f"the build {how}{': ' if told else ''}{told.strip()[:200]}")


def _write(place: Path, version: Version) -> None:
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
