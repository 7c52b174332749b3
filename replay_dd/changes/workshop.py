"""Working copies in which mixtures of two versions are built and run.

Rules of this module:

* A run finds exactly the files of its mixture: whatever an earlier run wrote, changed or removed is undone before it.
  With a build, the files that it made stay for the next one, so that only what changed is built again.
* All copies have paths of the same length.
* With a build, the copy that needs the fewest files written is taken, and one that has just this mixture is not built
  again.
"""

from __future__ import annotations

import contextlib
import functools
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from replay_dd.changes.calls_probe import CALLS
from replay_dd.changes.clues import NO_CLUES, Clues, clues_in, program_words
from replay_dd.changes.copies import Copy, Times
from replay_dd.changes.coverage import Executed, executed_in
from replay_dd.changes.difference import Clash, Difference
from replay_dd.changes.divergences import Call, calls_in
from replay_dd.changes.file_change import Version
from replay_dd.changes.lines_probe import EXECUTED, VERSION
from replay_dd.changes.mending import Break
from replay_dd.changes.names import missing_names
from replay_dd.changes.opened import OpenedFiles
from replay_dd.changes.outlines import broken_line, outline_of, unbalanced
from replay_dd.changes.paired_files import lines_of
from replay_dd.changes.tree import LEFT_OUT
from replay_dd.dd import EMPTY, IntervalSet
from replay_dd.errors.machine import WorkingCopyError
from replay_dd.errors.program import DoesNotFailError
from replay_dd.experiment.ending import Ending, Oracle
from replay_dd.experiment.guard import GUARD
from replay_dd.experiment.journal import recalled
from replay_dd.experiment.process import Command, Finished, private_folder, run
from replay_dd.outcome import Outcome
from replay_dd.python_sources import without_warnings

NOT_BUILT = "not built"
"""The signature of a version whose build fails."""
_MOST_COPIES = 3  # of built trees, besides those that run at the same time
_MOST_BYTES = 500_000_000
_LIMIT_FACTOR = 20.0
_LEAST_LIMIT_S = 20.0
"""How long a mixture may run, compared with the slower one of both versions, and at least."""


@dataclass
class Target:
    """What is run in a version.

    Attributes:
        command: the program and its arguments.
        build: a command for the shell, run before the program; None for none.
        environment: all environment variables.
        time_limit_s: seconds after which a run is killed.
        limit_follows_ends: whether a mixture is killed sooner, as soon as it has run far longer than both versions.
        build_limit_s: seconds after which a build is killed.
        runner: runs the version in a folder with these variables, and judges it; by default, the command is run once.
    """

    command: tuple[str, ...]
    build: str | None = None
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    time_limit_s: float | None = None
    limit_follows_ends: bool = False
    build_limit_s: float | None = None
    runner: Callable[[Path, Mapping[str, str]], Ending] | None = None


