"""Runs the configurations of one circumstance and remembers the results.

Rules of this module:

* Configurations with the same key share their runs.
* If runs do not vary, a configuration is run once. If they do, a sequential test decides how often it is run: it fails
  if it fails about as often as the whole, and passes only if it never fails. What fails rarely is unresolved.
* When a search starts over with more runs, earlier runs count.
* Speculative runs are remembered, but not counted unless needed: counts do not depend on the number of workers.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Generic, TypeVar

from replay_dd.circumstance import Circumstance, Judgement, Run
from replay_dd.dd import IntervalSet
from replay_dd.experiment.process import LIVE
from replay_dd.experiment.sequential import SequentialTest
from replay_dd.experiment.waiting import result_of
from replay_dd.outcome import Outcome

T = TypeVar("T")

RARE = "fails rarely"
# How often a configuration that does not fail is run in all if the failure seems to show every time.
_CONFIRMING_RUNS = 2
# How many endings of unresolved tests are compared with those of runs alone, and how many runs alone must be alike.
_ENDINGS_COMPARED = 3
_ALIKE_ALONE = 3


@dataclass(slots=True)
class _Tally(Generic[Run]):
    """The runs of one configuration: their number, and an example of each kind."""

    runs: int = 0
    failed: int = 0
    failing: tuple[Run, Judgement] | None = None
    other: tuple[Run, Judgement] | None = None

    def add(self, run: Run, judgement: Judgement) -> None:
        self.runs += 1
        if judgement.outcome is Outcome.FAIL:
            self.failed += 1
            self.failing = self.failing or (run, judgement)
        elif self.other is None or (self.other[1].outcome is Outcome.PASS and judgement.outcome is not Outcome.PASS):
            self.other = run, judgement

    def result(self, fails: bool) -> tuple[Run, Judgement]:
        """The run that stands for all of them, and what they mean."""
        if self.other is None or (fails and self.failing is not None):
            assert self.failing is not None
            return self.failing
        if not self.failed:
            return self.other
        words = f"showed the failure too rarely (in {self.failed} of {self.runs} runs)"
        return self.other[0], Judgement(Outcome.UNRESOLVED, words, RARE)


class Tests(Generic[Run]):
    """The test function of a search, with the results of its runs.

    Args:
        circumstance: runs and judges configurations; :meth:`continue_with` replaces it with a refined one.
        repeat: how many times a configuration that does not fail is run.

    Attributes:
        runs: the number of runs, including evidence and repetitions.
        sequential: decides how often a configuration is run; None to run it until it fails, ``repeat`` times at most.
    """

    __test__ = False  # not a test class for pytest

    def __init__(self, circumstance: Circumstance[Run], *, repeat: int = 1) -> None:
        self.circumstance = circumstance
        self.repeat = repeat
        self.sequential: SequentialTest | None = None
        self.runs = 0
        self._lock = threading.Lock()
        self._made: dict[Hashable, tuple[Run, Judgement]] = {}
        self._tallies: dict[Hashable, _Tally[Run]] = {}
        self._counted: dict[Hashable, None] = {}
        self._compared: set[Hashable] = set()  # endings of unresolved tests that were compared with those of runs alone

    def continue_with(self, circumstance: Circumstance[Run]) -> None:
        """Test a refined circumstance from now on; previous results are kept."""
        self.circumstance = circumstance

    def judged_by(self, circumstance: Circumstance[Run]) -> Tests[Run]:
        """The same runs and counts for a circumstance that judges runs in another way."""
        anew: Tests[Run] = Tests(circumstance, repeat=self.repeat)
        anew.runs = self.runs
        with self._lock:
            anew._made = {key: (run, circumstance.judge(run)) for key, (run, _) in self._made.items()}
        anew._counted = dict(self._counted)
        return anew

    def failing(self) -> list[Run]:
        """A run of each configuration that fails."""
        with self._lock:
            return [run for run, judgement in self._made.values() if judgement.outcome is Outcome.FAIL]

    @property
    def tested(self) -> int:
        """How many distinct configurations the searches have tested."""
        return len(self._counted)

    def decide_by(self, sequential: SequentialTest) -> None:
        """Decide all configurations anew, by a sequential test; their runs so far count."""
        self.sequential = sequential
        self._made.clear()

    def judge_again(self) -> None:
        """Forget the runs of those configurations that are judged differently by now."""
        self._tallies = {
            key: tally
            for key, tally in self._tallies.items()
            if tally.other is None or self.circumstance.judge(tally.other[0]).outcome is tally.other[1].outcome
        }

    def once_more(self, configuration: IntervalSet, run: Run) -> Run:
        """Repeat a run of the answer, as evidence."""
        with self._lock:
            self.runs += 1
        again = self.circumstance.prove(configuration, run)
        with self._lock:
            self._tally(configuration).add(again, self.circumstance.judge(again))
        return again

    def of(self, configuration: IntervalSet) -> tuple[Run, Judgement]:
        """The run of a configuration and its judgement; made now unless it is known."""
        key = self.circumstance.key(configuration)
        with self._lock:
            made = self._made.get(key)
            tally = self._tally(configuration)
        if made is not None:
            return made
        while (fails := self._decided(tally)) is None:
            self._run_into(tally, configuration)
        with self._lock:
            return self._made.setdefault(key, tally.result(fails))

    def fails_after_all(
        self, configurations: Sequence[IntervalSet], error: float, jobs: int, is_late: Callable[[], bool]
    ) -> IntervalSet | None:
        """The first of some configurations that fails after all, if it is run more often; None if none does.

        Args:
            configurations: configurations that did not fail.
            error: the probability of missing such a one.
            jobs: the number of parallel runs.
            is_late: tells that no more runs should begin.
        """

        def fails(configuration: IntervalSet) -> bool:
            with self._lock:
                tally = self._tally(configuration)
            if self.sequential is None:
                while tally.runs < _CONFIRMING_RUNS and not tally.failed:
                    self._run_into(tally, configuration)
                if tally.failed:
                    with self._lock:
                        self._made[self.circumstance.key(configuration)] = tally.result(True)
                return tally.failed > 0
            strict = self.sequential.stricter(error / len(configurations))
            while (decided := strict.fails(tally.failed, tally.runs)) is None:
                self._run_into(tally, configuration)
            with self._lock:
                self._made[self.circumstance.key(configuration)] = tally.result(decided)
            return decided

        def make(configuration: IntervalSet) -> Callable[[], bool]:
            return lambda: fails(configuration)

        for first in range(0, len(configurations), jobs):
            if is_late():
                break
            batch = configurations[first : first + jobs]
            failing = in_parallel([make(one) for one in batch], jobs)
            found = next((one for one, failed in zip(batch, failing, strict=True) if failed), None)
            if found is not None:
                return found
        return None

    def _decided(self, tally: _Tally[Run]) -> bool | None:
        if self.sequential is not None:
            return self.sequential.fails(tally.failed, tally.runs)
        if tally.failed:
            return True
        return False if tally.runs >= self.repeat else None

    def _tally(self, configuration: IntervalSet) -> _Tally[Run]:
        return self._tallies.setdefault(self.circumstance.key(configuration), _Tally())

    def _run_into(self, tally: _Tally[Run], configuration: IntervalSet) -> None:
        with self._lock:
            self.runs += 1
        run = self.circumstance.run(configuration)
        judgement = self.circumstance.judge(run)
        with self._lock:
            tally.add(run, judgement)

    def outcome(self, configuration: IntervalSet) -> Outcome:
        """PASS, FAIL or UNRESOLVED."""
        return self.of(configuration)[1].outcome

    def known(self, configuration: IntervalSet) -> tuple[Run, Judgement] | None:
        """Like :meth:`of`, but None if it was not run."""
        with self._lock:
            return self._made.get(self.circumstance.key(configuration))

    def remember(self, configuration: IntervalSet, run: Run, judgement: Judgement) -> None:
        """Store a run that was made elsewhere as that of a configuration."""
        with self._lock:
            self._made[self.circumstance.key(configuration)] = run, judgement
            tally = self._tally(configuration)
            if not tally.runs:
                tally.add(run, judgement)

    def note(self, configuration: IntervalSet, runs: Iterable[Run], judged: Iterable[Judgement]) -> None:
        """Store all runs of a configuration that were made elsewhere, in the place of those known so far."""
        tally: _Tally[Run] = _Tally()
        for run, judgement in zip(runs, judged, strict=True):
            tally.add(run, judgement)
        with self._lock:
            self._tallies[self.circumstance.key(configuration)] = tally

    def count(self, configuration: IntervalSet) -> None:
        """Count a configuration: a search used its outcome."""
        self._counted[self.circumstance.key(configuration)] = None

    def unresolved(self) -> tuple[tuple[Judgement, int], ...]:
        """The endings of unresolved tests and how many tests had each, most frequent first."""
        found: dict[Hashable, list[Judgement]] = {}
        for key in self._counted:
            _, judgement = self._made.get(key, (None, None))
            if judgement is not None and judgement.outcome is Outcome.UNRESOLVED:
                found.setdefault(judgement.signature, []).append(judgement)
        # Sorted by words, too, so that the order of configurations does not matter.
        endings_counted = [(min(endings, key=lambda one: one.words), len(endings)) for endings in found.values()]
        return tuple(sorted(endings_counted, key=lambda one: (-one[1], one[0].words)))

    def disturbed(self, tested: Iterable[IntervalSet]) -> str:
        """How one of some tests ended that was run at the same time as others, and ends otherwise alone.

        The first endings of unresolved tests are looked at: runs that are disturbed end in ways that mean nothing.

        Args:
            tested: configurations of the circumstance, in the order of their tests.

        Returns:
            The words of that ending; empty if there is none, or if runs alone vary.
        """
        compare = self.circumstance.compare
        for configuration in tested:
            if len(self._compared) >= _ENDINGS_COMPARED:
                break
            beside, judgement = self.of(configuration)
            if judgement.outcome is not Outcome.UNRESOLVED or judgement.signature in self._compared:
                continue
            self._compared.add(judgement.signature)
            (alone,) = self.several(configuration, 1, 1, fresh=True)
            told = compare(alone, beside)
            if told and not any(
                compare(alone, again) for again in self.several(configuration, _ALIKE_ALONE - 1, 1, fresh=True)
            ):
                return told
        return ""

    def forget_unresolved(self) -> None:
        """Run those configurations anew whose runs told nothing."""
        unresolved = [key for key, (_, judgement) in self._made.items() if judgement.outcome is Outcome.UNRESOLVED]
        for key in unresolved:
            del self._made[key]
            self._tallies.pop(key, None)

    def several(self, configuration: IntervalSet, times: int, jobs: int, *, fresh: bool) -> list[Run]:
        """Run one configuration ``times`` times, up to ``jobs`` in parallel."""

        def one() -> Run:
            with self._lock:
                self.runs += 1
            return self.circumstance.run(configuration, fresh=fresh)

        return several(one, times, jobs)


def several(make: Callable[[], T], times: int, jobs: int) -> list[T]:
    """Call a function ``times`` times, up to ``jobs`` in parallel; its exceptions propagate."""
    return in_parallel([make] * times, jobs)


def in_parallel(calls: Sequence[Callable[[], T]], jobs: int) -> list[T]:
    """Make calls, up to ``jobs`` in parallel; their exceptions propagate."""
    if min(jobs, len(calls)) <= 1:
        return [call() for call in calls]
    with ThreadPoolExecutor(min(jobs, len(calls)), "replay-dd-runs") as pool:
        futures = [pool.submit(call) for call in calls]
        try:
            return [result_of(future) for future in futures]
        except BaseException:
            for future in futures:
                future.cancel()
            LIVE.kill_all()  # otherwise the remaining runs would continue
            raise
