"""Isolates the switch that makes a run fail: dd over the difference of two schedules.

Rules of this module:

* Searches fork the program where it starts its first thread. If forked and fresh runs disagree, fresh processes decide:
  the whole isolation is repeated with them.
* The failure of the failing log is sought, not just one like it. If the message of what was isolated differs, a second
  search asks for the very message of the log. Its answer counts if it is at another place: that is another bug. If it
  leads nowhere or to the same place, the first answer stands, and says that the message changed. A time that each
  schedule changes is not sought. With a text of the user's own, that text decides.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from replay_dd.errors.program import NotReproducedError
from replay_dd.errors.user import NoDifferenceError, UsageError
from replay_dd.experiment.driver import NO_OBSERVER, Observer, isolate_cause
from replay_dd.experiment.result import Isolation
from replay_dd.experiment.testing import Tests
from replay_dd.schedules.failures.signature import message_changed, signature_of, text_sought
from replay_dd.schedules.isolating.answer import ScheduleIsolation, complete_answer, find_guilty_switch
from replay_dd.schedules.isolating.circumstance import MixedSchedules, ScheduleRunner
from replay_dd.schedules.isolating.difference import difference_of
from replay_dd.schedules.isolating.failing_range import FailingRange
from replay_dd.schedules.isolating.same_schedule import HINT, SAME_SCHEDULE, outside_decides
from replay_dd.schedules.model import Log
from replay_dd.schedules.replaying.comparable import check_pair, time_limit_for
from replay_dd.schedules.running.first_thread import Start, start_program
from replay_dd.schedules.running.runner import Runner

_MEASURED = re.compile(r"[0-9]\.[0-9]{6}")
_ENOUGH_MESSAGES = 4


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
    failure: str | None = None,
    range_number: int | None = None,
    start: Start = start_program,
    runner: Runner | None = None,
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
        failure: text that the description of the failure must contain; None for that of the failing log.
        range_number: isolate in this one of the failing ranges of the answer, counted from 1.
        start: starts a program that is to be forked.
        runner: runs the program; by default a new one, made of ``may_fork`` and ``start``.
        observer: receives progress.

    Raises:
        NotDeterministicError: two replays of one log diverge.
        ReplayDDError: the logs cannot be compared, do not replay, or have the same schedule.
    """
    check_pair(passing, failing, accept_changes=accept_changes)
    text = text_sought(failing, failure)
    if difference_of(passing, failing).units == 0:
        outside = outside_decides(passing, failing)
        raise NoDifferenceError(f"{SAME_SCHEDULE} {outside}".rstrip(), hint=HINT if outside else None)
    limit_s = time_limit_for((passing, failing)) if time_limit_s is None else time_limit_s

    def attempt(runner: Runner) -> ScheduleIsolation:
        runs = ScheduleRunner(failing, runner, limit_s, passing, failure=text)
        found = search(runs, passing, failing)
        if range_number is None or not found.isolation.verified:
            return found
        chosen = _chosen(found, range_number)
        assert chosen.passing is not None
        runs = ScheduleRunner(chosen.failing, runner, limit_s, chosen.passing)
        return search(runs, chosen.passing, chosen.failing)

    def search(runs: ScheduleRunner, passing: Log, failing: Log) -> ScheduleIsolation:
        limits = _Limits(max_tests, None if time_budget_s is None else time.monotonic() + time_budget_s)

        def once(
            runs: ScheduleRunner, most: int | None, before: Tests[Log] | None = None
        ) -> tuple[Isolation[Log], Tests[Log]]:
            circumstance = MixedSchedules(
                *(runs, difference_of(passing, failing)), accept_changes=accept_changes, flaky=repeats > 1
            )
            tests = Tests(circumstance) if before is None else before.judged_by(circumstance)
            isolation = isolate_cause(
                circumstance,
                jobs=jobs,
                max_tests=most,
                time_limit_s=limits.seconds_left(),
                repeat=repeats,
                proof_runs=0,
                observer=observer,
                tests=tests,
            )
            return isolation, tests

        isolation, tests = once(runs, max_tests)
        drifted = isolation.complete and _drifted(runs, isolation) and not _is_measured(runs, tests.failing())
        if not runs.failure and repeats == 1 and drifted:
            # It may be another bug. The very message is sought, too, if that is not much dearer.
            observer.on_stage("looking for the failure with the message of the log")
            exact = replace(runs, exact=True)
            with contextlib.suppress(NotReproducedError):
                most = limits.tests_left(isolation.tests, 2 * isolation.tests + 10)
                own, own_tests = once(exact, most, tests)
                better = (
                    own.complete
                    and own.deltas_left <= isolation.deltas_left
                    and not _drifted(runs, own)
                    and _place_of(own) != _place_of(isolation)
                )
                isolation = replace(
                    own if better else isolation,
                    tests=own.tests,
                    requested=isolation.requested + own.requested,
                    runs=own.runs,
                    unresolved=(own if better else isolation).unresolved,
                    seconds=isolation.seconds + own.seconds,
                    steps=(*isolation.steps, *own.steps),
                    stopped_by="interrupt" if own.interrupted else None,
                )
                if better:
                    tests, runs = own_tests, exact
        found = complete_answer(
            *(isolation, tests, runs),
            jobs=jobs,
            max_tests=limits.tests_left(isolation.tests),
            observer=observer,
            is_late=lambda: limits.ends_at is not None and time.monotonic() >= limits.ends_at,
        )
        return found._replace(failing=replace(found.failing, failure=runs.failure))

    own = Runner(failing.program, failing.settings, may_fork=may_fork, start=start, on_fresh=observer.on_note)
    with own if runner is None else contextlib.nullcontext(runner) as used:
        try:
            found = attempt(used)
            if found.isolation.verified or not found.isolation.complete or used.why_fresh:
                return found
        except NotReproducedError:
            if used.why_fresh:
                raise
        # Addresses must matter.
        used.stop_forking("forked runs differ from fresh ones")
        return attempt(used)


