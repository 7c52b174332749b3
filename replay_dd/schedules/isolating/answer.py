"""What an isolation tells: the guilty switch, the choices that the failure needs, the ranges in which it fails.

Rules of this module:

* The guilty switch is the first in which the two final runs differ. The failure may need others, too, which both runs
  share: all of them belong to the answer (:mod:`~replay_dd.schedules.isolating.needed_choices`).
* Only a search that ran to completion has an answer; of any other, the best result so far is told as that.
* The proof is made of the very runs that the answer is about, after all that is not needed was left out.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import NamedTuple

from replay_dd.circumstance import Found
from replay_dd.dd import EMPTY
from replay_dd.experiment.driver import Observer
from replay_dd.experiment.process import LIVE
from replay_dd.experiment.proof import PROOF_RUNS, prove
from replay_dd.experiment.result import Isolation
from replay_dd.experiment.testing import Tests
from replay_dd.experiment.waiting import result_of
from replay_dd.schedules.failures.signature import ChangedMessage, message_changed
from replay_dd.schedules.isolating.circumstance import MixedSchedules, ScheduleRunner
from replay_dd.schedules.isolating.difference import Delta, difference_of
from replay_dd.schedules.isolating.failing_range import (
    NO_RANGES,
    FailingRange,
    FailingRanges,
    find_failing_ranges,
    interesting_times,
)
from replay_dd.schedules.isolating.gil import UNKNOWN, GilAnswer, gil_answer, gil_positions
from replay_dd.schedules.isolating.needed_choices import NeededChoices, find_needed_choices
from replay_dd.schedules.model import Log, Place, Switch
from replay_dd.schedules.observed.executed import Executed, ExecutedRun


class GuiltySwitch(NamedTuple):
    """With this switch at this time the run fails, otherwise it passes.

    Attributes:
        failing: the switch in the failing run; to the same thread where it is the last wait of a deadlock, or the end
            of a program whose last thread did not give way any more.
        passing: where the same thread next yielded in the passing run; None if it ran to the end of the program.
    """

    failing: Switch
    passing: Switch | None


class Execution(NamedTuple):
    """What was executed in the failing run without its guilty switch, so that its thread runs on.

    Up to the switch it is the failing run, and up to where that one yields, the passing run.

    Attributes:
        thread: the thread of the guilty switch.
        run: what all threads executed.
    """

    thread: str
    run: ExecutedRun

    def instructions(self, first: int, last: int) -> tuple[Executed, ...]:
        """What the thread executed from one of its times to another, both included."""
        return self.run.of(self.thread, first, last)


class ScheduleIsolation(NamedTuple):
    """What makes a schedule fail.

    Attributes:
        isolation: the driver's result; its deltas are unit deltas.
        switch: the guilty switch; None if the final runs make the same switches.
        delta: the difference that is left; None if several are.
        ranges: where in its turn the switch fails.
        passing: the log of the final passing run.
        failing: the log of the final failing run.
        needed: the search for the choices that the failure needs; None if it was not made.
        message: where the message of the failure changed: as it was in the failing log, and as it is now.
        execution: what was executed around the switch; None if that is not known.
        failing_execution: what was executed in the final failing run; None if that is not known, or not needed as no
            choice comes after the guilty switch.
    """

    isolation: Isolation[Log]
    switch: GuiltySwitch | None
    delta: Delta | None
    ranges: FailingRanges
    passing: Log
    failing: Log
    needed: NeededChoices | None = None
    message: ChangedMessage | None = None
    execution: Execution | None = None
    failing_execution: ExecutedRun | None = None

    @property
    def failing_range(self) -> FailingRange | None:
        """The failing range of the guilty switch; None if it is a single position."""
        return self.ranges.guilty

    @property
    def choices(self) -> tuple[Switch, ...]:
        """The choices of the final failing run, in order; all others are those of the default schedule."""
        return tuple(switch for switch in self.failing.switches if not switch.by_default)

    def gil_of(self, first: Switch, last: Switch | None = None) -> GilAnswer:
        """Where the interpreter can switch by itself, between two switches in the turn of the guilty one."""
        if self.execution is None:
            return UNKNOWN
        return gil_of(self.execution.run, first, last or first)

    def gil_of_choice(self, choice: Switch) -> GilAnswer:
        """Whether the interpreter can make one of the choices by itself."""
        if self.switch is None or self.execution is None:
            return UNKNOWN
        if choice.global_time <= self.switch.failing.global_time:
            return self.gil_of(choice)  # up to there, it is the same run
        return UNKNOWN if self.failing_execution is None else gil_of(self.failing_execution, choice, choice)

    @property
    def gil(self) -> GilAnswer:
        """The same for the failing range of the guilty switch."""
        if self.switch is None:
            return UNKNOWN
        found = self.failing_range
        return self.gil_of(self.switch.failing) if found is None else self.gil_of(found.first, found.last)


def gil_of(run: ExecutedRun, first: Switch, last: Switch) -> GilAnswer:
    """Where in a run, from one switch of a thread to another, the interpreter can switch by itself."""
    return gil_answer(gil_positions(run.of(first.thread)), first.time, last.time)


def best_so_far(isolation: Isolation[Log], failing: Log) -> ScheduleIsolation:
    """What is known after a search that was stopped.

    Args:
        isolation: the search.
        failing: the failing log that was given.
    """
    last = isolation.circumstance
    assert isinstance(last, MixedSchedules)
    passing_run, failing_run = isolation.passing.run, isolation.failing.run
    assert passing_run is not None
    assert failing_run is not None
    return ScheduleIsolation(
        isolation=isolation,
        switch=find_guilty_switch(passing_run, failing_run),
        delta=_only_delta(isolation),
        ranges=NO_RANGES,
        passing=replace(passing_run, strategy="isolated"),
        failing=replace(failing_run, strategy="isolated"),
        message=message_changed(failing.ending, failing_run.ending),
    )


def complete_answer(
    isolation: Isolation[Log],
    tests: Tests[Log],
    runs: ScheduleRunner,
    *,
    jobs: int,
    max_tests: int | None,
    observer: Observer,
    is_late: Callable[[], bool] = lambda: False,
) -> ScheduleIsolation:
    """Find everything that the answer consists of, and prove it.

    Args:
        isolation: a complete search, not yet proved.
        tests: its runs.
        runs: runs the schedules.
        jobs: the number of parallel runs.
        max_tests: how many tests may be spent on the choices that are needed.
        observer: receives progress.
        is_late: whether the time is over: then only what the answer cannot do without is found.
    """
    best = best_so_far(isolation, runs.failing)
    if not isolation.complete:
        return best
    try:
        if not isolation.circumstance.flaky and not is_late():
            observer.on_stage("leaving out the choices that the failure does not need")
            best = _with_needed_choices(best, tests, runs, jobs, max_tests)
        observer.on_stage("proving the answer")
        has_ranges = best.switch is not None and not isolation.circumstance.flaky and not is_late()
        if jobs > 1 and has_ranges:
            return _proved_beside_ranges(best, tests, runs, jobs, observer, is_late)
        best = _proved(best, tests, runs, jobs)
        # The two may differ in what came from outside alone, and then no switch is to blame.
        has_ranges = has_ranges and best.switch is not None
        if has_ranges and best.isolation.verified and not is_late():
            observer.on_stage("looking for the failing ranges")
            best = _with_ranges(best, tests, runs, jobs, is_late)
    except KeyboardInterrupt:
        return best._replace(isolation=replace(best.isolation, stopped_by="interrupt"))
    return best


def _with_needed_choices(
    best: ScheduleIsolation, tests: Tests[Log], runs: ScheduleRunner, jobs: int, max_tests: int | None
) -> ScheduleIsolation:
    needed = find_needed_choices(runs, best.passing, best.failing, jobs=jobs, max_tests=max_tests)
    if not needed.left_out:
        return best._replace(needed=needed)
    fine = difference_of(needed.passing, needed.failing)
    left = best.isolation.deltas_left
    difference = fine if fine.units == left else difference_of(needed.passing, needed.failing, whole=True)
    circumstance = MixedSchedules(runs, difference)
    tests.continue_with(circumstance)
    for end, run in ((EMPTY, needed.passing), (difference.all, needed.failing)):
        tests.remember(end, run, circumstance.judge(run))
    isolation = replace(
        best.isolation,
        circumstance=circumstance,
        failure=circumstance.judge(needed.failing),
        passing=Found(EMPTY, needed.passing),
        failing=Found(difference.all, needed.failing),
        runs=tests.runs,
    )
    return best_so_far(isolation, runs.failing)._replace(needed=needed)


def _proved_beside_ranges(
    best: ScheduleIsolation,
    tests: Tests[Log],
    runs: ScheduleRunner,
    jobs: int,
    observer: Observer,
    is_late: Callable[[], bool],
) -> ScheduleIsolation:
    """Look for the ranges while the proof is made, which hardly ever fails: then they are thrown away."""
    other_tests = tests.judged_by(tests.circumstance)
    with ThreadPoolExecutor(1) as pool:
        proof = pool.submit(_proved, best, tests, runs, jobs - jobs // 2)
        try:
            observer.on_stage("proving the answer, and looking for the failing ranges")
            with_ranges = _with_ranges(best, other_tests, runs, jobs // 2, is_late)
            proved = result_of(proof)
        except KeyboardInterrupt:
            LIVE.kill_all()
            with contextlib.suppress(BaseException):  # without it, the answer is as good as it is
                made = proof.result()
                # Its runs may have just been killed, which disproves nothing.
                best = made if made.isolation.verified else best
            return best._replace(isolation=replace(best.isolation, stopped_by="interrupt"))
    if not proved.isolation.verified:
        return proved
    return proved._replace(
        ranges=with_ranges.ranges,
        execution=with_ranges.execution,
        failing_execution=with_ranges.failing_execution,
    )


def _proved(best: ScheduleIsolation, tests: Tests[Log], runs: ScheduleRunner, jobs: int) -> ScheduleIsolation:
    isolation = best.isolation
    proof = prove(tests, isolation.baseline, isolation.passing, isolation.failing, jobs=jobs, runs=PROOF_RUNS)
    isolation = replace(isolation, proof=proof, runs=tests.runs)
    passing, failing = (
        replace(runs.with_visits(log), verified=isolation.verified) for log in (best.passing, best.failing)
    )
    switch = find_guilty_switch(passing, failing)
    return best._replace(isolation=isolation, passing=passing, failing=failing, switch=switch)


def _with_ranges(
    best: ScheduleIsolation, tests: Tests[Log], runs: ScheduleRunner, jobs: int, is_late: Callable[[], bool]
) -> ScheduleIsolation:
    assert best.switch is not None
    switch = best.switch.failing
    # Without the switch, the thread's turn lasts until it has to stop.
    longer = best.failing
    if not switch.forced and not switch.by_default:
        longer = runs.run(tuple(trigger for trigger in best.failing.triggers if trigger != switch.trigger))
    executed = runs.executed(longer, _turn_starts(longer, switch))
    execution = None if executed is None else Execution(switch.thread, executed)
    stops = [one.time for one in longer.switches if one.thread == switch.thread and one.time >= switch.time]
    ends = min(stops, default=longer.ending.thread_times.get(switch.thread, switch.time) + 1) - 1
    times = () if executed is None else interesting_times(executed.of(switch.thread, 0, ends), switch.time)
    ranges = find_failing_ranges(
        *(tests, runs, best.failing, switch), last_time=ends, interesting=times, jobs=jobs, is_late=is_late
    )
    later = None
    if any(choice.global_time > switch.global_time for choice in best.choices):
        later = runs.executed(best.failing, switch.global_time)
    return best._replace(ranges=ranges, execution=execution, failing_execution=later)


def _turn_starts(log: Log, switch: Switch) -> int:
    """The global time at which the turn of a switch's thread began."""
    began = [
        one.global_time for one in log.switches if one.to == switch.thread and one.global_time < switch.global_time
    ]
    return max(began, default=0)


