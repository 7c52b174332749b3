"""How far apart needed deltas are: learned from those found so far, to choose what to ask next.

Rules of this module:

* A *gap* is the distance from an end of the candidates to the next needed delta; 1 if the delta at the end is needed. A
  forecast gives a weight to each gap, and one to the end of the search: no delta is needed any more.
* A question that halves the weight costs the fewest tests. Without experience that is bisection; where all deltas are
  needed, a test for each; in between, groups whose size suits the density. Leaving out a group that holds a needed
  delta is a positive test of group testing, and those are the group sizes of F. K. Hwang, "A method for detecting all
  defective members in a population by group testing", Journal of the American Statistical Association 67, 1972.
* Gaps are counted in octaves (1, 2-3, 4-7, ...), and old ones count less and less: densities change along a file.
"""

from __future__ import annotations

from bisect import bisect_right

_MEMORY = 0.97
"""What is left of the weight of earlier gaps after one more."""

_UNKNOWN = 1.0
"""The weight of what was never seen, all gaps alike."""

_NEXT = 0.2
"""The weight of a gap of 1 as long as no gap was seen: failures often need the last delta."""

_NONE = 2.0
"""The weight of the end of the search: most failures need few deltas."""


class Gaps:
    """Experience with gaps. Immutable.

    Args:
        weights: how often gaps of each octave were seen, old ones discounted.
    """

    __slots__ = ("_weights",)

    def __init__(self, *weights: float) -> None:
        self._weights = weights

    def seen(self, gap: int, weight: float = 1.0) -> Gaps:
        """The experience with one gap more.

        Args:
            gap: its length.
            weight: how much it counts.
        """
        octave = gap.bit_length() - 1
        weights = [_MEMORY * old for old in self._weights]
        weights += [0.0] * (octave + 1 - len(weights))
        weights[octave] += weight
        return Gaps(*weights)

    def forecast(self, most: int) -> Forecast:
        """The weights of what may come next.

        Args:
            most: the number of candidates, at least 1.
        """
        weights = self._weights or (_NEXT,)
        edges, sums, total = [0], [0.0], 0.0
        for octave in range(most.bit_length()):
            start = 1 << octave
            stop = min(2 * start, most + 1)
            total += _UNKNOWN * (stop - start) / most
            if octave < len(weights):
                total += weights[octave] * (stop - start) / start
            edges.append(stop - 1)
            sums.append(total)
        # Longer gaps than there are candidates mean the same as the end.
        return Forecast((*edges, most + 1), (*sums, _UNKNOWN + _NONE + sum(weights)))


NO_LENGTH_LIKELIER = Gaps(0.0)
"""Experience that makes the first question halve the candidates."""


class Forecast:
    """What may come next. Immutable.

    Args:
        edges: ascending gaps, from 0; the last one stands for the end of the search. Between two of them, all gaps have
            the same weight.
        sums: for each edge, the weight of all gaps up to it.
    """

    __slots__ = ("_edges", "_sums")

    def __init__(self, edges: tuple[int, ...], sums: tuple[float, ...]) -> None:
        self._edges = edges
        self._sums = sums

    def middle(self, low: int, high: int) -> int:
        """The gap between ``low`` and ``high`` that comes closest to halving the weight.

        Args:
            low: the gap is longer than this.
            high: the gap is not longer than this; at least 2 more than ``low``.
        """
        edges, sums = self._edges, self._sums
        half = (self._up_to(low) + self._up_to(high)) / 2
        at = min(bisect_right(sums, half), len(sums) - 1)
        share = (half - sums[at - 1]) / (sums[at] - sums[at - 1])
        below = edges[at - 1] + int(share * (edges[at] - edges[at - 1]))
        choices = (min(max(below, low + 1), high - 1), min(max(below + 1, low + 1), high - 1))
        return min(choices, key=lambda gap: abs(self._up_to(gap) - half))

    def chance(self, gap: int, low: int, high: int) -> float:
        """How likely it is that the gap, known to lie above ``low`` and up to ``high``, is longer than this."""
        end = self._up_to(high)
        return (end - self._up_to(gap)) / (end - self._up_to(low))

    def _up_to(self, gap: int) -> float:
        edges, sums = self._edges, self._sums
        at = bisect_right(edges, gap)
        if at == len(edges):
            return sums[-1]
        return sums[at - 1] + (sums[at] - sums[at - 1]) * (gap - edges[at - 1]) / (edges[at] - edges[at - 1])
