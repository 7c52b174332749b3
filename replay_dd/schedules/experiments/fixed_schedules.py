"""A fixed set of schedules as an oracle: does this version of a program fail under one of them?

Rules of this module:

* Each version is tried with the same set: failing logs, followed by their anchors, with what is near them, and as many
  hunted schedules with the same seeds. So two verdicts differ because the versions do, not by luck.
* FAIL means that some schedule fails as one of the logs does, on whatever line. PASS means that none does, and is no
  proof. A version most of whose runs end in some other way hides the failure, if it has it: UNRESOLVED.
* A version without the code of a log's switches is judged by its hunted schedules alone, which the verdict says.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from replay_dd.errors.program import NotControlledError
from replay_dd.errors.user import ProgramNotFoundError
from replay_dd.outcome import Outcome
from replay_dd.schedules.experiments.verify import STILL_FAILS, Verification, verify_repair
from replay_dd.schedules.model import Log

DEFAULT_RUNS = 200


@dataclass(frozen=True)
class FixedSchedules:
    """What each version is tried with.

    Attributes:
        logs: of runs that failed; at least one.
        runs: how many schedules to hunt in each version.
        seed: the first seed of those.
    """

    logs: tuple[Log, ...]
    runs: int = DEFAULT_RUNS
    seed: int = 0


@dataclass(frozen=True)
class Tried:
    """What came of trying the schedules on one version.

    Attributes:
        outcome: FAIL if a schedule failed as in one of the logs, PASS if none did.
        told: how the failing run ended; for UNRESOLVED, why there is no verdict; otherwise what to know about the PASS.
        found_by: which schedule failed, in words.
        schedules: how many were tried.
        failed: how many runs failed, in whatever way.
        failing: the log of a run that failed; None if none did.
    """

    outcome: Outcome
    told: str = ""
    found_by: str = ""
    schedules: int = 0
    failed: int = 0
    failing: Log | None = None


def in_folder(
    log: Log, directory: Path, *, command: tuple[str, ...] = (), python_path: tuple[Path, ...] = (), moved: Path | None
) -> Log:
    """The log of a program that now stands elsewhere.

    A log that was not read from a file needs its anchors first (:func:`~replay_dd.schedules.anchors.with_anchors`), as
    long as the files are where it says.

    Args:
        log: the log.
        directory: the working directory there.
        command: the command there; the recorded one if empty.
        python_path: folders whose modules are found first.
        moved: where the recorded files were; what is below it is looked for relative to ``directory``.
    """
    program, switches = log.program, log.switches
    variables = dict(program.environment)
    if python_path:
        # The one that the user set comes after them.
        parts = [*map(str, python_path), *filter(None, [variables.get("PYTHONPATH")])]
        variables["PYTHONPATH"] = ":".join(parts)
    paths = program.paths
    if moved is not None:
        paths = {name: _moved(path, moved, directory) for name, path in paths.items()}
        switches = tuple(
            replace(one, place=one.place and replace(one.place, path=_moved(one.place.path, moved, directory)))
            for one in switches
        )
    moved_program = replace(
        program, command=command or program.command, directory=str(directory), environment=variables, paths=paths
    )
    return replace(log, program=moved_program, switches=switches)


def _moved(path: str, before: Path, now: Path) -> str:
    try:
        return str(now / Path(path).relative_to(before))
    except ValueError:
        return path


def try_schedules(
    schedules: FixedSchedules,
    *,
    jobs: int = 1,
    may_fork: bool = True,
    time_limit_s: float | None = None,
    on_run: Callable[[str], None] = lambda text: None,
) -> Tried:
    """Try the schedules on the program that their logs name, as it is now.

    Args:
        schedules: what to try; see :func:`in_folder` for versions that stand elsewhere.
        jobs: the number of parallel runs.
        may_fork: fork the program at its first thread for each run, if possible.
        time_limit_s: seconds after which a run is killed; None to derive it from the recorded run.
        on_run: receives progress, in words.

    Raises:
        KeyboardInterrupt: Ctrl-C.
    """
    total, failed, other, told = 0, 0, "", ""
    for number, log in enumerate(schedules.logs):
        try:
            made = verify_repair(
                log,
                runs=0 if number else schedules.runs,
                seed=schedules.seed,
                jobs=jobs,
                may_fork=may_fork,
                time_limit_s=time_limit_s,
                on_run=on_run,
            )
        except (ProgramNotFoundError, NotControlledError) as error:
            return Tried(Outcome.UNRESOLVED, error.message, schedules=total)
        if made.interrupted:
            raise KeyboardInterrupt
        total += made.schedules
        failed += made.failed
        if made.verdict == STILL_FAILS:
            return Tried(Outcome.FAIL, made.failure, made.found_by, total, failed, made.failing)
        other = other or _otherwise(made)
        told = told or _not_followed(made)
    if other:
        return Tried(Outcome.UNRESOLVED, other, schedules=total, failed=failed)
    return Tried(Outcome.PASS, told, schedules=total, failed=failed)


def _otherwise(made: Verification) -> str:
    """Why the runs of a version tell nothing about the failure sought; empty if they do."""
    silent = made.failed + made.without_verdict
    if 2 * silent <= made.runs:
        return ""
    if made.failed:
        return f"{made.failed} of {made.runs} runs fail in another way: {made.failure}"
    return f"{made.without_verdict} of {made.runs} runs end without a verdict, such as at the time limit"


def _not_followed(made: Verification) -> str:
    missed = () if made.anchored is None else made.anchored.missed
    if not missed or made.swept:
        return ""
    return "the code of the failing schedule's switches is not there; judged by hunted schedules"