def _only_delta(isolation: Isolation[Log]) -> Delta | None:
    last = isolation.circumstance
    assert isinstance(last, MixedSchedules)
    left = isolation.difference
    if not left:
        return None
    first = last.difference.delta_of(left.first)
    return first if all(stop <= first.start + first.units for _, stop in left.intervals) else None


def find_guilty_switch(passing: Log, failing: Log) -> GuiltySwitch | None:
    """The first switch in which two runs differ.

    Up to there they are the same run, so the same thread runs in both: it yields at one time in the failing run and at
    another in the passing one. In a deadlock, its last wait counts, though nobody can run then. A thread that only the
    passing run preempts goes on to the end of the program in the failing one, and that end counts.
    """
    for number, switch in enumerate(failing.switches):
        other = passing.switches[number] if number < len(passing.switches) else None
        if other is None or other.trigger != switch.trigger:
            return GuiltySwitch(switch, other)
    more = passing.switches[len(failing.switches) :]
    if not more:
        return None
    last = _last_wait(failing, more[0].thread) or _end(failing, more[0])
    return None if last is None else GuiltySwitch(last, more[0])


def _end(failing: Log, instead: Switch) -> Switch | None:
    """The end of a program as a switch of its last thread to itself; None if the passing run chose nothing else."""
    if instead.by_default or failing.ending.deadlock:
        return None
    ending, thread = failing.ending, instead.thread
    time = ending.thread_times.get(thread, 0)
    return Switch(thread, time, thread, True, True, None, ending.global_time, ending.digest, ended=True)


def _last_wait(log: Log, thread: str) -> Switch | None:
    """The wait of a thread that nothing follows, as a switch to itself; None if it is not in a deadlock."""
    waiter = next((waiter for waiter in log.ending.deadlock if waiter.thread == thread), None)
    if waiter is None:
        return None
    ending, frame = log.ending, waiter.innermost
    path = "" if frame is None else os.path.join(log.program.directory, log.program.paths.get(frame.file, frame.file))
    place = None if frame is None else Place(frame.file, path, frame.line, 0, frame.function, "", gil_reachable=True)
    time = ending.thread_times.get(thread, 0)
    return Switch(thread, time, thread, True, True, place, ending.global_time, ending.digest)
