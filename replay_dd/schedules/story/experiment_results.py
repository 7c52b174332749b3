"""What the experiments with an isolated failure found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from replay_dd.schedules.virtual import Virtual

PREVENTS, FAILS, NO_PROOF, TOO_FEW = "prevents", "fails", "no proof", "too few"
# Schedules that fail without it, for a claim: one may pass by chance, as any change moves its switches.
LEAST_FAILING = 2
# And where the time ended before all were tried that do not pass without it. By the rule of three (Hanley and
# Lippman-Hand, JAMA 1983), 0 of 20 leaves room for a failure in 3 of 20 that nobody has seen.
LEAST_IN_PART = 20


@dataclass(frozen=True)
class Counts:
    """How some schedules ended.

    Attributes:
        schedules: how many there were.
        failed: how many failed in the way that was isolated.
        others: how many ended in some other way that is not a pass, by how they ended.
    """

    schedules: int
    failed: int
    others: Mapping[str, int] = field(default_factory=dict)


class Attempt(NamedTuple):
    """One experiment: the same schedules with and without a lock or an order.

    Attributes:
        virtual: what the scheduler kept.
        counts: how they ended with it.
        without: how the same schedules ended without it.
        verdict: ``prevents`` (none of them fails in that way any more), ``fails`` (some do), ``no proof`` (it leads to
            endings that do not occur without it, such as a deadlock), or ``too few`` (none fails, but fewer than
            ``LEAST_FAILING`` do without it; or the time was over, and fewer than ``LEAST_IN_PART`` of those that fail
            without it were tried, or not all that end in another way).
        why: for ``no proof``, what happened.
        not_taken: whether that was only that the lock of the program was not found.
        again: where the code inside takes that plain lock once more.
        widened: the ``with`` statements that only have to reach farther, each with its place.
        untried: how many schedules that do not pass without it were not run with it, as the time was over.
    """

    virtual: Virtual
    counts: Counts
    without: Counts
    verdict: str
    why: str = ""
    not_taken: bool = False
    again: tuple[str, ...] = ()
    widened: tuple[str, ...] = ()
    untried: int = 0


class Experiments(NamedTuple):
    """All experiments with one isolated failure.

    Attributes:
        attempts: in the order in which they are worth telling.
        schedules: how many schedules there were to try: the failing one, its neighbours and those that were hunted.
        neighbours: how many of them are neighbours of the failing one, with itself.
        runs: how many runs all this took.
        seconds: how long.
        stopped_by: ``time`` or ``interrupt``, if it was stopped before it was through.
        why_not: why there is none.
    """

    attempts: tuple[Attempt, ...] = ()
    schedules: int = 0
    neighbours: int = 0
    runs: int = 0
    seconds: float = 0.0
    stopped_by: str = ""
    why_not: str = ""

    @property
    def prevents(self) -> Attempt | None:
        """The experiment that helps, if one does."""
        return next((attempt for attempt in self.attempts if attempt.verdict == PREVENTS), None)

    @property
    def undecided(self) -> bool:
        """Whether too few schedules failed to tell if an experiment helps."""
        return any(attempt.verdict == TOO_FEW for attempt in self.attempts)
