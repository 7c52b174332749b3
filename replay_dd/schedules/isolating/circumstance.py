"""Thread schedules as a failure circumstance: mixtures of a passing and a failing schedule.

Rules of this module:

* A configuration is a mixed schedule (``difference.py``); each distinct schedule runs once.
* The answer describes what the two final runs really did. If they differ in more than the isolated difference, the
  search continues on that difference, until a single one is left or nothing can be removed.
* Outside input for a mixture is unknowable; that of the failing run is as good a guess as any.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from pathlib import Path

from replay_dd.circumstance import Circumstance, End, Found, Goal, Judgement
from replay_dd.dd import EMPTY, IntervalSet
from replay_dd.experiment.journal import recalled_as
from replay_dd.outcome import Outcome
from replay_dd.schedules.failures.signature import PASSED, outcome_of, signature_of
from replay_dd.schedules.isolating.difference import Difference, difference_of
from replay_dd.schedules.log import log_as_bytes, parse_log
from replay_dd.schedules.model import Log, Switch, Trigger
from replay_dd.schedules.observed.executed import ExecutedRun
from replay_dd.schedules.replaying.divergence_diagnosis import diagnose
from replay_dd.schedules.replaying.execution import executed_run
from replay_dd.schedules.replaying.replay import counting_visits, exact_plan, find_divergence, replay_plan
from replay_dd.schedules.running.runner import Runner
from replay_dd.schedules.running.target import Plan, run_target

Triggers = tuple[Trigger, ...]


def in_words(trigger: Trigger | None) -> str:
    """A trigger in words, such as ``thread 0.1 to 0.2 at its yield point 4``."""
    if trigger is None:
        return ""
    to = "itself" if trigger.to == trigger.thread else trigger.to
    return f"thread {trigger.thread} to {to} at its yield point {trigger.time}"


@dataclass(frozen=True)
class _Kept:
    """A run as a journal keeps it."""

    log: bytes


@dataclass(frozen=True)
class ScheduleRunner:
    """Runs one program under any schedule.

    Attributes:
        failing: the log that provides the program and the settings.
        runner: runs the program.
        time_limit_s: seconds after which a run is killed; None for no limit.
        passing: another log, whose own schedule is run with the outside input of that log.
        failure: text that the description of the failure sought must contain.
        exact: the failure sought has the very message of the failing log, numbers and all.
        counted: the switches of runs made again, with the visits of their places, by schedule.
    """

    failing: Log
    runner: Runner
    time_limit_s: float | None
    passing: Log | None = None
    failure: str = ""
    exact: bool = False
    counted: dict[Triggers, tuple[Switch, ...]] = field(default_factory=dict, compare=False, repr=False)

    def outcome(self, run: Log) -> Outcome:
        """PASS, FAIL or UNRESOLVED, compared with the failing log."""
        sought = signature_of(self.failing.ending)
        outcome = outcome_of(run.ending, sought, self.failure)
        if outcome is Outcome.FAIL and self.exact and signature_of(run.ending).wording != sought.wording:
            return Outcome.UNRESOLVED
        return outcome

    def run(self, triggers: Triggers, *, fresh: bool = False) -> Log:
        """The log of a run under these triggers; with ``fresh`` in a new process, otherwise possibly forked."""
        wanted = sorted(triggers)  # a log has its triggers in the order of time, a difference by thread
        own = self.passing is not None and wanted == sorted(self.passing.triggers)
        source = self.passing if own and self.passing is not None else self.failing
        return self._run(triggers, source, fresh, exact=wanted == sorted(source.triggers))

    def executed(self, log: Log, first: int) -> ExecutedRun | None:
        """What the threads of a log execute from a global time on (``replaying/execution.py``)."""
        return executed_run(log, first=first, time_limit_s=self.time_limit_s, runner=self.runner)

    def run_again(self, log: Log) -> Log:
        """Rerun the schedule of a log in a fresh process, and count the visits of the places of its switches."""
        again = self._fresh(counting_visits(exact_plan(log, self.time_limit_s), log))
        if find_divergence(log, again) is None:
            self.counted[log.triggers] = again.switches
        return again

    def with_visits(self, log: Log) -> Log:
        """The log with the visits, if its run was made again: by them it is replayed in a program that has changed."""
        return replace(log, switches=self.counted.get(log.triggers, log.switches))

    def _run(self, triggers: Triggers, source: Log, fresh: bool, exact: bool) -> Log:
        plan = exact_plan(source, self.time_limit_s) if exact else replay_plan(triggers, source.arrivals)
        if fresh:
            return self._fresh(plan)
        return recalled_as(
            _Kept,
            lambda: (source is self.passing, triggers),
            lambda: self.runner.run(plan, self.time_limit_s).log,
            lambda log: _Kept(log_as_bytes(log)),
            lambda kept: parse_log(kept.log, Path("in the journal")),
        )

    def _fresh(self, plan: Plan) -> Log:
        return run_target(self.failing.program, self.failing.settings, plan, time_limit_s=self.time_limit_s).log


class ScheduleCircumstance(Circumstance[Log]):
    """Base of the schedule circumstances: runs are logs, identified by their triggers and judged by their endings."""

    name = "schedules"
    subject = "log"

    def __init__(self, runs: ScheduleRunner) -> None:
        self.runs = runs

    @abstractmethod
    def triggers(self, configuration: IntervalSet) -> Triggers:
        """The schedule of a configuration."""

    def run(self, configuration: IntervalSet, *, fresh: bool = False) -> Log:
        """Run a mixed schedule."""
        return self.runs.run(self.triggers(configuration), fresh=fresh)

    def key(self, configuration: IntervalSet) -> Hashable:
        """The schedule."""
        return self.triggers(configuration)

    def judge(self, run: Log) -> Judgement:
        """Compare the run with the failure of the failing log."""
        ending = signature_of(run.ending)
        return Judgement(self.runs.outcome(run), ending.text, ending.key, ending.failed)

    def compare(self, one: Log, other: Log) -> str:
        """The first point at which two runs diverge."""
        divergence = find_divergence(one, other)
        if divergence is not None:
            return f"{divergence}."
        first, second = signature_of(one.ending), signature_of(other.ending)
        return "" if first.same(second) else f"one ended with {first.text}, the other with {second.text}."

    def prove(self, configuration: IntervalSet, run: Log) -> Log:
        """Replay the log of the run in a fresh process."""
        return self.runs.run_again(run)


class MixedSchedules(ScheduleCircumstance):
    """The schedules between a passing and a failing one.

    Args:
        runs: runs the schedules; its passing log is set.
        difference: the difference of the two schedules.
        accept_changes: continue even if replays diverge from the recorded runs.
        flaky: the program is not deterministic under a fixed schedule.
    """

    delta = "unit delta"
    goal = Goal.ISOLATE
    algorithm = "dd"
    end_runs = 2

    def __init__(
        self, runs: ScheduleRunner, difference: Difference, *, accept_changes: bool = False, flaky: bool = False
    ) -> None:
        super().__init__(runs)
        self.difference = difference
        self.universe = difference.all
        self.faithful = not accept_changes and not flaky
        self.flaky = flaky

    def triggers(self, configuration: IntervalSet) -> Triggers:
        """The mixed schedule."""
        return self.difference.triggers(configuration)

    def words(self, delta: int) -> str:
        """The trigger that the unit delta moves, adds or removes."""
        found = self.difference.delta_of(delta)
        return f"{found.kind.value}: {in_words(found.failing or found.passing)}"

    def recorded(self, end: End) -> Log | None:
        """The log given."""
        return self.runs.failing if end is End.FAILING else self.runs.passing

    def diagnose(self, end: End) -> str:
        """The first yield point at which traced replays diverge, and the likely cause."""
        log = self.recorded(end)
        return "" if log is None else diagnose(log, self.runs.time_limit_s)

    def refine(self, passing: Found[Log], failing: Found[Log]) -> MixedSchedules | None:
        """Search the real difference of the two final runs, if it is more than the isolated switch."""
        if passing.run is None or failing.run is None:
            return None
        left = remaining_difference(passing.run, failing.run, self.difference)
        return None if left is None else MixedSchedules(self.runs, left, flaky=self.flaky)


def remaining_difference(passing: Log, failing: Log, searched: Difference) -> Difference | None:
    """The difference to continue with: that of what the two runs really did, if it is more than the isolated switch.

    The isolated switch is already down to one unit delta, so what follows in its wake is first taken as a whole. If
    that leads to another switch, the next search narrows that one down.
    """
    left = difference_of(passing, failing, whole=True)
    if len(left.deltas) > 1 and (searched.units > len(searched.deltas) or len(left.deltas) < len(searched.deltas)):
        return left
    fine = difference_of(passing, failing)
    was_whole = searched.units == len(searched.deltas)
    return fine if was_whole and len(fine.deltas) == 1 and fine.units > 1 else None


class NonDefaultChoices(ScheduleCircumstance):
    """The choices of one schedule that deviate from the default schedule; the search leaves them out.

    Works for passing logs, too: the search preserves the ending, whatever it is.

    Args:
        runs: runs the schedules.
    """

    name = "schedule"
    delta = "choice"
    faithful = False

    def __init__(self, runs: ScheduleRunner) -> None:
        super().__init__(runs)
        self._chosen = tuple(sorted(runs.failing.triggers))
        self.universe = IntervalSet.range(0, len(self._chosen))

    def triggers(self, configuration: IntervalSet) -> Triggers:
        """The choices that are kept."""
        return tuple(self._chosen[number] for number in configuration)

    def words(self, delta: int) -> str:
        """The choice."""
        return in_words(self._chosen[delta])

    def judge(self, run: Log) -> Judgement:
        """FAIL if the run ends as in the log: that is what ddmin preserves."""
        ending, sought = signature_of(run.ending), signature_of(self.runs.failing.ending)
        if ending.same(sought) and ending.mentions(self.runs.failure):
            return Judgement(Outcome.FAIL, ending.text, ending.key, failed=True)
        outcome = Outcome.PASS if ending.kind == PASSED else Outcome.UNRESOLVED
        return Judgement(outcome, ending.text, ending.key, ending.failed)

    def recorded(self, end: End) -> Log | None:
        """The log given."""
        return self.runs.failing if end is End.FAILING else None

    def diagnose(self, end: End) -> str:
        """The first yield point at which traced replays diverge, and the likely cause."""
        return diagnose(self.runs.failing, self.runs.time_limit_s)


class ShiftedPreemption(ScheduleCircumstance):
    """One preemption of a run, at other times: each delta delays it by one yield point from ``first_time``.

    Args:
        runs: runs the schedules.
        log: the run.
        switch: its preemption.
        first_time: the earliest thread time to try.
        last_time: the latest one.
    """

    name = "switch times"
    delta = "yield point"
    goal = Goal.ISOLATE
    algorithm = "dd"
    base = EMPTY

    def __init__(self, runs: ScheduleRunner, log: Log, switch: Switch, first_time: int, last_time: int) -> None:
        super().__init__(runs)
        self._others = tuple(trigger for trigger in log.triggers if trigger != switch.trigger)
        self._switch = switch
        self.first_time = first_time
        self.universe = IntervalSet.range(0, last_time - first_time)

    def at(self, time: int) -> IntervalSet:
        """The configuration with the switch at a thread time."""
        return IntervalSet.range(0, time - self.first_time)

    def triggers(self, configuration: IntervalSet) -> Triggers:
        """The run's schedule with the switch at another time."""
        return tuple(sorted((*self._others, self.trigger(configuration))))

    def trigger(self, configuration: IntervalSet) -> Trigger:
        """The switch alone."""
        return Trigger(self._switch.thread, self.first_time + configuration.count, self._switch.to)
