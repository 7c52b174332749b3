"""Isolates the switch that makes a run fail: dd over the difference of two schedules.

Rules of this module:

* The answer is the first switch in which the two final runs differ, with its failing range.
* Searches fork the program where it starts its first thread. If forked and fresh runs disagree, fresh processes decide:
  the whole isolation is repeated with them.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace

from replay_dd.errors.program import DoesNotFailError, DoesNotPassError, NotReproducedError
from replay_dd.errors.user import NoDifferenceError, SwappedError, TwoProgramsError
from replay_dd.experiment.driver import NO_OBSERVER, Observer, isolate_cause
from replay_dd.experiment.result import Isolation
from replay_dd.experiment.testing import Tests
from replay_dd.schedules.circumstance import MixedSchedules, ScheduleRunner
from replay_dd.schedules.difference import Delta, difference_of
from replay_dd.schedules.failing_range import FailingRange, find_failing_range
from replay_dd.schedules.failure_signature import PASSED, signature_of
from replay_dd.schedules.fork_server_client import Runner
from replay_dd.schedules.gil import with_gil_label
from replay_dd.schedules.model import Log, Switch
from replay_dd.schedules.replay import check_unchanged


@dataclass(frozen=True)
class GuiltySwitch:
    """The answer: with this switch at this time the run fails, otherwise it passes.

    Attributes:
        failing: the switch in the failing run.
        passing: where the same thread next yielded in the passing run; None if it ran to the end of the program.
    """

    failing: Switch
    passing: Switch | None


@dataclass(frozen=True)
class ScheduleIsolation:
    """What makes a schedule fail.

    Attributes:
        isolation: the driver's result; its deltas are unit deltas.
        switch: the guilty switch; None if the final runs make the same switches.
        delta: the difference that is left.
        failing_range: the range in which the switch fails; None if it has none.
        passing: the log of the final passing run.
        failing: the log of the final failing run.
    """

    isolation: Isolation[Log]
    switch: GuiltySwitch | None
    delta: Delta | None
    failing_range: FailingRange | None
    passing: Log
    failing: Log


def check_pair(passing: Log, failing: Log, *, accept_changes: bool) -> None:
    """Check that two logs are comparable.

    Raises:
        SwappedError, DoesNotPassError, DoesNotFailError: an outcome is not as claimed.
        TwoProgramsError: they are of different programs, arguments, interpreters or settings.
        ProgramChangedError: the program has changed since.
    """
    of_passing, of_failing = signature_of(passing.ending), signature_of(failing.ending)
    if of_passing.failed and of_failing.kind == PASSED:
        raise SwappedError("The first log is of a failing run and the second of a passing one.")
    if of_passing.kind != PASSED:
        raise DoesNotPassError(f"The run of the passing log did not pass: {of_passing.text}.")
    if not of_failing.failed:
        raise DoesNotFailError(f"The run of the failing log did not fail: {of_failing.text}.")
    if passing.program.command != failing.program.command:
        raise TwoProgramsError(
            f"The logs are of different commands: `{shlex.join(passing.program.command)}` and "
            f"`{shlex.join(failing.program.command)}`."
        )
    if accept_changes:
        return
    for what, one, other in (
        ("the Python version", passing.program.python, failing.program.python),
        # Each recording starts its virtual clock at its own date.
        ("what was counted", replace(passing.settings, start_ns=0), replace(failing.settings, start_ns=0)),
        ("the working directory", passing.program.directory, failing.program.directory),
        ("the standard input", passing.program.standard_input, failing.program.standard_input),
    ):
        if one != other:
            raise TwoProgramsError(f"The logs are not comparable: {what} differs.")
    common = passing.program.files.keys() & failing.program.files.keys()
    changed = sorted(name for name in common if passing.program.files[name] != failing.program.files[name])
    if changed:
        raise TwoProgramsError(f"The program changed between the two recordings: {', '.join(changed[:3])}.")
    check_unchanged(failing)
    check_unchanged(passing)


def time_limit_for(logs: Sequence[Log]) -> float:
    """The time limit of a run in seconds, derived from how long the recorded runs took."""
    return 10 + 20 * max(log.ending.seconds for log in logs)


def isolate(
    passing: Log,
    failing: Log,
    *,
    jobs: int = 1,
    time_limit_s: float | None = None,
    accept_changes: bool = False,
    max_tests: int | None = None,
    time_budget_s: float | None = None,
    may_fork: bool = True,
    repeats: int = 1,
    observer: Observer = NO_OBSERVER,
) -> ScheduleIsolation:
    """Isolate the minimal failure-inducing difference of two schedules.

    Args:
        passing: the log of a run that passed.
        failing: the log of a run of the same program that failed.
        jobs: the number of parallel runs.
        time_limit_s: seconds after which a run is killed; None to derive it from the recorded runs.
        accept_changes: continue even if the program has changed since.
        max_tests: stop with the best result so far after this many tests.
        time_budget_s: stop with the best result so far after this many seconds.
        may_fork: fork the program at its first thread for each run, if possible.
        repeats: for a program that is not deterministic under control: how many times to run each schedule, which then
            passes only if it never fails. With 1, such a program is refused.
        observer: receives progress.

    Raises:
        NotDeterministicError: two replays of one log diverge.
        ReplayDDError: the logs cannot be compared, do not replay, or have the same schedule.
    """
    check_pair(passing, failing, accept_changes=accept_changes)
    if difference_of(passing, failing).units == 0:
        raise NoDifferenceError("The passing and the failing log have the same schedule.")
    limit_s = time_limit_for((passing, failing)) if time_limit_s is None else time_limit_s

    def attempt(runner: Runner) -> ScheduleIsolation:
        circumstance = MixedSchedules(
            ScheduleRunner(failing, runner, limit_s, passing),
            difference_of(passing, failing),
            accept_changes=accept_changes,
            flaky=repeats > 1,
        )
        tests = Tests(circumstance)
        isolation = isolate_cause(
            circumstance,
            jobs=jobs,
            max_tests=max_tests,
            time_limit_s=time_budget_s,
            repeat=repeats,
            observer=observer,
            tests=tests,
        )
        return _told(isolation, tests, circumstance.runs, jobs)

    with Runner(failing.program, failing.settings, may_fork=may_fork) as runner:
        try:
            found = attempt(runner)
            if found.isolation.verified or not found.isolation.complete or runner.why_fresh:
                return found
        except NotReproducedError:
            if runner.why_fresh:
                raise
    # Forked runs diverged from fresh ones: addresses must matter.
    with Runner(failing.program, failing.settings, may_fork=False) as runner:
        return attempt(runner)


def _told(isolation: Isolation[Log], tests: Tests[Log], runs: ScheduleRunner, jobs: int) -> ScheduleIsolation:
    """The guilty switch of an isolation, with the range in which it fails."""
    last = isolation.circumstance
    assert isinstance(last, MixedSchedules)
    final_passing, final_failing = isolation.passing.run, isolation.failing.run
    assert final_passing is not None
    assert final_failing is not None
    guilty = find_guilty_switch(final_passing, final_failing)
    failing_range: FailingRange | None = None
    if isolation.verified and guilty is not None:
        try:
            if guilty.passing is None or guilty.passing.time > guilty.failing.time:
                failing_range = find_failing_range(tests, runs, final_failing, guilty.failing, jobs)
            guilty = replace(guilty, failing=with_gil_label(tests, runs, final_failing, guilty.failing))
            if failing_range is not None:
                first = with_gil_label(tests, runs, final_failing, failing_range.first)
                failing_range = replace(failing_range, first=first)
        except KeyboardInterrupt:
            isolation = replace(isolation, stopped_by="interrupt")
    verified = isolation.verified if isolation.proof.made else None
    return ScheduleIsolation(
        isolation=isolation,
        switch=guilty,
        delta=last.difference.delta_of(isolation.difference.first) if isolation.difference else None,
        failing_range=failing_range,
        passing=replace(final_passing, strategy="isolated", verified=verified),
        failing=replace(final_failing, strategy="isolated", verified=verified),
    )


def find_guilty_switch(passing: Log, failing: Log) -> GuiltySwitch | None:
    """The first switch in which two runs differ.

    Up to there they are the same run, so the same thread runs in both: it yields at one time in the failing run and at
    another in the passing one.
    """
    for number, switch in enumerate(failing.switches):
        other = passing.switches[number] if number < len(passing.switches) else None
        if other is None or other.trigger != switch.trigger:
            return GuiltySwitch(switch, other)
    return None
