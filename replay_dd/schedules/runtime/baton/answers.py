"""Lets what a thread waits for come from outside before other threads run, in a run that asks for that.

Under control, others run as soon as a thread waits; in reality, a child process or a server mostly answers before they
have come far. A program that mixes up the answers to its threads may pass only like this.
"""

from __future__ import annotations

from ..accelerator.own_memory import use_own
from .moments import Moments, OutsideWait
from .patience import OUTSIDE

_LONGEST_S = 3.0  # a busy machine takes its time
_MOST_IN_VAIN = 3  # what has not come by then so often comes only of what another thread does


class Answers:
    """Waits for them.

    Args:
        moments: when things arrive.

    Attributes:
        come_first: whether this run asks for that.
    """

    def __init__(self, moments: Moments) -> None:
        self._moments = moments
        self.come_first = False
        self._in_vain = 0

    def before(self, wait: OutsideWait, timeout_s: float | None) -> None:
        """A thread is about to wait, which gives others their turn.

        Args:
            wait: for what.
            timeout_s: for how many virtual seconds at most; None for ever.
        """
        if not self.come_first or wait.nature != OUTSIDE or wait.expected is not None or self._in_vain >= _MOST_IN_VAIN:
            return
        before = use_own(True)
        limit_s = _LONGEST_S if timeout_s is None else min(_LONGEST_S, timeout_s)
        self._in_vain += not (self._moments.look(wait) or wait.wait_for_it(limit_s))
        use_own(before)
