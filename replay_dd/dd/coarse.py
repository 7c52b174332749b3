"""Coarse passes before bisection: large parts first, for searches that may be stopped early.

Rules of this module:

* One fact holds after each test: the candidates were seen to fail. A coarse pass leaves out one part after the other,
  the last one first, and drops it for good if the failure stays. The parts that are left are cut for the next pass.
* Each part is tested once in a pass, so the passes cost at most 4 + 4 k + 16 k tests for ``k`` failure-inducing deltas.
* Parts are cut near where the caller says that a cut is natural, since what belongs together (a dialog opened, used and
  closed) can only be left out together.
* What is left after the coarse passes is for :class:`~replay_dd.dd.nearby.NearbyBisection`; so the result is
  1-minimal.
"""

from __future__ import annotations

from collections.abc import Sequence

from replay_dd.dd.algorithm import Algorithm, checked_ends
from replay_dd.dd.intervals import EMPTY, IntervalSet
from replay_dd.dd.nearby import NearbyBisection
from replay_dd.outcome import Outcome

_PARTS = 4
_PASSES = 3


class CoarseBisection(Algorithm):
    """Simplify a failing configuration in coarse passes, then by bisection.

    A search that runs to its end needs a third more tests than :class:`~replay_dd.dd.nearby.NearbyBisection` alone,
    but its best result so far is much better: with 6 failure-inducing deltas of 333, 40 tests leave 32 instead of 64.

    Args:
        c_fail: a configuration that fails.
        base: deltas that stay applied in every test; contained in ``c_fail``, and not failing by itself.
        cuts: deltas before which a cut is natural, ascending.

    Raises:
        ValueError: ``base`` is not contained in ``c_fail``.
    """

    def __init__(self, c_fail: IntervalSet, *, base: IntervalSet = EMPTY, cuts: Sequence[int] = ()) -> None:
        candidates = checked_ends(base, c_fail)
        self.c_pass = base
        self.c_fail = c_fail
        self._cuts = tuple(cuts)
        self._passes_left = _PASSES
        self._parts: tuple[IntervalSet, ...] = (candidates,)
        self._at = -1
        self._bisection: NearbyBisection | None = None
        # One delta alone is a frequent answer: the last one, at which the failure shows.
        self._alone = candidates.count > 1
        if self._alone:
            self._asked = candidates.between(candidates.count - 1, candidates.count) | base
        else:
            self._ask_next()

    def _advance(self, outcome: Outcome) -> None:
        assert self._asked is not None
        fails = outcome is Outcome.FAIL
        if self._bisection is not None:
            self._bisection = self._bisection.copy()
            self._bisection.tell(outcome)
            self.c_fail = self._bisection.c_fail
            self._asked = self._bisection.ask()
        elif self._alone:
            self._alone = False
            if fails:
                self.c_fail = self._asked
                self._asked = None
            else:
                self._ask_next()
        else:
            if fails:
                self.c_fail = self._asked
                self._parts = (*self._parts[: self._at], *self._parts[self._at + 1 :])
            self._at -= 1
            self._ask_next()

    def _ask_next(self) -> None:
        if self._at < 0 and self._passes_left and any(part.count > 1 for part in self._parts):
            self._passes_left -= 1
            self._parts = tuple(piece for part in self._parts for piece in _pieces(part, self._cuts))
            self._at = len(self._parts) - 1
        if self._at >= 0 and len(self._parts) > 1:
            self._asked = self.c_fail - self._parts[self._at]
            return
        self._bisection = NearbyBisection(self.c_fail, base=self.c_pass)
        self._asked = self._bisection.ask()


def _pieces(part: IntervalSet, cuts: Sequence[int]) -> list[IntervalSet]:
    """A part in pieces of about the same size, cut where that is natural if such a place is near."""
    number = min(_PARTS, part.count)
    size = part.count / number
    # How many deltas of the part come before each natural cut.
    natural = sorted({(part & IntervalSet.range(0, cut)).count for cut in cuts})
    ends = [0]
    for piece in range(1, number):
        end = _nearest(natural, round(piece * size), size / 2)
        if ends[-1] < end < part.count:
            ends.append(end)
    return [part.between(first, last) for first, last in zip(ends, [*ends[1:], part.count], strict=True)]


def _nearest(places: Sequence[int], wanted: int, farthest: float) -> int:
    """The place nearest to the one wanted, or that itself if none is near."""
    near = [place for place in places if abs(place - wanted) <= farthest]
    return min(near, key=lambda place: (abs(place - wanted), place), default=wanted)
