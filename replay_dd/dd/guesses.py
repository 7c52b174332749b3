"""A search that first asks about parts of the difference which somebody suspects.

Rules of this module:

* A guess decides only what is asked. Both ends move as the outcomes tell, so a wrong guess costs questions, never the
  answer.
* A guess that hits saves most of the search, where mixtures of many deltas seldom tell anything: what is suspected is
  tried alone, and everything without it.
* What is left out as it is, and does not matter, comes back: each such guess is tried from the same configuration,
  since with more that does not fit, fewer can be tested.
* If more had to be left out with such a guess, it is then tried alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from replay_dd.dd.algorithm import Algorithm, checked_ends
from replay_dd.dd.intervals import IntervalSet
from replay_dd.dd.split import Groups, Splitter, fitting, most_parts, splitter_named
from replay_dd.outcome import Outcome

_HIT = 0.5  # of the difference: a guess that leaves less has hit, and others are not tried


class Guess(NamedTuple):
    """A part of the difference that is asked about.

    Attributes:
        deltas: the part.
        alone: ask about it alone.
        without: ask about everything without it.
        fitted: whether what needs it goes with it; otherwise only that is asked about which lacks it and nothing else.
    """

    deltas: IntervalSet
    alone: bool = True
    without: bool = True
    fitted: bool = True


class GuessesFirst(Algorithm):
    """Asks about each guess alone, and about everything without it; then goes on with another algorithm.

    Args:
        c_pass: a configuration that passes.
        c_fail: a configuration that fails and contains ``c_pass``.
        guesses: what is suspected, the likeliest first.
        then: makes the algorithm that goes on from a passing and a failing configuration.
        split: how that algorithm cuts, since it may know what a configuration needs.

    Raises:
        ValueError: ``c_pass`` is not contained in ``c_fail``.
    """

    takes_realised = True

    def __init__(
        self,
        c_pass: IntervalSet,
        c_fail: IntervalSet,
        guesses: Sequence[Guess],
        then: Callable[[IntervalSet, IntervalSet], Algorithm],
        *,
        split: str | Splitter = "floor",
    ) -> None:
        checked_ends(c_pass, c_fail)
        self.c_pass = c_pass
        self.c_fail = c_fail
        self._make = then
        self._then: Algorithm | None = None
        self._split = splitter_named(split)
        self._guesses = tuple(guesses)
        self._questions: tuple[IntervalSet, ...] = ()
        self._seen: tuple[IntervalSet, ...] = ()
        self._fitted = self._keeps_failing = True
        self._part = c_fail - c_fail
        self._ask_next()

    @property
    def then(self) -> Algorithm | None:
        """The algorithm that goes on, once all guesses were tried."""
        return self._then

    @property
    def deltas_left(self) -> int:
        """How many deltas are left."""
        return most_parts(self._split, self.difference) if self._then is None else self._then.deltas_left

    def _ask_next(self) -> None:
        while self._questions or self._guesses:
            while self._questions:
                asked, *others = self._questions
                self._questions = tuple(others)
                if self.c_pass <= asked <= self.c_fail and asked not in (self.c_pass, self.c_fail, *self._seen):
                    self._asked, self._seen = asked, (*self._seen, asked)
                    return
            if self._guesses:
                guess, self._guesses = self._guesses[0], self._guesses[1:]
                self._questions = self._about(guess)
                self._fitted, self._keeps_failing = guess.fitted, guess.fitted or guess.alone
        self._then = self._make(self.c_pass, self.c_fail)
        self._asked = self._then.ask()

    def _about(self, guess: Guess) -> tuple[IntervalSet, ...]:
        part = self._part = guess.deltas & self.difference
        if not part or part == self.difference:
            return ()
        alone, without = self.c_pass | part, self.c_fail - part
        if not guess.fitted:
            return (
                *((self._mended(alone),) if guess.alone else ()),
                *((self._mended(without),) if guess.without else ()),
            )
        return (
            *((alone, self._fitting(alone)) if guess.alone else ()),
            *((self._fitting(without), *(() if guess.alone else (without,))) if guess.without else ()),
        )

    def _fitting(self, asked: IntervalSet) -> IntervalSet:
        return fitting(self._split, asked, self.c_pass, self.c_fail)

    def _mended(self, asked: IntervalSet) -> IntervalSet:
        return self._split.mend(asked, self.c_pass, self.c_fail) if isinstance(self._split, Groups) else asked

    def _advance(self, outcome: Outcome) -> None:
        if self._then is not None:
            self._then = self._then.copy()
            self._then.tell(outcome, self._realised)
            self.c_pass, self.c_fail, self._asked = self._then.c_pass, self._then.c_fail, self._then.ask()
            return
        tested = self._asked if self._realised is None else self._realised
        assert tested is not None
        before = self.difference.count
        if outcome is not Outcome.UNRESOLVED and self.c_pass <= tested <= self.c_fail:
            if outcome is Outcome.PASS and tested != self.c_fail:
                self.c_pass = tested
                if not self._fitted and tested != self._asked:
                    self._questions = (self._mended(tested | self._part),)
                    self._fitted = self._keeps_failing = True
            elif outcome is Outcome.FAIL and tested != self.c_pass and self._keeps_failing:
                self.c_fail = tested
                if self.c_fail.count - self.c_pass.count <= before * _HIT:
                    self._guesses = ()
        self._ask_next()
