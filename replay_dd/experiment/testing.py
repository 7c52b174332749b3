"""Runs the configurations of one circumstance, each once, and remembers the results.

Rules of this module:

* Configurations with the same key share one run.
* If runs are flaky, a configuration is run until it fails, at most ``repeat`` times; it passes only if it never fails.
* Speculative runs are remembered, but not counted unless needed: counts do not depend on the number of workers.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

from replay_dd.circumstance import Circumstance, Judgement, Run
from replay_dd.dd import IntervalSet
from replay_dd.experiment.process import LIVE
from replay_dd.experiment.waiting import result_of
from replay_dd.outcome import Outcome

T = TypeVar("T")


class Tests(Generic[Run]):
    """The test function of a search, with the results of its runs.

    Args:
        circumstance: runs and judges configurations; :meth:`continue_with` replaces it with a refined one.
        repeat: how many times a configuration that does not fail is run.

    Attributes:
        runs: the number of runs, including evidence and repetitions.
    """

    __test__ = False  # not a test class for pytest

    def __init__(self, circumstance: Circumstance[Run], *, repeat: int = 1) -> None:
        self.circumstance = circumstance
        self.repeat = repeat
        self.runs = 0
        self._lock = threading.Lock()
        self._made: dict[Hashable, tuple[Run, Judgement]] = {}
        self._counted: dict[Hashable, None] = {}

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

    @property
    def tested(self) -> int:
        """How many distinct configurations the searches have tested."""
        return len(self._counted)

    def once_more(self, configuration: IntervalSet, run: Run) -> Run:
        """Repeat a run of the answer, as evidence."""
        with self._lock:
            self.runs += 1
        return self.circumstance.prove(configuration, run)

    def of(self, configuration: IntervalSet) -> tuple[Run, Judgement]:
        """The run of a configuration and its judgement; made now unless it is known."""
        key = self.circumstance.key(configuration)
        with self._lock:
            made = self._made.get(key)
        if made is not None:
            return made
        made = self._run(configuration)
        for _ in range(self.repeat - 1):
            if made[1].outcome is Outcome.FAIL:
                break
            again = self._run(configuration)
            made = again if again[1].outcome is Outcome.FAIL else made
        with self._lock:
            return self._made.setdefault(key, made)

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

    def _run(self, configuration: IntervalSet) -> tuple[Run, Judgement]:
        with self._lock:
            self.runs += 1
        run = self.circumstance.run(configuration)
        return run, self.circumstance.judge(run)

    def several(self, configuration: IntervalSet, times: int, jobs: int, *, fresh: bool) -> list[Run]:
        """Run one configuration ``times`` times, up to ``jobs`` in parallel."""

        def one() -> Run:
            with self._lock:
                self.runs += 1
            return self.circumstance.run(configuration, fresh=fresh)

        return several(one, times, jobs)


def several(make: Callable[[], T], times: int, jobs: int) -> list[T]:
    """Call a function ``times`` times, up to ``jobs`` in parallel; its exceptions propagate."""
    if min(jobs, times) <= 1:
        return [make() for _ in range(times)]
    with ThreadPoolExecutor(min(jobs, times), "replay-dd-runs") as pool:
        futures = [pool.submit(make) for _ in range(times)]
        try:
            return [result_of(future) for future in futures]
        except BaseException:
            for future in futures:
                future.cancel()
            LIVE.kill_all()  # otherwise the remaining runs would continue
            raise
