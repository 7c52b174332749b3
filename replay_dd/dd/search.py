"""A search: an algorithm together with everything that can answer it without a test.

Rules of this module:

* An outcome is looked up in this order: the cache, monotony, the prediction; only then is a test wanted.
* *requested* counts the questions of the algorithm, *executed* the tests that were wanted; the other questions were
  answered without a test. The literature mixes both counts; every result here states both.
* Outcomes known beforehand (the two end points, a journal) stand in the cache and count as neither until the algorithm
  asks for them; then they count as requested.
* A search is as pure as its algorithm: only asking and telling change it, and a copy is independent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from replay_dd.dd.algorithm import Algorithm
from replay_dd.dd.intervals import IntervalSet
from replay_dd.outcome import Outcome

Predictor = Callable[[IntervalSet], Outcome | None]
"""A function that says ``UNRESOLVED`` for configurations that need no test, and ``None`` for all others."""

TESTED = "test"
CACHED = "cache"
MONOTONE = "monotony"
PREDICTED = "prediction"


class Step(NamedTuple):
    """One question of the algorithm, and its answer.

    Attributes:
        number: which question it was, counted from 1.
        configuration: what was asked.
        outcome: the answer.
        answered_by: ``"test"``, ``"cache"``, ``"monotony"`` or ``"prediction"``.
        deltas_left: how many deltas were left after the answer.
    """

    number: int
    configuration: IntervalSet
    outcome: Outcome
    answered_by: str
    deltas_left: int

    @property
    def size(self) -> int:
        """How many deltas the configuration holds."""
        return self.configuration.count


class Best(NamedTuple):
    """The best answer so far; see :class:`~replay_dd.dd.algorithm.Algorithm` for what each algorithm promises of it."""

    c_pass: IntervalSet
    c_fail: IntervalSet

    @property
    def difference(self) -> IntervalSet:
        """The deltas that are in ``c_fail`` and not in ``c_pass``."""
        return self.c_fail - self.c_pass


class Search:
    """Drives an algorithm by ask and tell, and answers it from the cache, monotony and predictions where it can.

    Args:
        algorithm: the algorithm, not yet asked; the search uses it as its own.
        cache: never want a test of the same configuration twice.
        monotone: rely on the caller that whatever is contained in a passing configuration passes.
        predict: a function that may answer ``UNRESOLVED`` without a test; ``None`` means "test it". The same
            configuration must always get the same answer.
        known: outcomes known beforehand; they are answered like cached ones, even where ``cache`` is false.
        statistics: keep one :class:`Step` for each question.
        realised: the configuration that was tested in the place of one asked for; called when its outcome is known. By
            default, that is the same one.
    """

    def __init__(
        self,
        algorithm: Algorithm,
        *,
        cache: bool = True,
        monotone: bool = False,
        predict: Predictor | None = None,
        known: Mapping[IntervalSet, Outcome] | None = None,
        statistics: bool = True,
        realised: Callable[[IntervalSet], IntervalSet] | None = None,
    ) -> None:
        self._algorithm = algorithm
        self._realised = realised
        self._caching = cache
        self._monotone = monotone
        self._predict = predict
        self._outcomes: dict[IntervalSet, Outcome] = dict(known or {})
        self._largest_passing: tuple[IntervalSet, ...] = ()
        self._pending: IntervalSet | None = None
        self._keeping_statistics = statistics
        self._statistics: list[Step] = []
        self._requested = 0
        self._executed = 0
        if monotone:
            for configuration, outcome in self._outcomes.items():
                self._learn_monotony(configuration, outcome)

    @property
    def algorithm(self) -> Algorithm:
        """The algorithm. Copy it before asking or telling it anything."""
        return self._algorithm

    @property
    def requested(self) -> int:
        """How many questions of the algorithm have been answered, by a test or without one."""
        return self._requested

    @property
    def executed(self) -> int:
        """How many tests were wanted and told."""
        return self._executed

    @property
    def statistics(self) -> tuple[Step, ...]:
        """One record for each question that has its answer, in order."""
        return tuple(self._statistics)

    @property
    def last_record(self) -> Step | None:
        """The newest record of :attr:`statistics`."""
        return self._statistics[-1] if self._statistics else None

    def recent(self, amount: int) -> list[Step]:
        """The newest ``amount`` records of :attr:`statistics`."""
        return self._statistics[-amount:]

    @property
    def best(self) -> Best:
        """The best answer so far."""
        return Best(self._algorithm.c_pass, self._algorithm.c_fail)

    @property
    def deltas_left(self) -> int:
        """How many deltas are left."""
        return self._algorithm.deltas_left

    @property
    def done(self) -> bool:
        """Whether the algorithm has asked its last question. True only after :meth:`ask` gave ``None``, or at once."""
        return self._algorithm.done

    def ask(self) -> IntervalSet | None:
        """The next configuration to test, or ``None`` when the search is done.

        Questions that need no test are answered on the way. Asking again before telling gives the same configuration.
        """
        if self._pending is not None:
            return self._pending
        algorithm = self._algorithm
        while (configuration := algorithm.ask()) is not None:
            answer = self.answer(configuration)
            if answer is None:
                self._pending = configuration
                return configuration
            self._commit(configuration, *answer)
        return None

    def tell(self, configuration: IntervalSet, outcome: Outcome) -> None:
        """Take the outcome of a test.

        Args:
            configuration: what :meth:`ask` gave.
            outcome: what the test of it said.

        Raises:
            ValueError: that configuration was not asked for.
        """
        if configuration is not self._pending and (self._pending is None or configuration != self._pending):
            raise ValueError(f"{configuration!r} was not asked for")
        self._pending = None
        self._executed += 1
        if self._caching:
            self._outcomes[configuration] = outcome
        if self._monotone:
            self._learn_monotony(configuration, outcome)
        self._commit(configuration, outcome, TESTED)

    def answer(self, configuration: IntervalSet) -> tuple[Outcome, str] | None:
        """The outcome that can be had without a test, and what gives it; ``None`` where a test is needed.

        Raises:
            ValueError: the prediction is neither ``UNRESOLVED`` nor ``None``.
        """
        outcome = self._outcomes.get(configuration)
        if outcome is not None:
            return outcome, CACHED
        if self._monotone and any(configuration <= passing for passing in self._largest_passing):
            return Outcome.PASS, MONOTONE
        if self._predict is not None and (outcome := self._predict(configuration)) is not None:
            if outcome is not Outcome.UNRESOLVED:
                raise ValueError(f"a prediction must be UNRESOLVED or None, not {outcome!r}: only a test can tell more")
            return outcome, PREDICTED
        return None

    def realised(self, configuration: IntervalSet) -> IntervalSet | None:
        """The configuration that was tested in the place of one asked for; None if it is the same one."""
        return None if self._realised is None else self._realised(configuration)

    def copy(self) -> Search:
        """An independent copy of the search and its algorithm."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made._algorithm = self._algorithm.copy()
        made._outcomes = dict(self._outcomes)
        made._statistics = list(self._statistics)
        return made

    def _commit(self, configuration: IntervalSet, outcome: Outcome, answered_by: str) -> None:
        algorithm = self._algorithm
        algorithm.tell(outcome, self.realised(configuration))
        self._requested += 1
        if self._keeping_statistics:
            self._statistics.append(Step(self._requested, configuration, outcome, answered_by, algorithm.deltas_left))

    def _learn_monotony(self, configuration: IntervalSet, outcome: Outcome) -> None:
        if outcome is Outcome.PASS and not any(configuration <= passing for passing in self._largest_passing):
            kept = tuple(passing for passing in self._largest_passing if not passing <= configuration)
            self._largest_passing = (*kept, configuration)
