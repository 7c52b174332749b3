"""Tries a fixed set of schedules on mixtures of two versions, each in its working copy.

Rules of this module:

* Each mixture is tried with the same logs and seeds, so two verdicts differ because the mixtures do, not by luck.
* A log is followed where its program stands now: what lay in the folder that it was recorded in is looked for in the
  working copy.
* A run in which another kind of exception ended a thread does not fail as the log does, whatever came of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from replay_dd.errors.program import DoesNotFailError
from replay_dd.experiment.ending import Ending
from replay_dd.outcome import Outcome
from replay_dd.schedules.anchors import with_anchors
from replay_dd.schedules.experiments.fixed_schedules import FixedSchedules, Tried, in_folder, try_schedules
from replay_dd.schedules.hunting.hunt import hunt
from replay_dd.schedules.hunting.options import HuntListener, HuntOptions
from replay_dd.schedules.model import Frame, Log, Place, Program, Settings
from replay_dd.schedules.replaying.record import DEFAULT_TIME_LIMIT_S

_HUNTED = 10  # times as many schedules are tried to find the failure as to find it again


@dataclass
class SchedulesOnMixtures:
    """A fixed set of schedules for the versions in working copies.

    Attributes:
        program: what to run; its directory and its `PYTHONPATH` are those of the working copy.
        settings: what to count and hold fixed while hunting.
        seeds: how many schedules to hunt in each mixture.
        time_limit_s: seconds after which a run is killed; None to derive it from the recorded run.
        on_run: receives progress, in words.
        logs: failing runs, as they were recorded.
        names: files that every version is run with, wherever it is: their names in the logs, and their paths.
    """

    program: Program
    settings: Settings
    seeds: int
    time_limit_s: float | None = None
    on_run: Callable[[str], None] = lambda text: None
    logs: list[Log] = field(default_factory=list)
    names: Mapping[str, str] = field(default_factory=dict)

    def hunt(self, root: Path, environment: Mapping[str, str]) -> None:
        """Hunt for a failure in a working copy, and keep its log.

        Raises:
            DoesNotFailError: there is none.
        """
        found = hunt(
            *(self._program_in(root, environment), self.settings),
            HuntOptions(runs=_HUNTED * self.seeds, time_limit_s=self.time_limit_s or DEFAULT_TIME_LIMIT_S),
            listener=HuntListener(
                on_run=lambda number, plan, signature: self.on_run(f"run {number}: {signature.text}")
            ),
        )
        if found.interrupted:
            raise KeyboardInterrupt
        if found.failing is None:
            raise DoesNotFailError(
                f"The new version passes: no failure in {found.runs} runs of {found.yield_points:,} yield points each.",
                "Hunt more schedules (`--runs`), or give the log of a failing run (`--schedule`).",
            )
        self.logs.append(with_anchors(found.failing))

    def ending(self, root: Path, environment: Mapping[str, str]) -> Ending:
        """Try the schedules on the version in a working copy."""
        here = self._program_in(root, environment)
        logs = []
        for log in self.logs:
            there = in_folder(log, root, command=here.command, moved=Path(log.program.directory))
            moved = replace(there.program, environment=here.environment, directory=here.directory)
            logs.append(_renamed(replace(there, program=moved), self.names))
        tried = try_schedules(FixedSchedules(tuple(logs), self.seeds), time_limit_s=self.time_limit_s)
        known = {one.type for log in logs for one in log.ending.exceptions}
        raised = () if tried.failing is None else tried.failing.ending.exceptions
        other = next((one for one in raised if one.type not in known), None)
        if other is not None:
            # A thread that ends too early, for a missing name, may look like the race.
            return Ending(Outcome.UNRESOLVED, f"raises {other.type}", f"{other.type}: {other.text} ({other.where})")
        return Ending(tried.outcome, "fails under a schedule" if tried.outcome is Outcome.FAIL else "", _words(tried))

    def _program_in(self, root: Path, environment: Mapping[str, str]) -> Program:
        variables = {**self.program.environment, "PYTHONPATH": environment["PYTHONPATH"]}
        return replace(self.program, directory=str(root), environment=variables)


def _renamed(log: Log, names: Mapping[str, str]) -> Log:
    """The log as if recorded with these files where they are: failures are the same only in the same file."""

    def place(one: Place | None) -> Place | None:
        if one is None or one.file not in names:
            return one
        return replace(one, file=names[one.file], path=names[one.file])

    def frames(all_frames: tuple[Frame, ...]) -> tuple[Frame, ...]:
        return tuple(replace(frame, file=names.get(frame.file, frame.file)) for frame in all_frames)

    switches = (
        replace(one, place=place(one.place), wake=one.wake and replace(one.wake, place=place(one.wake.place)))
        for one in log.switches
    )
    ending = replace(
        log.ending,
        exceptions=tuple(replace(one, frames=frames(one.frames)) for one in log.ending.exceptions),
        exit=log.ending.exit and replace(log.ending.exit, frames=frames(log.ending.exit.frames)),
        deadlock=tuple(replace(one, frames=frames(one.frames)) for one in log.ending.deadlock),
    )
    files = {names.get(name, name): value for name, value in log.program.files.items()}
    paths = {name: path for name, path in log.program.paths.items() if name not in names}
    return replace(log, switches=tuple(switches), ending=ending, program=replace(log.program, files=files, paths=paths))


def _words(tried: Tried) -> str:
    if tried.outcome is Outcome.FAIL:
        return f"{tried.told}, under {tried.found_by}"
    if tried.outcome is Outcome.PASS:
        told = f"; {tried.told}" if tried.told else ""
        return f"passes under {tried.schedules} schedules{told}"
    return tried.told
