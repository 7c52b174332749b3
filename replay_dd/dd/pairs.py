"""A search that finally asks whether two deltas can be left out together that cannot be left out one by one.

Rules of this module:

* Deltas may cancel each other: a dialog that is opened and closed, another tab and back. Without one of them the
  failure stays away, without both it is there. A 1-minimal result may contain them.
* Pairs are asked about where the other algorithm is done, those that are close together first. After a hit, the other
  algorithm goes on from what is left, and then the pairs of that are asked about.
* Asked about are pairs with at most one other delta between them, and pairs that are alike (a switch turned on, and off
  again), which may be farther apart: what lies between two deltas that cancel each other was mostly left out already.
* The last delta shows the failure. It is no part of a pair, unless with the one next to it or one that is like it.
* A pair is not asked about if something passed that had all the others, and neither of the two: what else that had was
  not needed. The other algorithm has often seen that, since it leaves out neighbours together.
* No more than :data:`MOST_PAIRS` are asked about in a row.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

from replay_dd.dd.algorithm import Algorithm
from replay_dd.dd.intervals import IntervalSet
from replay_dd.outcome import Outcome

MOST_PAIRS = 45
_NEAR = 2
"""How far apart two deltas of a pair are at most, among those that are left."""

Alike = Callable[[int, int], bool]
"""Whether two deltas are alike."""


class PairsToo(Algorithm):
    """Simplifies with another algorithm, and then by pairs.

    Args:
        make: makes the other algorithm from a configuration that fails; it takes the base's word, as that does.
        c_fail: a configuration that fails.
        alike: says which deltas may be a pair however far apart they are.
    """

    def __init__(
        self,
        make: Callable[[IntervalSet], Algorithm],
        c_fail: IntervalSet,
        alike: Alike = lambda one, other: False,
    ) -> None:
        self._make = make
        self._alike = alike
        self._passed: tuple[IntervalSet, ...] = ()
        self._start(c_fail)

    @property
    def deltas_left(self) -> int:
        """How many deltas are left."""
        return self.c_fail.count - self.c_pass.count if self._then.done else self._then.deltas_left

    def _start(self, c_fail: IntervalSet) -> None:
        self._then = self._make(c_fail)
        self.c_pass, self.c_fail = self._then.c_pass, self._then.c_fail
        self._pairs: tuple[IntervalSet, ...] = ()
        self._asked = self._then.ask()
        if self._asked is None:
            self._list_pairs()

    def _advance(self, outcome: Outcome) -> None:
        assert self._asked is not None
        if outcome is Outcome.PASS:
            self._passed = (*self._passed, self._asked)
        if not self._then.done:
            self._then = self._then.copy()
            self._then.tell(outcome)
            self.c_fail = self._then.c_fail
            self._asked = self._then.ask()
            if self._asked is None:
                self._list_pairs()
        elif outcome is Outcome.FAIL:
            self._start(self._asked)
        else:
            self._pairs = self._pairs[1:]
            self._ask_without_pair()

    def _list_pairs(self) -> None:
        left = list(self.c_fail - self.c_pass)
        # Without both of two, the base is left, of which the caller knows that it passes.
        places = sorted(combinations(range(len(left)), 2), key=lambda pair: (pair[1] - pair[0], pair))
        seen = {passed & self.c_fail for passed in self._passed}
        self._pairs = tuple(
            pair
            for one, other in places
            if len(left) > 2
            and (_is_near(one, other, len(left) - 1) or self._alike(left[one], left[other]))
            and self.c_fail - (pair := IntervalSet.of([left[one], left[other]])) not in seen
        )[:MOST_PAIRS]
        self._ask_without_pair()

    def _ask_without_pair(self) -> None:
        self._asked = self.c_fail - self._pairs[0] if self._pairs else None


def _is_near(one: int, other: int, last: int) -> bool:
    return other - one <= (1 if other == last else _NEAR)