class _Limits(NamedTuple):
    max_tests: int | None
    ends_at: float | None

    def seconds_left(self) -> float | None:
        return None if self.ends_at is None else self.ends_at - time.monotonic()

    def tests_left(self, spent: int, most: int | None = None) -> int | None:
        if self.max_tests is None:
            return most
        left = max(self.max_tests - spent, 0)
        return left if most is None else min(left, most)


def _drifted(runs: ScheduleRunner, isolation: Isolation[Log]) -> bool:
    """Whether the failure that was isolated has another message than that of the failing log."""
    run = isolation.failing.run
    return run is not None and message_changed(runs.failing.ending, run.ending) is not None


def _is_measured(runs: ScheduleRunner, failing: Sequence[Log]) -> bool:
    """Whether the message of the failing log is sought in vain, as it tells a time, which each schedule changes."""
    told = [signature_of(log.ending).wording for log in failing]
    long = _MEASURED.search(signature_of(runs.failing.ending).wording)
    return long is not None and len(told) >= _ENOUGH_MESSAGES and len(set(told)) == len(told)


def _place_of(isolation: Isolation[Log]) -> tuple[str, int] | None:
    """The file and line of the guilty switch: where it is the same, so is the bug, whatever the numbers."""
    passing, failing = isolation.passing.run, isolation.failing.run
    guilty = None if passing is None or failing is None else find_guilty_switch(passing, failing)
    place = None if guilty is None else guilty.failing.place
    return None if place is None else (place.path, place.line)


def _chosen(found: ScheduleIsolation, number: int) -> FailingRange:
    """The failing range with this number, counted from 1.

    Raises:
        UsageError: there are not so many, or no position of the turn passes.
    """
    ranges = found.ranges.ranges
    if not 0 < number <= len(ranges):
        which = "one failing range" if len(ranges) == 1 else f"{len(ranges) or 'no'} failing ranges"
        raise UsageError(
            f"There is no failing range {number}: the turn of the isolated switch has {which}.",
            "Leave out `--range` to see them.",
        )
    if ranges[number - 1].passing is None:
        raise UsageError(
            f"No run passes with the switch outside the failing range {number}, so nothing can be isolated there.",
            "Give another range, or another passing log.",
        )
    return ranges[number - 1]
