"""Sequential probability ratio tests: after each run, decide whether the runs so far are enough.

Rules of this module:

* Two rates are told apart, ``often`` and ``rarely``; what lies between them may be taken for either.
* Deciding after each run needs about half as many runs as a fixed number with the same probability of error.
* It is arithmetic: nothing here runs anything.

Source: A. Wald, "Sequential Tests of Statistical Hypotheses", Annals of Mathematical Statistics 16(2), 1945, sections
3.2 (the bounds) and 5.3 (binomial).
"""

from __future__ import annotations

import math
from typing import NamedTuple

_CAUTION = 0.8


class SequentialTest(NamedTuple):
    """Decides between two failure rates.

    Attributes:
        often: the higher rate, above 0 and at most 1; at 1, the first run that does not fail decides.
        rarely: the lower one, above 0.
        error: the probability of taking either rate for the other, below 0.5.
        most_runs: after so many runs, the likelier rate is taken.
    """

    often: float
    rarely: float
    error: float
    most_runs: int

    def fails(self, failed: int, runs: int) -> bool | None:
        """Whether these runs fail often (True) or rarely (False); None if they do not decide yet."""
        if self.often == 1 and failed < runs:
            return False
        ratio = self._log_ratio(failed, runs)
        bound = math.log((1 - self.error) / self.error)
        if abs(ratio) >= bound - 1e-9:
            return ratio > 0
        return ratio > 0 if runs >= self.most_runs else None

    @property
    def runs_to_pass(self) -> int:
        """How many runs without a failure decide for the lower rate."""
        return next(runs for runs in range(1, self.most_runs + 1) if self.fails(0, runs) is False)

    def stricter(self, error: float) -> SequentialTest:
        """A test with a smaller error, and lower rates in case these were estimated too high."""
        return SequentialTest(self.often * _CAUTION, self.rarely * _CAUTION, min(error, self.error), 2 * self.most_runs)

    def _log_ratio(self, failed: int, runs: int) -> float:
        ratio = failed * math.log(self.often / self.rarely)
        if failed < runs:
            ratio += (runs - failed) * math.log((1 - self.often) / (1 - self.rarely))
        return ratio


def at_most(failed: int, runs: int, rate: float) -> float:
    """The probability of at most so many failures in independent runs with this failure rate (binomial)."""
    return sum(math.comb(runs, number) * rate**number * (1 - rate) ** (runs - number) for number in range(failed + 1))