@dataclass
class _Probe:
    """What notes a run: the folder of its `sitecustomize`, and afterwards which files were opened."""

    folder: Path
    is_compared: bool  # with a run of the other version, so that values must not depend on chance
    seen: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Trial:
    """One run of a mixture.

    Attributes:
        ending: how it ended.
        missing: the names that its errors are about.
        clues: what it printed about its failure.
        place: the file and the function, if any, that the last stack which it printed ends in, if that file changes.
    """

    ending: Ending
    missing: tuple[str, ...] = ()
    clues: Clues = NO_CLUES
    place: tuple[str, str] | None = None


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
        self._free: list[Copy] = []
        self._lock = threading.Lock()
        self._times = Times() if target.build is None else None
        self._seconds_of_ends: dict[IntervalSet, float] = {}
        self._folders: list[Path] = []
        self._calls: dict[IntervalSet, list[Call]] = {}

    def __enter__(self) -> Workshop:
        return self

    def __exit__(self, *_: object) -> None:
        for folder in self._folders:
            GUARD.remove_folder(folder)

    @property
    def program_words(self) -> frozenset[str]:
        """The names in the program that is run, as far as its files can be read."""
        return program_words(self._target.command, self._difference.old)

    def run(self, configuration: IntervalSet) -> Ending:
        """Build and run the old version with these deltas applied; raises as :meth:`trial` does."""
        return self.trial(configuration).ending

    def trial(self, configuration: IntervalSet, *, clean: bool = False) -> Trial:
        """Build and run the old version with these deltas applied.

        Args:
            configuration: the deltas.
            clean: build from nothing but the files of the mixture.

        Raises:
            ProgramNotFoundError: there is no such program.
            WorkingCopyError: a working copy cannot be written.
        """
        if clean:
            return self._trial(configuration, None, clean=True)
        return recalled(
            Trial,
            lambda: (self._difference.digest, configuration.intervals),
            lambda: self._trial(configuration, None),
        )

    def observed(self, configuration: IntervalSet) -> tuple[Ending, Executed]:
        """Like :meth:`run`, with a clean build, and note what is executed and opened."""
        ending, noted, seen = self._probed(configuration, "lines_probe.py", EXECUTED)
        return ending, replace(executed_in(noted), seen=seen)

    def calls(self, configuration: IntervalSet) -> list[Call]:
        """Run once with a clean build, and note the calls of functions of Python; none if a runner judges versions."""
        if self._target.runner is not None:
            return []
        known = self._calls.get(configuration)
        if known is None:
            _, noted, _ = self._probed(configuration, "calls_probe.py", CALLS)
            known = self._calls[configuration] = calls_in(noted)
        return known

    def _probed(
        self, configuration: IntervalSet, module: str, notes: str
    ) -> tuple[Ending, bytes, frozenset[str] | None]:
        """How a run ended, what a probe noted, and which files were opened."""
        with private_folder() as folder:
            (folder.path / "lines_probe.py").write_bytes((Path(__file__).parent / "lines_probe.py").read_bytes())
            (folder.path / "sitecustomize.py").write_bytes((Path(__file__).parent / module).read_bytes())
            probe = _Probe(folder.path, is_compared=notes == CALLS)
            ending = self._trial(configuration, probe, clean=True).ending
            noted = folder.path / notes
            return ending, noted.read_bytes() if noted.exists() else b"", probe.seen

    def in_copy(self, configuration: IntervalSet, use: Callable[[Path, Mapping[str, str]], None]) -> None:
        """Build a version, and use the folder that it is in, with the variables that it runs under.

        Raises:
            DoesNotFailError: it is not built.
        """
        mixture = self._difference.mixture(configuration)
        with self._copy(mixture) as copy:
            copy.become(mixture, keep_new_files=False)
            built = self._built(copy, configuration)
            if built is not None and built.status != 0:
                raise DoesNotFailError(f"The version is not built: {_not_built(built).words}.")
            use(copy.root, self._environment(copy))

    def _trial(self, configuration: IntervalSet, probe: _Probe | None, *, clean: bool = False) -> Trial:
        try:
            mixture = self._difference.mixture(configuration)
        except Clash as clash:
            return Trial(Ending(Outcome.UNRESOLVED, "does not apply", f"it does not apply: {clash}"))
        broken = next(self._breaks_of(mixture), None)
        if broken is not None:
            return Trial(Ending(Outcome.UNRESOLVED, "does not parse", broken.told))
        with self._copy(mixture) as copy:
            try:
                if clean:
                    copy.built = None
                copy.become(mixture, keep_new_files=self._target.build is not None and not clean)
            except OSError as error:
                raise WorkingCopyError(f"A working copy cannot be written: {error.strerror or error}.") from error
            with OpenedFiles(copy.root, LEFT_OUT) if probe is not None else contextlib.nullcontext() as opened:
                built = self._built(copy, configuration)
                if built is not None and built.status != 0:
                    return Trial(_not_built(built), missing_names(built.output))
                if self._target.runner is not None:
                    ending = self._target.runner(copy.root, self._environment(copy))
                    return Trial(ending, () if ending.verdict is Outcome.PASS else missing_names(ending.words.encode()))
                finished = self._run(copy, self._target.command, self._limit_s(configuration), probe)
                if configuration in (EMPTY, self._difference.all):
                    self._seconds_of_ends[configuration] = finished.seconds
            if probe is not None and opened is not None:
                probe.seen = opened.paths
            ending = self._oracle.ending(finished)
            if ending.verdict is Outcome.PASS:
                return Trial(ending)
            clues = clues_in(finished.output)
            return Trial(ending, missing_names(finished.output), clues, self._innermost(mixture, clues))

    def _limit_s(self, configuration: IntervalSet) -> float | None:
        """After how many seconds a run of a mixture is killed: many of those in between never end."""
        limit_s, ends = self._target.time_limit_s, self._seconds_of_ends
        if limit_s is None or not self._target.limit_follows_ends or configuration in ends or len(ends) < 2:
            return limit_s
        return min(limit_s, max(_LIMIT_FACTOR * max(ends.values()), _LEAST_LIMIT_S))

    def _innermost(self, mixture: Mapping[str, Version | None], clues: Clues) -> tuple[str, str] | None:
        """The last place in the version that a failing run names, if its file changes: the path, and the function."""
        for path, line in reversed(clues.places):
            version = mixture.get(path)
            if version is not None and version.content is not None:
                return path, outline_of(path, lines_of(version.content)).symbol_at(line)
            if path in self._old:
                return None
        return None

    def _built(self, copy: Copy, configuration: IntervalSet) -> Finished | None:
        """Build a copy, unless it was built last from the same mixture."""
        if self._target.build is None:
            return None
        if copy.built is None or copy.built[0] != configuration:
            copy.built = None
            built = self._run(copy, ("sh", "-c", self._target.build), self._target.build_limit_s)
            copy.built = configuration, built
        return copy.built[1]

    def breaks(self, configuration: IntervalSet) -> tuple[Break, ...]:
        """Where files do not parse in a mixture, though they do in both versions."""
        try:
            mixture = self._difference.mixture(configuration)
        except Clash:
            return ()
        return tuple(self._breaks_of(mixture))

    def _breaks_of(self, mixture: Mapping[str, Version | None]) -> Iterator[Break]:
        """The files that are broken in this mixture, though they are whole in both versions; known without a run."""
        for path, version in mixture.items():
            if version is None or version.content is None:
                continue
            for check in (_syntax_error, _unbalanced):
                told = check(path, version.content)
                if told and not any(check(path, text) for text in self._difference.texts(path)):
                    yield told
                    break

    def _run(self, copy: Copy, command: Sequence[str], limit_s: float | None, probe: _Probe | None = None) -> Finished:
        environment = self._environment(copy, probe)
        with private_folder() as folder:
            finished = run(
                Command(tuple(command), copy.root, environment), folder, time_limit_s=limit_s, show_output=False
            )
        output = finished.output.replace(os.fsencode(copy.root) + b"/", b"")
        return Finished(finished.status, finished.signal, finished.timed_out, finished.seconds, output)

    def _environment(self, copy: Copy, probe: _Probe | None = None) -> dict[str, str]:
        environment = {**self._target.environment}
        first = [str(copy.root), *([str(copy.root / "src")] if (copy.root / "src").is_dir() else [])]
        if probe is not None:
            first.insert(0, str(probe.folder))
            environment[VERSION] = str(copy.root)
            if probe.is_compared:
                environment.setdefault("PYTHONHASHSEED", "0")
        environment["PYTHONPATH"] = os.pathsep.join([*first, *filter(None, [environment.get("PYTHONPATH")])])
        if self._times is None:
            environment["PYTHONDONTWRITEBYTECODE"] = "1"
        else:
            environment.pop("PYTHONDONTWRITEBYTECODE", None)
            environment["PYTHONPYCACHEPREFIX"] = str(copy.bytecode)
        return environment

    @contextlib.contextmanager
    def _copy(self, mixture: Mapping[str, Version | None]) -> Iterator[Copy]:
        with self._lock:
            nearest = min(self._free, key=lambda copy: copy.distance(mixture), default=None)
            if nearest is not None:
                self._free.remove(nearest)
        if nearest is None or (self._has_room_for_another() and nearest.distance(mixture)):
            if nearest is not None:
                with self._lock:
                    self._free.append(nearest)
            folder = GUARD.make_folder()
            with self._lock:
                self._folders.append(folder)
            nearest = Copy(folder, self._old, self._times)
        try:
            yield nearest
        finally:
            with self._lock:
                self._free.append(nearest)

    def _has_room_for_another(self) -> bool:
        """Whether a built copy should stay as it is, in case that its mixture comes again."""
        size = sum(version.entry.size for version in self._old.values() if version.entry is not None)
        kept = len(self._folders)
        return self._target.build is not None and kept < _MOST_COPIES and kept * size < _MOST_BYTES


@functools.lru_cache(4096)
def _syntax_error(path: str, text: bytes) -> Break | None:
    if not path.endswith(".py"):
        line = broken_line(path, text)
        return None if line is None else Break(path, line, f"{path}:{line + 1} has a syntax error")
    try:
        with without_warnings():
            compile(text, path, "exec", dont_inherit=True)  # the parser takes a `return` anywhere
    except SyntaxError as error:
        line = None if error.lineno is None else error.lineno - 1
        return Break(path, line, f"{path}:{error.lineno} has a syntax error: {error.msg}")
    except (ValueError, RecursionError, MemoryError):
        return Break(path, None, f"{path} cannot be parsed")
    return None


def _unbalanced(path: str, text: bytes) -> Break | None:
    told = unbalanced(path, text)
    return Break(path, None, told) if told else None


def _not_built(built: Finished) -> Ending:
    lines = [line for line in built.output.decode("utf-8", "replace").splitlines() if line.strip()]
    told = next((line for line in lines if "error" in line.lower()), lines[-1] if lines else "")
    how = "takes too long" if built.timed_out else "fails"
    return Ending(Outcome.UNRESOLVED, NOT_BUILT, f"the build {how}{': ' if told else ''}{told.strip()[:200]}")
