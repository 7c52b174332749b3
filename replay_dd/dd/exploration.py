"""When a search should try what its experience speaks against, since failures are not always monotone.

Rules of this module:

* Experience says which question is worth asking if whatever contains a failing configuration fails. Where that does not
  hold, it can be wrong for a whole stretch of deltas. So some questions are asked against it.
* Such questions are rationed: the more of them bring nothing, the rarer they become. One that succeeds makes more of
  them worth asking.
* All values are immutable; the numbers were chosen on generated problems, and on JSON, Python and SQL texts.
"""

from __future__ import annotations

from typing import NamedTuple

from replay_dd.outcome import Outcome

_SIZES = (6, 2, 12, 3, 2, 4)
_IN_A_ROW = (3, 4)
_PRICE = 27
_REWARD = 256
_EARNED = {Outcome.PASS: 2, Outcome.UNRESOLVED: 10}

_GROWTH = 1.2
_OF_A_DELTA_LEFT_OUT = 4
_MOST_LEFT_OUT = 64
_PACE_MEMORY = 0.9
_PACE_AFRESH_MEMORY = 0.8


class Together(NamedTuple):
    """Whether to leave out several deltas together where one alone cannot be, as with brackets.

    Attributes:
        turn: which number of deltas is tried next; one that succeeds is tried again.
        earned: what other tests have earned for such tries, more if they are unresolved.
        price: what the next try costs.
    """

    turn: int = 0
    earned: int = 0
    price: int = _PRICE

    @property
    def size(self) -> int:
        """How many deltas to leave out."""
        return _SIZES[self.turn]

    def is_due(self, in_a_row: int) -> bool:
        """Whether to try.

        Args:
            in_a_row: how many deltas in a row were found needed one after the other, with the one at hand.
        """
        return self.earned >= self.price or in_a_row in _IN_A_ROW

    def after_test(self, outcome: Outcome) -> Together:
        """After any other test that does not fail."""
        return self._replace(earned=self.earned + _EARNED[outcome])

    def after_try(self, *, succeeded: bool) -> Together:
        """After a try."""
        if succeeded:
            return Together(self.turn, self.earned + _REWARD)
        return Together((self.turn + 1) % len(_SIZES), self.earned - self.price, self.price + 1)


class Afresh(NamedTuple):
    """When to search for a needed delta as if no gaps had been seen, by bisection.

    Attributes:
        interval: how many searches by experience come between two afresh.
        wait: how many of them are still to come.
        pace: deltas resolved by experience (those left out count several times) and the tests for that; older searches
            count less and less.
        pace_afresh: the same for searches afresh.
    """

    interval: float = 1.0
    wait: float = 0.0
    pace: tuple[float, float] = (1.0, 1.0)
    pace_afresh: tuple[float, float] = (0.0, 0.0)

    @property
    def is_due(self) -> bool:
        """Whether to search afresh now."""
        return self.wait <= 0

    def after_search(self, left_out: int, tests: int, *, afresh: bool) -> Afresh:
        """After the search for a needed delta.

        Args:
            left_out: how many deltas it left out.
            tests: how many tests it took.
            afresh: whether it was one of those afresh.
        """
        resolved = _OF_A_DELTA_LEFT_OUT * min(left_out, _MOST_LEFT_OUT) + 1
        if not afresh:
            return self._replace(wait=self.wait - 1, pace=_with(self.pace, _PACE_MEMORY, resolved, tests))
        pace = _with(self.pace_afresh, _PACE_AFRESH_MEMORY, resolved, tests)
        pays = pace[0] * self.pace[1] >= self.pace[0] * pace[1]
        interval = 1.0 if pays else self.interval * _GROWTH
        return self._replace(interval=interval, wait=interval, pace_afresh=pace)


def _with(pace: tuple[float, float], memory: float, resolved: int, tests: int) -> tuple[float, float]:
    return memory * pace[0] + resolved, memory * pace[1] + max(tests, 1)
