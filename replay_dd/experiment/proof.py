"""The proof of an answer: both final runs, made afresh, several times.

Rules of this module:

* Both sides are run side by side.
* No run of the search counts: the claim "with this it fails, without it it passes" rests on new runs.
* If runs can be compared, every run must equal that of the search.
* If the failure is steady, every run of the failing side must fail. If it is intermittent, the failing side must fail
  about as often as the baseline promises. The passing side must never fail.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, NamedTuple

from replay_dd.circumstance import Circumstance, Found, Goal, Run
from replay_dd.experiment.baseline import INTERMITTENT_RUNS, Baseline, Rate
from replay_dd.experiment.sequential import at_most
from replay_dd.experiment.testing import Tests, in_parallel
from replay_dd.outcome import Outcome

PROOF_RUNS = 3
# A failing side that fails as often as promised is rejected with this probability at most.
_REJECTED = 0.02
NOT_RUN = Rate(0, 0)


class Proof(NamedTuple):
    """The result of fresh runs of the answer.

    Attributes:
        failing: how many runs of the failing side failed.
        passing: how many runs of the passing side failed; no runs if the answer has no passing side.
        holds: whether they confirm the answer.
    """

    failing: Rate = NOT_RUN
    passing: Rate = NOT_RUN
    holds: bool = False

    @property
    def made(self) -> bool:
        """Whether there were any runs."""
        return self.failing.runs > 0


def prove(
    tests: Tests[Run],
    baseline: Baseline,
    passing: Found[Run],
    failing: Found[Run],
    *,
    jobs: int,
    runs: int,
) -> Proof:
    """Run both sides of an answer afresh.

    Args:
        tests: runs the configurations.
        baseline: what is known about the failure.
        passing: the passing side; its run is None if it is not part of the answer.
        failing: the failing side.
        jobs: the number of parallel runs.
        runs: how many runs of each side to make if the failure is steady.
    """
    times = runs if baseline.repeat == 1 else max(INTERMITTENT_RUNS, runs, baseline.repeat)
    sides = [_Side(tests, failing, Outcome.FAIL)]
    if passing.run is not None and tests.circumstance.goal is Goal.ISOLATE:
        sides.append(_Side(tests, passing, Outcome.PASS))
    made = in_parallel([side.again for side in sides for _ in range(times)], jobs)
    of_failing, same_failing = sides[0].judged(made[:times])
    of_passing, same_passing = sides[1].judged(made[times:]) if len(sides) > 1 else (NOT_RUN, True)
    if tests.circumstance.flaky:
        holds = keeps_promise(of_failing, baseline) and of_passing.failed == 0
    else:
        holds = same_failing and same_passing
    return Proof(of_failing, of_passing, holds)


def keeps_promise(rate: Rate, baseline: Baseline) -> bool:
    """Whether fresh runs fail about as often as the failing end did before the search."""
    if baseline.rate.steady and not baseline.intermittent:
        return rate.steady
    return rate.failed > 0 and at_most(rate.failed, rate.runs, baseline.rate.at_least) > _REJECTED


class _Side(Generic[Run]):
    """One side of the answer, whose run is made again."""

    def __init__(self, tests: Tests[Run], found: Found[Run], expected: Outcome) -> None:
        self._tests, self._configuration, self._expected = tests, found.configuration, expected
        self._run = found.run if found.run is not None else tests.of(found.configuration)[0]

    def again(self) -> Run:
        """Make it once more."""
        return self._tests.once_more(self._configuration, self._run)

    def judged(self, made: Sequence[Run]) -> tuple[Rate, bool]:
        """How many of the runs failed, and whether all equal the run of the search."""
        circumstance: Circumstance[Run] = self._tests.circumstance
        outcomes = [circumstance.judge(again).outcome for again in made]
        same = all(outcome is self._expected for outcome in outcomes)
        same = same and not any(circumstance.compare(self._run, one) for one in made)
        return Rate(outcomes.count(Outcome.FAIL), len(made)), same
