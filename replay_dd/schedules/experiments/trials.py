"""Runs the schedules of an experiment, with and without a lock or an order, and counts how they end.

Rules of this module:

* A schedule with one lock or order is run once, whoever asks.
* A verdict compares the very same schedules with and without.
* A lock that makes the program end in a way that no schedule without it does is no proof of anything.
* Nor is it one that a single schedule passes with it, or that a few do when the time is over: those that do not pass
  without it are run first, those that end in another way before all others, as that may be the same race.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import NamedTuple

from replay_dd.experiment.in_order import runs_in_order
from replay_dd.outcome import Outcome
from replay_dd.schedules.failures.signature import PASSED, Signature, outcome_of, signature_of
from replay_dd.schedules.model import Ending
from replay_dd.schedules.running.runner import Runner
from replay_dd.schedules.running.target import Plan, TargetRun
from replay_dd.schedules.runtime.virtual.lock import NOT_TAKEN
from replay_dd.schedules.story.experiment_results import (
    FAILS,
    LEAST_FAILING,
    LEAST_IN_PART,
    NO_PROOF,
    PREVENTS,
    TOO_FEW,
    Attempt,
    Counts,
)
from replay_dd.schedules.virtual import Virtual


class Ended(NamedTuple):
    """How one run ended, as far as an experiment needs it.

    Attributes:
        failed: in the way that was isolated.
        passed: whether it passed.
        kind: equal for endings that are alike, whatever line they name.
        text: the ending in words.
        not_taken: why a lock of the program was not taken; empty if it was.
    """

    failed: bool
    passed: bool
    kind: str
    text: str
    not_taken: str = ""


def _without_message(signature: Signature) -> str:
    """An ending in words that are the same for all endings of its kind."""
    if signature.kind == "deadlock":
        return "deadlock"
    if signature.kind == "exception" and len(signature.detail) == 4:
        kind, file, function, line = signature.detail
        return f"{kind} ({file}:{line} in {function})"
    if signature.kind == "exit" and len(signature.detail) == 4:
        status, file, function, line = signature.detail
        said = f": {signature.message}" if signature.message else ""  # a function may exit for all reasons
        return f"exit status {status}{said} ({file}:{line} in {function})"
    return signature.text


def _waits_alike(one: Signature, other: Signature) -> bool:
    """Whether both are deadlocks, and threads wait at a place of both: then it only caught others.

    The main thread does not count, as it mostly waits for all others to end.
    """
    if not one.kind == other.kind == "deadlock":
        return False
    return bool(_places_of(one) & _places_of(other))


def _places_of(deadlock: Signature) -> set[tuple[object, object]]:
    waits = [detail for detail in deadlock.detail if isinstance(detail, tuple)]
    return {(file, line) for thread, file, line in waits if thread != "0"}


class Trials:
    """The runs of all experiments with one failure.

    Args:
        runner: runs the program.
        sought: the failure.
        failure: text that its description must contain.
        plans: the schedules.
        jobs: the number of parallel runs.
        time_limit_s: seconds after which a run is killed.
        on_run: called after each run with the number of runs so far.
        ends_at: the time, as ``time.monotonic`` tells it, at which no more runs are made; None for no limit.
    """

    def __init__(
        self,
        runner: Runner,
        sought: Signature,
        failure: str,
        plans: Sequence[Plan],
        *,
        jobs: int,
        time_limit_s: float | None,
        on_run: Callable[[int], None] = lambda number: None,
        ends_at: float | None = None,
    ) -> None:
        self.plans = list(plans)
        self._runner, self._sought, self._failure = runner, sought, failure
        self._jobs, self._time_limit_s, self._on_run = jobs, time_limit_s, on_run
        self.ends_at = ends_at
        self.runs = 0
        self._known: dict[tuple[Virtual | None, int], Ended] = {}

    @property
    def out_of_time(self) -> bool:
        """Whether no more runs are to be made."""
        return self.ends_at is not None and time.monotonic() >= self.ends_at

    def failed(self, number: int) -> bool:
        """Whether a schedule failed without anything."""
        return self._known[None, number].failed

    def count_without(self) -> int:
        """How many schedules were run without anything."""
        return sum(virtual is None for virtual, _ in self._known)

    def run(
        self, virtual: Virtual | None, numbers: Sequence[int], goes_on: Callable[[Ended], bool] = lambda ended: True
    ) -> list[int]:
        """Run some of the schedules, as long as there is time.

        Args:
            virtual: with this; None for without.
            numbers: of the schedules.
            goes_on: asked about each ending, in order; False ends it there.

        Returns:
            The numbers of those that were run, now or before.
        """
        done: list[int] = []
        fresh = self._fresh_runs(virtual, [number for number in numbers if (virtual, number) not in self._known])
        try:
            for number in numbers:
                if (virtual, number) not in self._known:
                    made = next(fresh, None)
                    if made is None:
                        break
                    self._known[virtual, number] = made
                done.append(number)
                if not goes_on(self._known[virtual, number]):
                    break
        finally:
            fresh.close()
        return done

    def _fresh_runs(self, virtual: Virtual | None, numbers: Sequence[int]) -> Generator[Ended, None, None]:
        def plans() -> Iterator[Plan]:
            for number in numbers:
                if self.out_of_time:
                    return
                yield replace(self.plans[number], virtual=virtual)

        def run(plan: Plan) -> TargetRun:
            return self._runner.run(plan, self._time_limit_s)

        with closing(runs_in_order(run, plans(), self._jobs)) as runs:
            for _, made in runs:
                self.runs += 1
                self._on_run(self.runs)
                yield self._judged(made.log.ending)

    def _judged(self, ending: Ending) -> Ended:
        signature = signature_of(ending)
        failed = outcome_of(ending, self._sought, self._failure) is Outcome.FAIL
        failed = failed or (not self._failure and _waits_alike(signature, self._sought))
        text = _without_message(signature)
        not_taken = next((note for note in ending.notes if note.endswith(NOT_TAKEN)), "")
        kind = str((signature.kind, signature.functions, signature.message))
        return Ended(failed, signature.kind == PASSED, kind, text, not_taken)

    # -- verdicts ----------------------------------------------------------------------------------------------------

    def ended_otherwise(self) -> list[int]:
        """The schedules that without anything neither passed nor failed in the way that was isolated."""
        runs = ((number, ended) for (virtual, number), ended in self._known.items() if virtual is None)
        return [number for number, ended in runs if not ended.passed and not ended.failed]

    def holds(self, virtual: Virtual, numbers: Sequence[int], *, passing: bool = False) -> bool:
        """Whether none of these schedules fails with it, and none ends in a new way.

        Args:
            virtual: what the scheduler keeps.
            numbers: of the schedules.
            passing: whether each must pass, and not end in some other way that was seen before.
        """
        known = set() if passing else self._kinds_without()

        def harmless(ended: Ended) -> bool:
            return not ended.failed and not ended.not_taken and (ended.passed or ended.kind in known)

        done = self.run(virtual, numbers, harmless)
        return len(done) == len(numbers) and all(harmless(self._known[virtual, number]) for number in done)

    def attempt(self, virtual: Virtual, numbers: Sequence[int] | None = None) -> Attempt:
        """Compare schedules with it and without it.

        Args:
            virtual: what the scheduler keeps.
            numbers: those to compare, which were run already; None to run all that were run without it.
        """
        if numbers is None:
            numbers = [number for number in range(len(self.plans)) if (None, number) in self._known]
            self.run(virtual, sorted(numbers, key=self._turn))
        done = [number for number in numbers if (virtual, number) in self._known]
        known = self._kinds_without()
        with_it, without = self._count(virtual, done), self._count(None, done)
        ends = [self._known[virtual, number] for number in done]
        new = next((end for end in ends if not end.failed and not end.passed and end.kind not in known), None)
        not_taken = next((end.not_taken for end in ends if end.not_taken), "")
        if not_taken or (new is not None and not with_it.failed):
            count = 0 if new is None else sum(end.kind == new.kind for end in ends)
            why = not_taken or f"{count} of {len(done)} schedules end with {new.text if new else ''} instead"
            return Attempt(virtual, with_it, without, NO_PROOF, why, bool(not_taken))
        if with_it.failed:
            return Attempt(virtual, with_it, without, FAILS)
        left = self._left(virtual)
        enough = without.failed >= (LEAST_IN_PART if left else LEAST_FAILING)
        enough = enough and not set(left) & set(self.ended_otherwise())
        return Attempt(virtual, with_it, without, PREVENTS if enough else TOO_FEW, untried=len(left))

    def _turn(self, number: int) -> int:
        """When a schedule is run with something: what ends in another way without it, what fails, what passes."""
        without = self._known[None, number]
        return 2 if without.passed else 1 if without.failed else 0

    def _left(self, virtual: Virtual) -> list[int]:
        """The schedules that do not pass without anything, and were not run with this."""
        return [
            number
            for (one, number), ended in self._known.items()
            if one is None and not ended.passed and (virtual, number) not in self._known
        ]

    def _kinds_without(self) -> set[str]:
        """How runs without anything end otherwise; an ending like the failure, but elsewhere, is not known by that."""
        ends = (ended for (virtual, _), ended in self._known.items() if virtual is None)
        return {ended.kind for ended in ends if not ended.failed}

    def _count(self, virtual: Virtual | None, numbers: Sequence[int]) -> Counts:
        ends = [self._known[virtual, number] for number in numbers]
        others = Counter(end.text for end in ends if not end.failed and not end.passed)
        return Counts(len(ends), sum(end.failed for end in ends), dict(others))
