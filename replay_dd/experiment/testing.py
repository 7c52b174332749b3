"""Runs the configurations of one circumstance, each once, and remembers how they ended.

Rules of this module:

* Two configurations with the same key are the same run: it is made once.
* Where runs are flaky, a configuration is run until it fails, at most ``repeat`` times; it passes only if it never did.
* What was run ahead and not needed is remembered, but counts nowhere: counts do not depend on the number of workers.
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
    """The test function of a search, with what its runs said.

    Args:
        circumstance: what runs and judges configurations; a refined one takes its place with :meth:`continue_with`.
        repeat: how often a configuration that does not fail is run.

    Attributes:
        runs: how many runs were made, evidence and repetitions included.
    """

    __test__ = False  # no class of tests for pytest

    def __init__(self, circumstance: Circumstance[Run], *, repeat: int = 1) -> None:
        self.circumstance = circumstance
        self.repeat = repeat
        self.runs = 0
        self._lock = threading.Lock()
        self._made: dict[Hashable, tuple[Run, Judgement]] = {}
        self._counted: dict[Hashable, None] = {}

    def continue_with(self, circumstance: Circumstance[Run]) -> None:
        """Test a refined circumstance from now on; what was run stays known."""
        self.circumstance = circumstance

    @property
    def tested(self) -> int:
        """How many different configurations the searches have tested."""
        return len(self._counted)

    def fresh_run(self, configuration: IntervalSet) -> Run:
        """One more run, which is evidence and not remembered."""
        with self._lock:
            self.runs += 1
        return self.circumstance.run(configuration, fresh=True)

    def once_more(self, configuration: IntervalSet, run: Run) -> Run:
        """Make a run of the answer again, as evidence."""
        with self._lock:
            self.runs += 1
        return self.circumstance.prove(configuration, run)

    def of(self, configuration: IntervalSet) -> tuple[Run, Judgement]:
        """The run of a configuration and what it means; made now, if it was not made before."""
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
        """As :meth:`of`, but None where it was not run."""
        with self._lock:
            return self._made.get(self.circumstance.key(configuration))

    def remember(self, configuration: IntervalSet, run: Run, judgement: Judgement) -> None:
        """Take a run that was made elsewhere for the run of a configuration."""
        with self._lock:
            self._made[self.circumstance.key(configuration)] = run, judgement

    def count(self, configuration: IntervalSet) -> None:
        """A search has used the outcome of a configuration."""
        self._counted[self.circumstance.key(configuration)] = None

    def unresolved(self) -> tuple[tuple[Judgement, int], ...]:
        """How the tests ended that neither passed nor failed as looked for, most frequent first, with their number."""
        found: dict[Hashable, list[Judgement]] = {}
        for key in self._counted:
            _, judgement = self._made.get(key, (None, None))
            if judgement is not None and judgement.outcome is Outcome.UNRESOLVED:
                found.setdefault(judgement.signature, []).append(judgement)
        # Sorted by the words, too, so that the order of the configurations does not matter.
        told = [(min(endings, key=lambda one: one.words), len(endings)) for endings in found.values()]
        return tuple(sorted(told, key=lambda one: (-one[1], one[0].words)))

    def _run(self, configuration: IntervalSet) -> tuple[Run, Judgement]:
        with self._lock:
            self.runs += 1
        run = self.circumstance.run(configuration)
        return run, self.circumstance.judge(run)

    def several(self, configuration: IntervalSet, times: int, jobs: int, *, fresh: bool) -> list[Run]:
        """The same configuration so many times, up to ``jobs`` at the same time."""

        def one() -> Run:
            with self._lock:
                self.runs += 1
            return self.circumstance.run(configuration, fresh=fresh)

        return several(one, times, jobs)


def several(make: Callable[[], T], times: int, jobs: int) -> list[T]:
    """Call a function so many times, up to ``jobs`` at the same time; what it raises is raised."""
    if min(jobs, times) <= 1:
        return [make() for _ in range(times)]
    with ThreadPoolExecutor(min(jobs, times), "replay-dd-runs") as pool:
        futures = [pool.submit(make) for _ in range(times)]
        try:
            return [result_of(future) for future in futures]
        except BaseException:
            for future in futures:
                future.cancel()
            LIVE.kill_all()  # else the others go on for as long as they like
            raise
