"""Isolates the switch that makes a run fail: dd over the difference of two schedules.

Rules of this module:

* The answer is stated on what the two final runs really did. If these differ in more than the isolated difference, the
  isolation goes on with them, until one difference is left or nothing can be removed.
* No test counts that took part in the search as proof: both final runs are replayed afresh, and must end with the same
  digest each time.
* A schedule is run once, whichever configurations lead to it.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from replay_dd.dd import DD, EMPTY, IntervalSet, Search, Step
from replay_dd.dd.search import TESTED
from replay_dd.experiment.process import LIVE
from replay_dd.experiment.search import SearchResult, run_search
from replay_dd.outcome import Outcome
from replay_dd.schedules.difference import Delta, Difference, difference_of
from replay_dd.schedules.errors import (
    LogDoesNotFailError,
    LogDoesNotPassError,
    LogsSwappedError,
    NotReproducedError,
    SameScheduleError,
    TwoProgramsError,
)
from replay_dd.schedules.fork_server_client import Runner
from replay_dd.schedules.model import Log, Switch
from replay_dd.schedules.reachable import settle_reachable
from replay_dd.schedules.replay import check_unchanged, find_divergence
from replay_dd.schedules.selfcheck import check_deterministic
from replay_dd.schedules.signature import PASSED, Signature, signature_of
from replay_dd.schedules.trials import ScheduleTests
from replay_dd.schedules.window import Window, find_window

PROOF_REPLAYS = 3


@dataclass(frozen=True)
class GuiltySwitch:
    """The answer: with this switch at this time the run fails, otherwise it passes.

    Attributes:
        failing: the switch in the failing run.
        passing: where the same thread next gave way in the passing run; None where it ran to the end of the program.
    """

    failing: Switch
    passing: Switch | None


@dataclass(frozen=True)
class ScheduleIsolation:
    """The result of an isolation.

    Attributes:
        signature: the failure.
        differences: unit deltas between the two logs given.
        differences_left: unit deltas between the two final runs' schedules.
        tests: runs that the search executed, the two given schedules included.
        tests_requested: outcomes that the algorithm asked for, the two end points included.
        unresolved: how those of the runs ended that were neither, with how many ended so.
        switch: the guilty switch; None where the final runs make the same switches.
        passing: the log of the final passing run.
        failing: the log of the final failing run.
        delta: the difference that is left.
        window: from where to where the switch fails; None where it has no such extent.
        seconds: real time of the whole isolation.
        verified: whether fresh replays of both final runs ended with the same digests.
        complete: whether the search ended by itself, not by a limit or by Ctrl-C.
        interrupted: whether Ctrl-C stopped it.
        confidence: for a program that is not deterministic, how sure a verdict is that a schedule passes (0 to 1); None
            where each replay is the same run.
        repeats: how often each schedule was run.
        steps: the course of the search.
    """

    signature: Signature
    differences: int
    differences_left: int
    tests: int
    tests_requested: int
    switch: GuiltySwitch | None
    passing: Log
    failing: Log
    delta: Delta | None
    window: Window | None
    seconds: float
    verified: bool
    complete: bool
    interrupted: bool
    steps: tuple[Step, ...]
    repeats: int = 1
    confidence: float | None = None
    unresolved: tuple[tuple[Signature, int], ...] = ()


def check_pair(passing: Log, failing: Log, *, accept_changes: bool) -> None:
    """Check that two logs can be compared.

    Raises:
        LogsSwappedError, LogDoesNotPassError, LogDoesNotFailError: an outcome is not the one claimed.
        TwoProgramsError: they are of different programs, arguments, interpreters or settings.
        ProgramChangedError: the program was changed since.
    """
    of_passing, of_failing = signature_of(passing.ending), signature_of(failing.ending)
    if of_passing.failed and of_failing.kind == PASSED:
        raise LogsSwappedError("The first log is of a run that failed, the second of one that passed.")
    if of_passing.kind != PASSED:
        raise LogDoesNotPassError(f"The run of the passing log did not pass: {of_passing.text}.")
    if not of_failing.failed:
        raise LogDoesNotFailError(f"The run of the failing log did not fail: {of_failing.text}.")
    if passing.program.command != failing.program.command:
        raise TwoProgramsError(
            f"The logs are of different commands: `{shlex.join(passing.program.command)}` and "
            f"`{shlex.join(failing.program.command)}`."
        )
    if accept_changes:
        return
    for what, one, other in (
        ("the Python version", passing.program.python, failing.program.python),
        # The date at the start is each run's own: a recording begins when it begins.
        ("what was counted", replace(passing.settings, start_ns=0), replace(failing.settings, start_ns=0)),
        ("the working directory", passing.program.directory, failing.program.directory),
        ("the standard input", passing.program.standard_input, failing.program.standard_input),
    ):
        if one != other:
            raise TwoProgramsError(f"The logs are of different runs: {what} is not the same.")
    common = passing.program.files.keys() & failing.program.files.keys()
    changed = sorted(name for name in common if passing.program.files[name] != failing.program.files[name])
    if changed:
        raise TwoProgramsError(f"The program was changed between the two recordings: {', '.join(changed[:3])}.")
    check_unchanged(failing)
    check_unchanged(passing)


def isolate(
    passing: Log,
    failing: Log,
    *,
    jobs: int = 1,
    time_limit_s: float | None = None,
    accept_changes: bool = False,
    max_tests: int | None = None,
    may_fork: bool = True,
    repeats: int = 1,
    on_test: Callable[[Step, Signature], None] | None = None,
) -> ScheduleIsolation:
    """Isolate the minimal failure-inducing difference of two schedules.

    Args:
        passing: the log of a run that passed.
        failing: the log of a run of the same program that failed.
        jobs: how many runs at the same time.
        time_limit_s: seconds after which a run is killed; None for a limit drawn from the recorded runs.
        accept_changes: go on although the program was changed since.
        max_tests: stop after that many tests with the best result so far.
        may_fork: fork the program at its first thread for each run, where it allows that.
        repeats: for a program that is not deterministic under control: run each schedule so often, and say that it
            passes only if it never fails. With 1, such a program is refused.
        on_test: called after each executed test, in order, with the ending of its run.

    Raises:
        NotDeterministicError: two replays of one log are not the same run.
        ReplayDDError: the logs cannot be compared, do not replay, or have the same schedule.
    """
    check_pair(passing, failing, accept_changes=accept_changes)
    if time_limit_s is None:
        time_limit_s = 10 + 20 * max(passing.ending.seconds, failing.ending.seconds)
    first = difference_of(passing, failing)
    if first.units == 0:
        raise SameScheduleError("The passing and the failing log have the same schedule.")
    with Runner(failing.program, failing.settings, may_fork=may_fork) as runner:
        tests = ScheduleTests(failing, runner, time_limit_s, passing, repeats)
        try:
            found = _isolate(passing, failing, first, tests, jobs, accept_changes, max_tests, on_test)
        except NotReproducedError:
            if runner.why_fresh:
                raise
            found = None
        if found is not None and (found.verified or not found.complete or runner.why_fresh):
            return found
    # Forked runs went another way than fresh ones: addresses must play a part. Fresh processes have the last word.
    with Runner(failing.program, failing.settings, may_fork=False) as runner:
        tests = ScheduleTests(failing, runner, time_limit_s, passing, repeats)
        return _isolate(passing, failing, first, tests, jobs, accept_changes, max_tests, on_test)


def _isolate(
    passing: Log,
    failing: Log,
    first: Difference,
    tests: ScheduleTests,
    jobs: int,
    accept_changes: bool,
    max_tests: int | None,
    on_test: Callable[[Step, Signature], None] | None,
) -> ScheduleIsolation:
    started = time.monotonic()
    repeats, confidence = tests.repeats, None
    if repeats > 1:
        confidence = _measured_confidence(tests, passing, failing)
    else:
        for log, expected, what in ((passing, Outcome.PASS, "passing"), (failing, Outcome.FAIL, "failing")):
            check_deterministic(tests, log, what)
            _check_reproduced(tests, log, expected, what, accept_changes)

    difference: Difference | None = first
    requested = 2
    steps: list[Step] = []
    # Runs that were started ahead and not needed do not count, so that the number does not depend on the jobs.
    tested = {passing.triggers, failing.triggers}
    complete = True
    while difference is not None and complete:
        result = _search(tests, difference, jobs, max_tests, on_test)
        requested += result.requested
        steps.extend(result.statistics)
        tested.update(
            difference.triggers(step.configuration) for step in result.statistics if step.answered_by == TESTED
        )
        complete = result.complete
        last = difference
        passing = tests.run(difference.triggers(result.c_pass))
        failing = tests.run(difference.triggers(result.c_fail))
        difference = _what_is_left(passing, failing, last)
    interrupted = result.stopped_by == "interrupt"
    guilty = find_guilty_switch(passing, failing)
    verified, window = False, None
    try:
        verified = complete and _prove(tests, passing, failing)
        if verified and guilty is not None and (guilty.passing is None or guilty.passing.time > guilty.failing.time):
            window = find_window(tests, failing, guilty.failing, jobs)
        if verified and guilty is not None:
            guilty = replace(guilty, failing=settle_reachable(tests, failing, guilty.failing))
        if window is not None:
            window = replace(window, first=settle_reachable(tests, failing, window.first))
    except KeyboardInterrupt:
        interrupted, complete = True, verified
    passing = replace(passing, strategy="isolated", verified=verified if complete else None)
    failing = replace(failing, strategy="isolated", verified=verified if complete else None)
    return ScheduleIsolation(
        signature=signature_of(failing.ending),
        differences=first.units,
        differences_left=result.difference.count,
        tests=len(tested),
        tests_requested=requested,
        switch=guilty,
        passing=passing,
        failing=failing,
        delta=last.delta_of(result.difference.first),
        window=window,
        seconds=time.monotonic() - started,
        verified=verified,
        complete=complete,
        interrupted=interrupted,
        steps=tuple(steps),
        repeats=repeats,
        confidence=confidence,
        unresolved=tests.unresolved(tested),
    )


def _what_is_left(passing: Log, failing: Log, searched: Difference) -> Difference | None:
    """The difference to go on with: of what the two runs really did, if that is more than the isolated switch.

    The isolated switch is at its unit step already, so what came in its wake is looked at as a whole first. If that
    leads to another switch, this one is narrowed down in its turn.
    """
    left = difference_of(passing, failing, whole=True)
    if len(left.deltas) > 1 and (searched.units > len(searched.deltas) or len(left.deltas) < len(searched.deltas)):
        return left
    fine = difference_of(passing, failing)
    was_whole = searched.units == len(searched.deltas)
    return fine if was_whole and len(fine.deltas) == 1 and fine.units > 1 else None


def _check_reproduced(tests: ScheduleTests, log: Log, expected: Outcome, what: str, accept_changes: bool) -> None:
    again = tests.run(log.triggers)
    outcome = tests.outcome_of(again)
    if outcome is not expected:
        ending = signature_of(again.ending).text
        raise NotReproducedError(f"The {what} log did not replay: the run ended with {ending}.")
    divergence = find_divergence(log, again)
    if divergence is not None and not accept_changes:
        raise NotReproducedError(f"The {what} log replays with the same outcome on another way: {divergence}.")


def _measured_confidence(tests: ScheduleTests, passing: Log, failing: Log) -> float:
    """How sure it is that a schedule passes that failed in none of so many runs, if it could fail as the failing one.

    How often that one fails is estimated from as many runs by the rule of succession: (failures + 1) / (runs + 2).

    Raises:
        NotReproducedError: the failing log never failed, or the passing one did.
    """
    runs = tests.repeats
    if any(tests.outcome_of(tests.run_afresh(passing)) is Outcome.FAIL for _ in range(runs)):
        raise NotReproducedError(f"The passing log failed in one of {runs} runs: what fails is not the schedule.")
    failed = sum(tests.outcome_of(tests.run_afresh(failing)) is Outcome.FAIL for _ in range(runs))
    if not failed:
        raise NotReproducedError(f"The failing log did not fail in {runs} runs.")
    taken_for_passing: float = (1 - (failed + 1) / (runs + 2)) ** runs
    return 1 - taken_for_passing


def _search(
    tests: ScheduleTests,
    difference: Difference,
    jobs: int,
    max_tests: int | None,
    on_test: Callable[[Step, Signature], None] | None,
) -> SearchResult:
    known = {EMPTY: Outcome.PASS, difference.all: Outcome.FAIL}
    search = Search(DD(EMPTY, difference.all), known=known)

    def test(configuration: IntervalSet) -> Outcome:
        return tests.outcome(difference.triggers(configuration))

    def tell(step: Step) -> None:
        if on_test is not None:
            on_test(step, signature_of(tests.run(difference.triggers(step.configuration)).ending))

    return run_search(search, test, jobs=jobs, max_tests=max_tests, on_test=tell, on_interrupt=LIVE.kill_all)


def _prove(tests: ScheduleTests, passing: Log, failing: Log) -> bool:
    """Replay both final runs afresh, several times: the claim rests on these, not on the search."""
    if tests.repeats > 1:
        runs = range(tests.repeats)
        return not any(tests.outcome_of(tests.run_afresh(passing)) is Outcome.FAIL for _ in runs) and any(
            tests.outcome_of(tests.run_afresh(failing)) is Outcome.FAIL for _ in runs
        )
    for log, expected in ((passing, Outcome.PASS), (failing, Outcome.FAIL)):
        for _ in range(PROOF_REPLAYS):
            again = tests.run_afresh(log)
            if tests.outcome_of(again) is not expected or find_divergence(log, again) is not None:
                return False
    return True


def find_guilty_switch(passing: Log, failing: Log) -> GuiltySwitch | None:
    """The first switch in which two runs differ.

    Up to there they are the same run, so the same thread runs in both: in the failing one it gives way at one time, in
    the passing one at another.
    """
    for number, switch in enumerate(failing.switches):
        other = passing.switches[number] if number < len(passing.switches) else None
        if other is None or other.trigger != switch.trigger:
            return GuiltySwitch(switch, other)
    return None
