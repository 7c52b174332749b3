"""Runs the tests of a search and, on idle workers, those that it will probably ask for next.

Rules of this module:

* Speculation has no side effects: it works on copies of the algorithm, which it gives hypothetical outcomes.
* The likeliest path comes first; the outcomes so far determine how likely each outcome is.
* A wrong guess costs an unneeded test, but never changes the answer: outcomes are delivered only when requested, in
  serial order.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from itertools import islice
from typing import Any

from replay_dd.dd.algorithm import Algorithm
from replay_dd.dd.intervals import IntervalSet
from replay_dd.dd.search import TESTED, Search
from replay_dd.experiment.calls import Calls, Prepare
from replay_dd.experiment.waiting import wait_for_all, wait_for_one
from replay_dd.outcome import Outcome

MOST_STEPS = 2000
"""How many hypothetical outcomes speculation explores before it gives up."""

_RECENT = 32


def likely_next(search: Search, finished: Mapping[IntervalSet, Outcome]) -> Iterator[IntervalSet]:
    """The configurations that the search may ask for after the pending one, the likeliest first, each once.

    Args:
        search: a search that has asked and waits for an outcome; it is not changed.
        finished: outcomes that are known but not yet told to the search, so no longer hypothetical.
    """
    chances = _chances(search)
    paths: list[tuple[float, int, Algorithm, dict[IntervalSet, Outcome]]] = []
    serial = 0
    heapq.heappush(paths, (-1.0, serial, search.algorithm.copy(), {}))
    seen: set[IntervalSet] = set()
    for _ in range(MOST_STEPS):
        if not paths:
            return
        chance, _, algorithm, assumed = heapq.heappop(paths)
        configuration = algorithm.ask()
        if configuration is None:
            continue
        outcome = finished.get(configuration) or assumed.get(configuration)
        if outcome is None and (answer := search.answer(configuration)) is not None:
            outcome = answer[0]
        if outcome is not None:
            algorithm.tell(outcome, search.realised(configuration))
            serial += 1
            heapq.heappush(paths, (chance, serial, algorithm, assumed))
            continue
        if configuration not in seen:
            seen.add(configuration)
            yield configuration
        for guess, likelihood in _likelihoods(algorithm, chances):
            ahead = algorithm.copy()
            ahead.tell(guess)
            serial += 1
            heapq.heappush(paths, (chance * likelihood, serial, ahead, {**assumed, configuration: guess}))


def _likelihoods(algorithm: Algorithm, chances: Mapping[Outcome, float]) -> Iterator[tuple[Outcome, float]]:
    """How likely each outcome of the question that an algorithm asks is."""
    failing = algorithm.chance_of_failing
    if failing is None:
        yield from chances.items()
        return
    yield Outcome.FAIL, failing
    # What it asks next hardly depends on which of the others it is.
    yield max((Outcome.PASS, Outcome.UNRESOLVED), key=chances.__getitem__), 1 - failing


def _chances(search: Search) -> dict[Outcome, float]:
    """How likely each outcome is, from the last tests, none of them impossible."""
    recent = [record.outcome for record in search.recent(_RECENT) if record.answered_by == TESTED]
    total = len(recent) + len(Outcome)
    return {outcome: (recent.count(outcome) + 1) / total for outcome in Outcome}


class Workers:
    """Runs the tests of a search and, while workers are idle, those that may come next.

    Args:
        search: the search; read, never changed.
        test: tests one configuration.
        jobs: the number of parallel tests.
        executor: where to run them; by default, with more than one job, a pool of that many threads.
        prepare: turns a configuration into the argument of the test; by default, that is the configuration itself.

    Attributes:
        unused: how many tests turned out not to be needed; final after :meth:`close`.
    """

    def __init__(
        self,
        search: Search,
        test: Callable[[Any], Outcome],
        jobs: int,
        executor: Executor | None,
        prepare: Prepare | None = None,
    ) -> None:
        self._search = search
        self._jobs = jobs
        self._own = ThreadPoolExecutor(jobs, "replay-dd-test") if executor is None and jobs > 1 else None
        self._executor = executor or self._own
        self._calls = Calls(test, self._executor, prepare)
        self._futures: dict[IntervalSet, Future[Outcome]] = {}
        self.unused = 0

    def outcome_of(self, configuration: IntervalSet) -> Outcome:
        """Test the configuration that the search waits for; raises what the test raises."""
        if self._executor is None:
            return self._calls.run(configuration)
        wanted = self._futures.get(configuration) or self._start(configuration)
        while not wanted.done():
            running = self._fill()
            wait_for_one(running)
        del self._futures[configuration]
        return self._calls.outcome(wanted, configuration)

    def _start(self, configuration: IntervalSet) -> Future[Outcome]:
        future = self._futures[configuration] = self._calls.start(configuration)
        return future

    def _fill(self) -> list[Future[Outcome]]:
        """Give idle workers something to do; return what is running."""
        running = [future for future in self._futures.values() if not future.done()]
        idle = self._jobs - len(running)
        if idle > 0:
            finished = {
                configuration: future.result()
                for configuration, future in self._futures.items()
                if future.done() and future.exception() is None
            }
            ahead = (c for c in likely_next(self._search, finished) if c not in self._futures)
            running += [self._start(configuration) for configuration in islice(ahead, idle)]
        return running

    def close(self) -> None:
        """Cancel the tests that have not begun, and wait for the others."""
        # What was cancelled is not waited for: an executor may only look at it when a worker is free, or never.
        begun = [future for future in self._futures.values() if not future.cancel()]
        self.unused += len(begun)
        wait_for_all(begun)
        if self._own is not None:
            self._own.shutdown(wait=True, cancel_futures=True)
