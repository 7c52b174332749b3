"""Runs the schedules at a commit, in a folder of its own.

Rules of this module:

* Commits are checked out into temporary folders with an index of their own, so the work tree, the index and the
  branches stay as they are, whatever happens.
* Modules are found there first, also those in ``src``, and not where an editable installation has them.
* Submodules are checked out as well, from the clones that the work tree has.
* A file of the command that not both ends have is the one of the work tree, at each commit: it is part of the test.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from replay_dd.bisect.history import submodules
from replay_dd.changes.sources import checked_out, commit_named
from replay_dd.errors.user import VersionError
from replay_dd.experiment.process import Command, private_folder, run
from replay_dd.outcome import Outcome
from replay_dd.schedules.anchors import with_anchors
from replay_dd.schedules.experiments.fixed_schedules import FixedSchedules, Tried, in_folder, try_schedules
from replay_dd.schedules.hunting.hunt import Hunt, hunt
from replay_dd.schedules.hunting.options import HuntListener, HuntOptions
from replay_dd.schedules.model import Log, Program, Settings
from replay_dd.schedules.replaying.record import DEFAULT_TIME_LIMIT_S, verify_log

_THOROUGH = 3  # times as many hunted schedules for the commit before the guilty one


@dataclass(frozen=True)
class Target:
    """What is run at each commit.

    Attributes:
        program: as it would run here; its directory is below ``top``.
        settings: what to count and hold fixed.
        top: the top of the work tree.
        files: contents of files that are not in the commits, by their names relative to ``top``.
        build: a command for the shell, run before the program; empty for none.
        runs: how many schedules to hunt.
        seed: the first seed.
        jobs: the number of parallel runs.
        may_fork: fork the program at its first thread for each run, if possible.
        time_limit_s: seconds after which a run, or the build, is killed; None to derive that of runs.
        failure: text that the description of the failure must contain.
    """

    program: Program
    settings: Settings
    top: Path
    files: dict[str, tuple[bytes, int]] = field(default_factory=dict)
    build: str = ""
    runs: int = 200
    seed: int = 0
    jobs: int = 1
    may_fork: bool = True
    time_limit_s: float | None = None
    failure: str = ""


class Commits:
    """Runs the schedules at commits.

    Args:
        repository: where the commits are.
        target: what to run.
        on_run: receives progress, in words.

    Attributes:
        logs: of failing runs, as if recorded in the work tree; each commit is tried with their schedules.
    """

    def __init__(self, repository: Path, target: Target, on_run: Callable[[str], None] = lambda text: None) -> None:
        self._repository = repository
        self._target = target
        self._on_run = on_run
        self.logs: list[Log] = []

    def hunt(self, commit: str, time_budget_s: float | None = None) -> tuple[Hunt | None, str]:
        """Hunt for a failure at a commit, and keep its log.

        Returns:
            What was found; None, and why, if the commit is not built.
        """
        target = self._target
        with self._checked_out(commit) as place:
            trouble = self._built(place)
            if trouble:
                return None, trouble
            found = hunt(
                *(self._moved_program(place), target.settings),
                HuntOptions(
                    runs=target.runs,
                    seed=target.seed,
                    jobs=target.jobs,
                    time_limit_s=target.time_limit_s or DEFAULT_TIME_LIMIT_S,
                    may_fork=target.may_fork,
                    failure=target.failure,
                    time_budget_s=time_budget_s,
                ),
                listener=HuntListener(
                    on_run=lambda number, plan, signature: self._on_run(f"run {number}: {signature.text}")
                ),
            )
            if found.failing is not None:
                self.logs.append(self._brought_back(found.failing, place))
            return found, ""

    def test(self, commit: str, *, thorough: bool) -> Tried:
        """Try the schedules at a commit; ``thorough`` for more hunted ones."""
        try:
            return self._tested(commit, thorough=thorough)
        except VersionError as error:
            return Tried(Outcome.UNRESOLVED, error.message)

    def _tested(self, commit: str, *, thorough: bool) -> Tried:
        target = self._target
        with self._checked_out(commit) as place:
            trouble = self._built(place)
            if trouble:
                return Tried(Outcome.UNRESOLVED, trouble)
            runs = target.runs * (_THOROUGH if thorough else 1)
            tried = try_schedules(
                FixedSchedules(tuple(self._moved_log(log, place) for log in self.logs), runs, target.seed),
                jobs=target.jobs,
                may_fork=target.may_fork,
                time_limit_s=target.time_limit_s,
                on_run=self._on_run,
            )
            if tried.outcome is Outcome.FAIL and tried.failing is not None:
                verified = verify_log(tried.failing, target.time_limit_s or DEFAULT_TIME_LIMIT_S)
                tried = replace(tried, failing=self._brought_back(verified, place))
            return tried

    def take(self, log: Log) -> None:
        """Try the schedule of a log at each commit, too; of its program only what its anchors need is used."""
        here = self._target.program
        there = in_folder(log, Path(here.directory), command=here.command, moved=Path(log.program.directory))
        program = replace(here, python=there.program.python, files=there.program.files, paths=there.program.paths)
        self.logs.append(replace(there, program=program, settings=log.settings))

    # -- folders -----------------------------------------------------------------------------------------------------

    @contextmanager
    def _checked_out(self, commit: str) -> Iterator[Path]:
        """A folder with the files of a commit; its top."""
        with private_folder() as folder:
            checked_out(self._repository, commit, folder.path)
            place = folder.path / "files"
            self._fill_submodules(commit, place)
            for name, (content, mode) in self._target.files.items():
                file = place / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
                file.chmod(mode)
            self._directory(place).mkdir(parents=True, exist_ok=True)
            yield place

    def _fill_submodules(self, commit: str, place: Path) -> None:
        """Check out what a commit has of the submodules that the work tree has.

        Raises:
            VersionError: a submodule lacks that commit.
        """
        for path, wanted in submodules(self._repository, commit).items():
            here = self._target.top / path
            if not (here / ".git").exists():
                continue
            if commit_named(here, wanted) is None:
                raise VersionError(
                    f"The submodule {path} lacks the commit {wanted[:12]}, which {commit[:12]} has of it.",
                    f"Fetch it: `git -C {path} fetch --all`.",
                )
            with private_folder() as folder:
                checked_out(here, wanted, folder.path)
                shutil.copytree(folder.path / "files", place / path, symlinks=True, dirs_exist_ok=True)

    def _directory(self, place: Path) -> Path:
        return place / Path(self._target.program.directory).relative_to(self._target.top)

    def _environment(self, place: Path) -> dict[str, str]:
        directory = self._directory(place)
        first = [directory, place, directory / "src", place / "src"]
        own = [str(one) for one in dict.fromkeys(first) if one.is_dir()]
        before = self._target.program.environment.get("PYTHONPATH", "").split(os.pathsep)
        moved = [self._moved(one, place) for one in before if one]
        return {**self._target.program.environment, "PYTHONPATH": os.pathsep.join(dict.fromkeys([*own, *moved]))}

    def _moved(self, path: str, place: Path) -> str:
        top = self._target.top
        whole = Path(os.path.normpath(Path(self._target.program.directory, path)))
        real = Path(os.path.realpath(whole))
        inside = next((one for one in (whole, real) if one.is_relative_to(top)), None)
        return str(whole if inside is None else place / inside.relative_to(top))

    def _built(self, place: Path) -> str:
        """Build a commit; returns why it is not built, or nothing."""
        if not self._target.build:
            return ""
        self._on_run("building")
        command = Command(
            ("sh", "-c", self._target.build), self._directory(place), {**os.environ, **self._environment(place)}
        )
        with private_folder() as folder:
            done = run(
                command, folder, time_limit_s=self._target.time_limit_s or DEFAULT_TIME_LIMIT_S, show_output=False
            )
        if done.status == 0:
            return ""
        said = done.output.decode(errors="replace").strip().splitlines()
        how = "it reached its time limit" if done.timed_out else f"exit status {done.status}"
        return f"not built ({how})" + (f": {said[-1][:200]}" if said else "")

    # -- logs --------------------------------------------------------------------------------------------------------

    def _moved_program(self, place: Path) -> Program:
        return replace(
            self._target.program, directory=str(self._directory(place)), environment=self._environment(place)
        )

    def _moved_log(self, log: Log, place: Path) -> Log:
        moved = in_folder(log, self._directory(place), moved=Path(self._target.program.directory))
        return replace(moved, program=replace(moved.program, environment=self._environment(place)))

    def _brought_back(self, log: Log, place: Path) -> Log:
        """The log as if it had been recorded in the work tree."""
        here = self._target.program
        back = in_folder(with_anchors(log), Path(here.directory), moved=self._directory(place))
        own = self._environment(place)["PYTHONPATH"].split(os.pathsep)
        top = str(self._target.top)
        parts = [top + one.removeprefix(str(place)) if one.startswith(str(place)) else one for one in own]
        environment = {**here.environment, "PYTHONPATH": os.pathsep.join(parts)}
        return replace(back, program=replace(back.program, environment=environment))
