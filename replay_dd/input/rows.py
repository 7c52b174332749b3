"""Prefix bisection for units of a file, where needed ones often stand in a row.

Rules of this module:

* Bisection takes ``log2(n)`` tests for each needed unit. Once several stood right behind each other, the next one
  is tried alone first, which takes one test where the row goes on, and one more where it does not.
* The level that comes next leaves out what could have been left out at this one. So before a finer level, what was
  found is not checked unit by unit.
"""

from __future__ import annotations

from replay_dd.dd import EMPTY, IntervalSet, PrefixBisection
from replay_dd.outcome import Outcome

_ROW = 5
"""How many needed units in a row make it likely that the next one is needed, too."""


class RowBisection(PrefixBisection):
    """Simplify a failing configuration by bisection, and rows of needed units one by one.

    Args:
        c_fail: a configuration that fails.
        base: deltas that stay applied in every test; contained in ``c_fail``, and not failing by itself.
        checked: whether to leave out each unit of the answer in turn, so that it is 1-minimal for every test function.

    Raises:
        ValueError: ``base`` is not contained in ``c_fail``.
    """

    def __init__(self, c_fail: IntervalSet, *, base: IntervalSet = EMPTY, checked: bool = True) -> None:
        self._checked = checked
        self._in_a_row = 0
        self._tries_next = False
        self._last: int | None = None  # the rank of the last unit found needed
        super().__init__(c_fail, base=base)

    def _need(self, rank: int) -> None:
        self._in_a_row = self._in_a_row + 1 if self._last == rank + 1 else 0
        self._last = rank
        super()._need(rank)
        if rank > 1 and self._in_a_row >= _ROW:
            self._tries_next = True
            self._asked = self._candidates.take(rank - 1) | self._kept

    def _advance(self, outcome: Outcome) -> None:
        if not self._tries_next:
            super()._advance(outcome)
            return
        assert self._asked is not None
        self._tries_next = False
        if outcome is Outcome.FAIL:
            # The row has ended. What is left is bisected, unless what was found needed fails alone.
            self.c_fail = self._asked
            self._high -= 1
            self._candidates = self._candidates.take(self._high)
            self._asked = self._kept
        else:
            self._need(self._high - 1)

    def _start_check(self) -> None:
        if self._checked:
            super()._start_check()
        else:
            self._asked = None
