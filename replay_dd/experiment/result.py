"""The one result of all circumstances, and its exit status."""

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
    """One test of a search: for progress, and for the picture of its course.

    Attributes:
        number: from 1.
        size: how many deltas were applied.
        outcome: what came of it.
        deltas_left: the size of what is left after it.
        words: how the run ended.
        failed: whether the run failed at all, perhaps in another way.
    """

    __test__ = False  # no class of tests for pytest

    number: int
    size: int
    outcome: Outcome
    deltas_left: int
    words: str = ""
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Isolation(Generic[Run]):
    """What makes the failure, and how sure that is.

    Attributes:
        circumstance: the circumstance that was searched last; the configurations below are its own.
        failure: the failure.
        passing: the largest passing configuration and its run; for a simplification, the base.
        failing: the smallest failing configuration and its run.
        deltas_before: how many deltas there were.
        baseline: what the two ends do.
        proof: what fresh runs of the answer said.
        tests: how many different configurations the search tested, the ends that were run included.
        requested: outcomes that the algorithm asked for, the two ends included.
        runs: all runs made, with those of the baseline, of repetitions and of the proof.
        unresolved: how tests ended that neither passed nor failed as looked for, with their number.
        stopped_by: what ended an incomplete search: ``"interrupt"``, ``"tests"``, ``"time"``; otherwise None.
        seconds: real time of it all.
        steps: the course of the search.
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

    @property
    def difference(self) -> IntervalSet:
        """The deltas that are left."""
        return self.failing.configuration - self.passing.configuration

    @property
    def deltas_left(self) -> int:
        """How many deltas are left."""
        return self.difference.count

    @property
    def complete(self) -> bool:
        """Whether the search ended by itself, so that all its algorithm promises holds."""
        return self.stopped_by is None

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C stopped it."""
        return self.stopped_by == "interrupt"

    @property
    def verified(self) -> bool:
        """Whether fresh runs bear the answer out."""
        return self.proof.holds

    @property
    def exit_code(self) -> int:
        """The exit status that tells this result: done, too flaky to decide, or interrupted."""
        if self.interrupted:
            return EXIT_INTERRUPTED
        return EXIT_DONE if self.verified or not self.complete or not self.proof.made else EXIT_FLAKY

    def __repr__(self) -> str:
        words = ", ".join(self.circumstance.words(delta) for delta in list(self.difference)[:3])
        more = f" and {self.deltas_left - 3} more" if self.deltas_left > 3 else ""
        return f"<Isolation of {self.failure.words!r}: {words}{more}; {self.tests} tests>"
