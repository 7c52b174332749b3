"""The choices that a failure needs, under the isolated difference.

The isolation ends with two runs that differ in one switch. What they share is not looked at there: it may hold other
switches without which nothing fails, and one of these may be the race itself. So the shared choices are minimized, too.

Rules of this module:

* A set of shared choices is enough if both hold: with the isolated difference the run fails, without it the run passes.
* The two runs differ in no more than before; a smaller set with a wider difference would explain less.
* A set that is reported as minimal is 1-minimal: with any single one of them left out, it is no longer enough.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from replay_dd.dd import EMPTY, DDMin, IntervalSet, Search
from replay_dd.experiment.process import LIVE
from replay_dd.experiment.search import run_search
from replay_dd.outcome import Outcome
from replay_dd.schedules.failures.signature import signature_of
from replay_dd.schedules.isolating.circumstance import ScheduleRunner, Triggers
from replay_dd.schedules.isolating.difference import difference_of
from replay_dd.schedules.model import Log, Trigger

MOST_TESTS = 100  # of two runs each; schedules that a hunt has simplified share a handful of choices


class NeededChoices(NamedTuple):
    """The final runs of an isolation, without the choices that the failure does not need.

    Attributes:
        passing: the run that passes.
        failing: the run that fails; its choices are those that the failure needs.
        minimal: whether none of the choices can be left out; False if a limit stopped the search.
        tests: how many sets of choices were tested, of at most two runs each.
        left_out: how many choices were left out.
    """

    passing: Log
    failing: Log
    minimal: bool
    tests: int
    left_out: int


def find_needed_choices(
    runs: ScheduleRunner, passing: Log, failing: Log, *, jobs: int, max_tests: int | None = None
) -> NeededChoices:
    """Leave out what two runs share and the failure does not need.

    Args:
        runs: runs the schedules.
        passing: the final passing run.
        failing: the final failing run.
        jobs: the number of parallel tests.
        max_tests: stop after this many tests with the best result so far; by default after :data:`MOST_TESTS`.

    Raises:
        KeyboardInterrupt: Ctrl-C.
    """
    shared = tuple(sorted(set(failing.triggers) & set(passing.triggers)))
    if not shared:
        return NeededChoices(passing, failing, minimal=True, tests=0, left_out=0)
    pairs = _Pairs(runs, passing, failing, shared)
    limit = MOST_TESTS if max_tests is None else min(max_tests, MOST_TESTS)
    whole = IntervalSet.range(0, len(shared))
    if limit < 1 or signature_of(failing.ending).in_step:
        return NeededChoices(passing, failing, minimal=False, tests=0, left_out=0)
    tests, complete, left = 1, True, EMPTY
    if pairs.test(EMPTY) is not Outcome.FAIL:
        search = Search(DDMin(whole), known={whole: Outcome.FAIL, EMPTY: Outcome.PASS})
        result = run_search(search, pairs.test, jobs=jobs, max_tests=limit - 1, on_interrupt=LIVE.kill_all)
        if result.stopped_by == "interrupt":
            raise KeyboardInterrupt
        tests, complete, left = 1 + result.executed, result.complete, result.c_fail
    if left == whole:
        return NeededChoices(passing, failing, complete, tests, 0)
    return NeededChoices(*pairs.found[left], complete, tests, whole.count - left.count)


@dataclass
class _Pairs:
    """Makes the two runs of a set of shared choices, and says whether the set is enough."""

    runs: ScheduleRunner
    passing: Log
    failing: Log
    shared: Triggers
    found: dict[IntervalSet, tuple[Log, Log]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._differences = len(difference_of(self.passing, self.failing, whole=True).deltas)
        shared = set(self.shared)
        self._of_failing = [trigger for trigger in self.failing.triggers if trigger not in shared]
        self._of_passing = [trigger for trigger in self.passing.triggers if trigger not in shared]

    def test(self, configuration: IntervalSet) -> Outcome:
        """FAIL if these choices are enough; called from several threads."""
        kept = [self.shared[number] for number in configuration]
        failing = self._run(kept, self._of_failing)
        if self.runs.outcome(failing) is not Outcome.FAIL:
            return Outcome.PASS
        passing = self._run(kept, self._of_passing)
        if self.runs.outcome(passing) is not Outcome.PASS:
            return Outcome.PASS
        if not 0 < len(difference_of(passing, failing, whole=True).deltas) <= self._differences:
            return Outcome.PASS
        self.found[configuration] = passing, failing
        return Outcome.FAIL

    def _run(self, kept: list[Trigger], own: list[Trigger]) -> Log:
        return self.runs.run(tuple(sorted((*kept, *own))))
