"""A sweep over units most of which are needed, as are the characters of words that are all needed.

Rules of this module:

* One fact holds after each test: ``c_fail`` was seen to fail. The sweep goes from the last unit to the first and tries
  to leave out each; where that succeeds, it leaves out twice as many next, and after a failure one again. So units that
  are needed cost a test each, and a long stretch that is not costs a few.
* A unit is proved if ``c_fail`` without it alone was tested and did not fail. Leaving anything out voids all proofs.
  The sweep is repeated over units without a proof; when all have one, the result is 1-minimal for every test function.
"""

from __future__ import annotations

from replay_dd.dd import EMPTY, Algorithm, IntervalSet
from replay_dd.dd.algorithm import checked_ends
from replay_dd.outcome import Outcome


class Sweep(Algorithm):
    """Simplify a failing configuration by leaving out one unit after the other.

    Where the test is monotone, ``n`` units take at most ``2 n`` tests, and ``n`` if all are needed; bisection would
    take ``n * log2(n)``.

    Args:
        c_fail: a configuration that fails.
        base: deltas that stay applied in every test; contained in ``c_fail``, and not failing by itself.

    Raises:
        ValueError: ``base`` is not contained in ``c_fail``.
    """

    def __init__(self, c_fail: IntervalSet, *, base: IntervalSet = EMPTY) -> None:
        self._left = checked_ends(base, c_fail)
        self.c_pass = base
        self.c_fail = c_fail
        self._proved = EMPTY
        self._size = 1
        self._part = EMPTY
        self._end = self._left.count  # the rank before which the next part ends
        self._ask_next()

    def _ask_next(self) -> None:
        waiting = self._left - self._proved
        if not waiting or self._left.count <= 1:
            self._asked = None
            return
        before = self._left.take(self._end) - self._proved
        if not before:
            self._end = self._left.count
            before = waiting
        rank = (self._left & IntervalSet.range(0, before.last + 1)).count
        # Of the units without a proof, as many as stand in a row; never all that are left.
        row = self._left.between(rank - min(self._size, self._left.count - 1), rank)
        proved = row & self._proved
        self._part = row - IntervalSet.range(0, proved.last + 1) if proved else row
        self._end = rank - self._part.count
        self._asked = self.c_fail - self._part

    def _advance(self, outcome: Outcome) -> None:
        if outcome is Outcome.FAIL:
            assert self._asked is not None
            self.c_fail = self._asked
            self._left = self.c_fail - self.c_pass
            self._proved = EMPTY
            self._size *= 2
        elif self._part.count == 1:
            self._proved = self._proved | self._part
            self._size = 1
        else:
            # One of them is needed: which one?
            self._end += self._part.count
            self._size = 1
        self._ask_next()
