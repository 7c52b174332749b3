"""The result type of all circumstances, and its exit status."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic

from replay_dd.circumstance import Circumstance, Found, Judgement, Run
from replay_dd.dd import IntervalSet
from replay_dd.errors import EXIT_DONE, EXIT_FLAKY, EXIT_INTERRUPTED
from replay_dd.experiment.baseline import Baseline
from replay_dd.experiment.proof import Proof
from replay_dd.experiment.search import StoppedBy
from replay_dd.outcome import Outcome


@dataclass(frozen=True, slots=True)
class TestRecord:
    """One test of a search, for progress and for charts.

    Attributes:
        number: its number, from 1.
        size: how many deltas were applied.
        outcome: its outcome.
        deltas_left: how many deltas are left after it.
        words: how the run ended.
        failed: whether the run failed at all, perhaps with a different failure.
        unit: what one delta is.
        measure: how large the configuration was, in the circumstance's unit for charts.
    """

    __test__ = False  # not a test class for pytest

    number: int
    size: int
    outcome: Outcome
    deltas_left: int
    words: str = ""
    failed: bool = False
    unit: str = ""
    measure: int = 0


@dataclass(frozen=True, slots=True)
class Stage:
    """One search of several: that of a circumstance, or of one that refined it.

    Attributes:
        unit: what one delta is.
        before: how many deltas there were.
        left: how many are left.
        tests: how many tests it ran.
    """

    unit: str
    before: int
    left: int
    tests: int


@dataclass(frozen=True, slots=True)
class Isolation(Generic[Run]):
    """What causes the failure, and how certain that is.

    Attributes:
        circumstance: the circumstance searched last; the configurations below refer to it.
        failure: the failure.
        passing: the largest passing configuration and its run; for a simplification, the base.
        failing: the smallest failing configuration and its run.
        deltas_before: how many deltas there were.
        baseline: what the two ends do.
        proof: the result of fresh runs of the answer.
        tests: how many distinct configurations were tested, including those ends that were run.
        requested: how many outcomes the algorithm asked for, including the two ends.
        runs: the number of all runs, including the baseline, repetitions and the proof.
        unresolved: the endings of unresolved tests, and how many tests had each.
        stopped_by: what ended an incomplete search: ``"interrupt"``, ``"tests"``, ``"time"``; otherwise None.
        seconds: total real time.
        steps: the tests of the search, in order.
        stages: the searches, in order.
    """

    circumstance: Circumstance[Run]
    failure: Judgement
    passing: Found[Run]
    failing: Found[Run]
    deltas_before: int
    baseline: Baseline
    proof: Proof
    tests: int
    requested: int
    runs: int
    unresolved: tuple[tuple[Judgement, int], ...]
    stopped_by: StoppedBy | None
    seconds: float
    steps: tuple[TestRecord, ...]
    stages: tuple[Stage, ...] = ()

    @property
    def difference(self) -> IntervalSet:
        """The remaining deltas."""
        return self.failing.configuration - self.passing.configuration

    @property
    def deltas_left(self) -> int:
        """The number of remaining deltas, or of groups of them."""
        return self.shown.count

    @property
    def shown(self) -> IntervalSet:
        """The remaining deltas to describe: one of each group."""
        return self.circumstance.shown(self.difference)

    @property
    def deltas_searched(self) -> int:
        """How many deltas the last search began with; it may count something else than the first one."""
        return self.stages[-1].before if len(self.stages) > 1 else self.deltas_before

    @property
    def complete(self) -> bool:
        """Whether the search ran to completion, so that its algorithm's guarantees hold."""
        return self.stopped_by is None

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C stopped it."""
        return self.stopped_by == "interrupt"

    @property
    def verified(self) -> bool:
        """Whether fresh runs confirmed the answer."""
        return self.proof.holds

    @property
    def exit_code(self) -> int:
        """The exit status for this result: done, too flaky to decide, or interrupted."""
        if self.interrupted:
            return EXIT_INTERRUPTED
        return EXIT_DONE if self.verified or not self.complete or not self.proof.made else EXIT_FLAKY

    def __repr__(self) -> str:
        words = ", ".join(self.circumstance.words(delta) for delta in list(self.shown)[:3])
        more = f" and {self.deltas_left - 3} more" if self.deltas_left > 3 else ""
        return f"<Isolation of {self.failure.words!r}: {words}{more}; {self.tests} tests>"
