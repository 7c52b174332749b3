"""A search that first asks whether the failure needs any deltas at all."""

from __future__ import annotations

from replay_dd.dd.algorithm import Algorithm
from replay_dd.outcome import Outcome


class BaseFirst(Algorithm):
    """Tests the base of a simplification, which is the answer if it fails; otherwise goes on with another algorithm.

    The algorithms take the caller's word that their base does not fail. This one is for callers who cannot give it.

    Args:
        then: the algorithm; not yet asked.
    """

    takes_realised = True

    def __init__(self, then: Algorithm) -> None:
        self.c_pass = then.c_pass
        self.c_fail = then.c_fail
        self._then: Algorithm | None = None
        self._waiting = then
        self._asked = then.c_pass

    @property
    def deltas_left(self) -> int:
        """How many deltas are left."""
        if self.c_fail == self.c_pass:
            return 0
        return self._waiting.deltas_left if self._then is None else self._then.deltas_left

    def _advance(self, outcome: Outcome) -> None:
        if self._then is None:
            if outcome is Outcome.FAIL:
                self.c_fail = self.c_pass
                self._asked = None
                return
            self._then = self._waiting
        else:
            self._then = self._then.copy()
            self._then.tell(outcome, self._realised)
        self.c_fail = self._then.c_fail
        self._asked = self._then.ask()
