"""Whether a repair holds: the old failing schedule on the changed program, what is near it, and a fresh hunt.

Rules of this module:

* "Repaired" means that none of the schedules that were tried failed. It is never called correct.
* Where the old schedule cannot be followed any more, the function of its switches is swept instead; where that is gone,
  all of its file. If that is too much to try each yield point, or the thread does not come there either, nobody can
  tell, however many other schedules pass.
* A failure of another kind is no repair: perhaps the repair made it, perhaps it was there before.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from replay_dd.experiment.in_order import runs_in_order
from replay_dd.outcome import Outcome
from replay_dd.schedules.experiments.schedules_to_try import hunted
from replay_dd.schedules.experiments.sweep import TRACED, Sweep, moved, sweeps
from replay_dd.schedules.failures.signature import PASSED, Signature, signature_of
from replay_dd.schedules.isolating.circumstance import in_words
from replay_dd.schedules.model import Log
from replay_dd.schedules.replaying.anchored_replay import AnchoredReplay, replay_by_anchors
from replay_dd.schedules.running.parallel_runs import usable_jobs
from replay_dd.schedules.running.program_files import changed_files
from replay_dd.schedules.running.runner import Runner
from replay_dd.schedules.running.target import Plan, TargetRun

REPAIRED, STILL_FAILS, FAILS_OTHERWISE, CANNOT_TELL = "repaired", "still fails", "fails otherwise", "cannot tell"


@dataclass
class Verification:
    """What was tried of a repair, and what came of it.

    Attributes:
        verdict: ``repaired``, ``still fails``, ``fails otherwise`` or ``cannot tell``.
        why: for ``cannot tell``, why not.
        changed: the files that differ from those that the log was recorded with.
        anchored: the old schedule, followed by its anchors; None if that was not reached.
        near: how many schedules like the old one were tried.
        swept: where else its switches were tried.
        hunted: how many hunted schedules were tried.
        without_verdict: how many runs ended with no verdict, such as at the time limit.
        runs: how many runs were judged.
        failed: how many of them failed, in whatever way.
        max_delay_s: how late a schedule could make a thread where it ended a sleep or time-out early.
        asleep_s: how late a thread would have been, at least, if one had ended early that could not; 0 if there was
            none.
        failing: a run that failed; None if none did.
        failure: how it ended.
        found_by: which schedule it was, in words.
        interrupted: whether Ctrl-C ended it.
    """

    verdict: str = CANNOT_TELL
    why: str = ""
    changed: tuple[str, ...] = ()
    anchored: AnchoredReplay | None = None
    near: int = 0
    swept: list[Sweep] = field(default_factory=list)
    hunted: int = 0
    without_verdict: int = 0
    runs: int = 0
    failed: int = 0
    max_delay_s: float = 0
    asleep_s: float = 0
    failing: Log | None = None
    failure: str = ""
    found_by: str = ""
    interrupted: bool = False

    @property
    def schedules(self) -> int:
        """How many schedules were tried in all."""
        return (self.anchored is not None) + self.near + sum(len(one.times) for one in self.swept) + self.hunted


class _FoundError(Exception):
    """A schedule that fails as the old one did ends it."""


def verify_repair(
    log: Log,
    *,
    runs: int,
    seed: int = 0,
    jobs: int = 1,
    may_fork: bool = True,
    time_limit_s: float | None = None,
    on_run: Callable[[str], None] = lambda text: None,
) -> Verification:
    """Try whether a program that has been changed still fails as in an old log.

    Args:
        log: the log of a run that failed, before the change; its program is the one to run.
        runs: how many schedules to hunt.
        seed: the first seed.
        jobs: the number of parallel runs.
        may_fork: fork the program at its first thread for each run, if possible.
        time_limit_s: seconds after which a run is killed; None to derive it from the recorded run.
        on_run: receives progress, in words.

    Raises:
        ProgramNotFoundError, NotControlledError: the program cannot be run.
    """
    made = Verification(changed=tuple(changed_files(log.program)), max_delay_s=log.settings.max_delay_ns / 1e9)
    limit_s = time_limit_s or 10 + 20 * log.ending.seconds
    judge = _Judge(made, signature_of(log.ending))
    try:
        on_run("following the old schedule")
        made.anchored = replay_by_anchors(log, time_limit_s=max(limit_s, 120.0) if time_limit_s is None else limit_s)
        judge.look_at(made.anchored.run, "the old schedule", failed=made.anchored.outcome is Outcome.FAIL)
        program = replace(log.program, process=made.anchored.run.log.program.process)
        with Runner(program, log.settings, may_fork=may_fork) as runner:
            first = runner.run(Plan("profile"), limit_s)
            judge.look_at(first, "the default schedule")
            limit_s = min(limit_s, 5 + 20 * first.log.ending.seconds)
            usable = usable_jobs(first.log, jobs)
            tries = _Tries(runner, judge, usable, limit_s, on_run)
            if not made.anchored.missed:
                made.near = tries.all(moved(made.anchored.run.log), "near the old schedule")
            trace = runner.run(Plan(traced=TRACED), limit_s * 5)
            ending = first.log.ending
            for sweep in sweeps(log, trace.trace, ending.thread_times):
                tries.all(sweep.plans, f"swept, in {sweep.function or 'thread ' + sweep.thread}")
                made.swept.append(sweep)
            one_schedule = ending.complete and len(ending.thread_times) < 2
            made.hunted = tries.all(hunted(first, 0 if one_schedule else runs, seed), "hunted")
    except _FoundError:
        return made
    except KeyboardInterrupt:
        made.interrupted, made.why = True, "interrupted"
        return made
    made.verdict, made.why = _verdict(made, one_schedule)
    return made


def _verdict(made: Verification, one_schedule: bool) -> tuple[str, str]:
    assert made.anchored is not None
    if made.failing is not None:
        return FAILS_OTHERWISE, ""
    if made.without_verdict:
        return CANNOT_TELL, f"{made.without_verdict} of the runs ended without a verdict, such as at the time limit"
    if one_schedule or not made.anchored.missed:
        return REPAIRED, ""
    if made.swept and all(one.tells for one in made.swept):
        return REPAIRED, ""
    gone = [anchor for anchor in made.anchored.missed if anchor.switch.place is not None]
    first = (gone or list(made.anchored.missed))[0]
    other = "the threads of its switches are no longer there"
    if made.swept:
        there = any(one.file and not one.tells for one in made.swept)
        other = (
            "its thread passes too many yield points in that file to try each"
            if there
            else "its thread no longer comes to that file"
        )
    return CANNOT_TELL, (
        f"the old schedule cannot be followed any more, and {other}: the switch of thread {first.switch.thread} "
        f"{first.switch.where} was not found ({first.why})"
    )


class _Judge:
    """Ends it at the first run that fails as the old one did."""

    def __init__(self, made: Verification, sought: Signature) -> None:
        self._made, self._sought = made, sought

    def look_at(self, run: TargetRun, found_by: str, *, failed: bool = False) -> None:
        """Look how a run ended."""
        made, ending = self._made, signature_of(run.log.ending)
        made.runs += 1
        if run.least_asleep_ns:
            made.asleep_s = min(made.asleep_s or math.inf, run.least_asleep_ns / 1e9)
        if ending.kind == PASSED:
            return
        if not ending.failed:
            made.without_verdict += 1
            return
        made.failed += 1
        same = failed or ending.same_but_for_lines(self._sought)
        if same or made.failing is None:
            made.failing, made.failure, made.found_by = run.log, ending.text, found_by
        if same:
            made.verdict = STILL_FAILS
            raise _FoundError


def _in_words(plan: Plan) -> str:
    return "; ".join(map(in_words, plan.triggers)) or str(plan)


class _Tries:
    """Makes runs and judges them, in order."""

    def __init__(
        self, runner: Runner, judge: _Judge, jobs: int, time_limit_s: float, on_run: Callable[[str], None]
    ) -> None:
        self._runner, self._judge, self._jobs = runner, judge, jobs
        self._time_limit_s, self._on_run = time_limit_s, on_run
        self._runs = 0

    def all(self, plans: Iterable[Plan], where: str) -> int:
        """Make the runs of some plans; returns how many there were."""
        count = 0
        made = runs_in_order(lambda plan: self._runner.run(plan, self._time_limit_s), plans, self._jobs)
        for plan, run in made:
            count += 1
            self._runs += 1
            self._on_run(f"{where}, run {self._runs}")
            self._judge.look_at(run, f"{where}: {_in_words(plan)}")
        return count
