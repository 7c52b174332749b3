"""A search that leaves out one part after the other, large ones first.

Rules of this module:

* One fact holds after each test: what is left was seen to fail.
* Each part of a pass is left out once, the last one first, and stays out if the failure does. Parts are then cut in
  four. Single deltas are tried in turn until each of those left was tried without success since the last success: the
  result is 1-minimal.
* Where everything is needed, that is 4/3 tests for a delta, a third of what ddmin takes; edits of a small program are
  nearly all needed.
"""

from __future__ import annotations

from replay_dd.dd import Algorithm, IntervalSet
from replay_dd.outcome import Outcome

_PIECES = 4


class Sweep(Algorithm):
    """Simplify a failing configuration by leaving out parts in turn.

    Args:
        base: deltas that stay applied in every test, and do not fail alone.
        c_fail: a configuration that fails.
    """

    def __init__(self, base: IntervalSet, c_fail: IntervalSet) -> None:
        self.c_pass = base
        self.c_fail = c_fail
        left = c_fail - base
        self._size = max(left.count // _PIECES, 1)
        self._at = left.count  # how many deltas the pass has not come to
        self._tried = 0  # single deltas left out in vain since the last success
        self._ask_next()

    def _ask_next(self) -> None:
        left = self.c_fail - self.c_pass
        if left.count <= 1:
            self._asked = None
            return
        if self._at == 0:
            if self._size > 1:
                self._size = max(self._size // _PIECES, 1)
            self._at = left.count
        if self._size == 1 and self._tried >= left.count:
            self._asked = None
            return
        self._asked = self.c_fail - self._part(left)

    def _part(self, left: IntervalSet) -> IntervalSet:
        return left.between(max(self._at - self._size, 0), self._at)

    def _advance(self, outcome: Outcome) -> None:
        assert self._asked is not None
        if outcome is Outcome.FAIL:
            self.c_fail = self._asked
            self._tried = 0
        elif self._size == 1:
            self._tried += 1
        self._at = max(self._at - self._size, 0)
        self._ask_next()
