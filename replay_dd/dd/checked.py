"""dd+ with its answer checked: what dd+ alone need not give, a set that was seen to fail."""

from __future__ import annotations

from replay_dd.dd.algorithm import Algorithm
from replay_dd.dd.dd1999 import DDPlus
from replay_dd.dd.intervals import IntervalSet
from replay_dd.dd.isolate import DD
from replay_dd.dd.split import Splitter
from replay_dd.outcome import Outcome


class CheckedDDPlus(Algorithm):
    """dd+, then a test of what it found; if that does not fail, dd goes on from the closest ends that were seen.

    The union of what dd+ finds in several tasks was never tested as a whole; with unresolved outcomes it may not fail.

    Args:
        c_pass: a configuration that passes ("yesterday").
        c_fail: a configuration that fails and contains ``c_pass`` ("today").
        split: a rule's name or a splitter.

    Raises:
        ValueError: ``c_pass`` is not contained in ``c_fail``, or there is no such split rule.

    Source: ESEC/FSE 1999, algorithm 2; the check is ours.
    """

    takes_realised = True

    def __init__(self, c_pass: IntervalSet, c_fail: IntervalSet, *, split: str | Splitter = "floor") -> None:
        self.c_pass = c_pass
        self.c_fail = c_fail
        self._split = split
        self._then: Algorithm = DDPlus(c_pass, c_fail, split=split)
        self._checking = False
        self._passing: tuple[IntervalSet, ...] = (c_pass,)
        self._go_on()

    @property
    def deltas_left(self) -> int:
        """How many deltas are left."""
        return self._then.deltas_left

    def _go_on(self) -> None:
        self._asked = self._then.ask()
        if isinstance(self._then, DD):
            self.c_pass, self.c_fail = self._then.c_pass, self._then.c_fail
        elif self._asked is None:
            if self._then.c_fail == self.c_fail:
                return
            self._checking = True
            self._asked = self._then.c_fail

    def _advance(self, outcome: Outcome) -> None:
        if self._checking:
            self._checking = False
            found = self._asked
            assert found is not None
            if outcome is Outcome.FAIL and self._realised is None:
                self.c_fail, self._asked = found, None
                return
            between = (one for one in self._passing if self.c_pass <= one < self.c_fail)
            self._then = DD(max(between, key=lambda one: one.count), self.c_fail, split=self._split)
        else:
            self._then = self._then.copy()
            self._then.tell(outcome, self._realised)
            tested = self._asked if self._realised is None else self._realised
            assert tested is not None
            if outcome is Outcome.PASS:
                self._passing = (*self._passing, tested)
            elif outcome is Outcome.FAIL and self.c_pass <= tested < self.c_fail and isinstance(self._then, DDPlus):
                self.c_fail = tested
        self._go_on()
