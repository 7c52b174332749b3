"""ddmin and ddmax: make the failing configuration as small, or the passing one as large, as single deltas can.

Rules of this module:

* ddmin keeps one invariant: the current configuration was seen to fail (at first, by the caller's word). PASS and
  UNRESOLVED mean the same to it: this reduction is not taken.
* When it is done the result is 1-minimal: removing any single delta was tested and did not fail.
* ``base`` is part of every configuration and is never reduced. That ``base`` alone does not fail is the caller's word;
  where it may fail, test it first: it is then the answer.
* While there are two parts, each is the complement of the other, so complements are not asked for.
* ddmax is ddmin on the *removed* deltas with PASS and FAIL exchanged; it has no loop of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from replay_dd.dd.algorithm import Algorithm, checked_ends
from replay_dd.dd.intervals import EMPTY, IntervalSet
from replay_dd.dd.split import Splitter, coarser, finer, fitting, most_parts, partition, splitter_named
from replay_dd.outcome import Outcome

ORDERS = ("subsets-first", "complements-only", "sweep")
"""The orders in which :class:`DDMin` tries reductions."""


class DDMin(Algorithm):
    """ddmin: simplify a failing configuration until it is 1-minimal.

    If another configuration failed in the place of one asked for, and is smaller than the current one, it is taken.

    Args:
        c_fail: a configuration that fails.
        base: deltas that stay applied in every test; contained in ``c_fail``, and not failing by itself.
        order: which reductions are tried, and in which order:

            * ``"subsets-first"`` tests each part, then each complement, and after each reduction cuts anew and starts
              again from the first part (ISSTA 2000, figure 1; at worst ``|c|² + 3|c|`` tests);
            * ``"complements-only"`` tests complements alone (ddmin.py 2.2 of "Why Programs Fail"; with the split rule
              ``slices``, ``ddmin()`` of the Debugging Book);
            * ``"sweep"`` tests each part, then sweeps over the complements in place: a failing complement is taken at
              once, the sweep goes on with the parts that are left, and sweeps repeat until one reduces nothing (STRIPE,
              AADEBUG 2000, figure 5).
        split: a rule's name (``floor``, ``round``, ``front``, ``slices``) or a splitter.

    Raises:
        ValueError: ``base`` is not contained in ``c_fail``, or the order or the split rule is unknown.
        NotAPartitionError: a caller's splitter did not return proper parts.

    Source: R. Hildebrandt and A. Zeller, "Simplifying Failure-Inducing Input", ISSTA 2000, figure 1.
    """

    takes_realised = True

    def __init__(
        self,
        c_fail: IntervalSet,
        *,
        base: IntervalSet = EMPTY,
        order: str = "subsets-first",
        split: str | Splitter = "floor",
    ) -> None:
        if order not in ORDERS:
            raise ValueError(f"unknown order {order!r}: choose one of {', '.join(ORDERS)}")
        self._current = checked_ends(base, c_fail)
        self.c_pass = base
        self.c_fail = c_fail
        self._order = order
        self._split = splitter_named(split)
        self._granularity = 2
        self._parts: Sequence[IntervalSet] = ()
        self._start_round()

    @property
    def difference(self) -> IntervalSet:
        """The deltas that are left."""
        return self._current

    @property
    def deltas_left(self) -> int:
        """How many deltas are left."""
        return most_parts(self._split, self._current)

    def _start_round(self) -> None:
        if self.deltas_left <= 1:
            self._asked = None
            return
        self._parts = partition(self._split, self._current, self._granularity)
        self._at = 0
        self._testing_parts = self._order != "complements-only"
        self._swept_anything = False
        self._count_at_start = self.deltas_left
        self._ask_here()

    def _ask_here(self) -> None:
        part = self._parts[self._at]
        asked = (part if self._testing_parts else self._current - part) | self.c_pass
        self._asked = asked if self._order == "sweep" else fitting(self._split, asked, self.c_pass, self.c_fail)

    def _advance(self, outcome: Outcome) -> None:
        realised = self._realised
        assert self._asked is not None
        if outcome is Outcome.FAIL and realised is not None and self.c_pass <= realised < self.c_fail:
            self._reduce_to(realised - self.c_pass)
            self._granularity = 2
            self._start_round()
            return
        if outcome is not Outcome.FAIL or realised is not None:
            self._at += 1
        elif self._testing_parts:
            self._reduce_to(self._asked - self.c_pass)
            self._granularity = 2
            self._start_round()
            return
        elif self._order == "sweep":
            self._reduce_to(self._current - self._parts[self._at])
            self._parts = [*self._parts[: self._at], *self._parts[self._at + 1 :]]
            self._swept_anything = True
        else:
            self._reduce_to(self._asked - self.c_pass)
            self._granularity = coarser(self._granularity, self.deltas_left)
            self._start_round()
            return
        if self._at < len(self._parts):
            self._ask_here()
        else:
            self._end_pass()

    def _reduce_to(self, smaller: IntervalSet) -> None:
        self._current = smaller
        self.c_fail = smaller | self.c_pass

    def _end_pass(self) -> None:
        """All parts, or all complements, have been tried without starting anew."""
        if self._testing_parts and len(self._parts) > 2:
            self._testing_parts = False
        elif self._swept_anything and len(self._parts) > 1:
            self._swept_anything = False
        else:
            self._refine()
            return
        self._at = 0
        self._ask_here()

    def _refine(self) -> None:
        count = self.deltas_left
        granularity = self._granularity
        if self._order == "sweep" and count < self._count_at_start:
            granularity = len(self._parts)
        if granularity >= count and len(self._parts) >= count:
            self._asked = None
            return
        self._granularity = finer(granularity, count)
        self._start_round()


class DDMax(Algorithm):
    """ddmax: enlarge a passing configuration until it is 1-maximal: adding any one delta more does not pass.

    Args:
        c_pass: a configuration that passes.
        c_fail: a configuration that does not pass and contains ``c_pass``.
        order: as for :class:`DDMin`, read for the deltas that are left out.
        split: a rule's name (``floor``, ``round``, ``front``, ``slices``) or a splitter.

    Raises:
        ValueError: ``c_pass`` is not contained in ``c_fail``, or the order or the split rule is unknown.
        NotAPartitionError: a caller's splitter did not return proper parts.

    Source: the dual of ddmin; Zeller and Hildebrandt, IEEE TSE 28(2), 2002, section 3.5.
    """

    def __init__(
        self,
        c_pass: IntervalSet,
        c_fail: IntervalSet,
        *,
        order: str = "subsets-first",
        split: str | Splitter = "floor",
    ) -> None:
        self._whole = c_fail
        self.c_fail = c_fail
        self.c_pass = c_pass
        self._left_out = DDMin(checked_ends(c_pass, c_fail), order=order, split=split)
        self._mirror_question()

    @property
    def difference(self) -> IntervalSet:
        """The deltas that are left."""
        return self._left_out.c_fail

    def _mirror_question(self) -> None:
        left_out = self._left_out.ask()
        self._asked = None if left_out is None else self._whole - left_out

    def _advance(self, outcome: Outcome) -> None:
        self._left_out = self._left_out.copy()
        self._left_out.tell(_EXCHANGED[outcome])
        self.c_pass = self._whole - self._left_out.c_fail
        self._mirror_question()


_EXCHANGED = {
    Outcome.PASS: Outcome.FAIL,
    Outcome.FAIL: Outcome.PASS,
    Outcome.UNRESOLVED: Outcome.UNRESOLVED,
}
