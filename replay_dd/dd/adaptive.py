"""Adaptive bisection: find needed deltas from the last one on, with questions that follow from how far apart they are.

Rules of this module:

* After each test, ``c_fail`` was seen to fail. Each question leaves out candidates at one end; if it fails, they are
  gone for good.
* The search for the next needed delta is a binary search for the edge between what can be left out and what cannot, and
  :mod:`~replay_dd.dd.gaps` says where to ask. So few needed deltas are found by bisection, many by a sweep, and each
  stretch of the candidates by what suits it. Questions against that experience are rationed in
  :mod:`~replay_dd.dd.exploration`.
* Candidates are left out from the last one on, as what a delta requires mostly comes before it. Once a first needed one
  is found, the first end is trimmed too: after that, little is left where needed deltas stand together.
* Deltas not proved to be needed are candidates again when all others are gone. A proof is a test of exactly ``c_fail``
  without that delta, whatever it was made for. When all are proved, the result is 1-minimal, for every test function.
"""

from __future__ import annotations

from enum import Enum

from replay_dd.dd.algorithm import Algorithm, checked_ends
from replay_dd.dd.exploration import Afresh, Together
from replay_dd.dd.gaps import NO_LENGTH_LIKELIER, Gaps
from replay_dd.dd.intervals import EMPTY, IntervalSet
from replay_dd.outcome import Outcome

_ALL_NEEDED = 16.0
"""How many gaps of 1 a pass over deltas that were found needed has seen before it begins."""

_UNRESOLVED = 0.4
"""What a gap counts if an unresolved outcome ended it: that says less about what is needed."""

_FEW = 24
"""How many candidates do not reward questions against experience."""

_WORTH_TRIMMING = 8
"""How many deltas an answer has at least that is trimmed although all of them are proved."""


class _Question(Enum):
    GAP = "how far away the next needed delta is"
    ALONE = "whether the deltas found needed so far fail alone, without the one at the first end"
    TOGETHER = "whether several candidates can be left out together where the last one cannot"


class AdaptiveBisection(Algorithm):
    """Simplify a failing configuration, by bisection or by sweeps as its deltas demand.

    Where the test is monotone and ``k`` of ``n`` deltas are needed, spread evenly, it takes little more than
    ``log2(n over k) + k`` tests. No algorithm whose result is 1-minimal for every test function needs fewer at worst.

    Args:
        c_fail: a configuration that fails.
        base: deltas that stay applied in every test; contained in ``c_fail``, and not failing by itself.

    Raises:
        ValueError: ``base`` is not contained in ``c_fail``.

    Source: adaptive group testing with groups of learned sizes (see :mod:`~replay_dd.dd.gaps`), on prefixes as dd of
    ESEC/FSE 1999 tests them where each change requires the ones before it.
    """

    def __init__(self, c_fail: IntervalSet, *, base: IntervalSet = EMPTY) -> None:
        self.c_pass = base
        self.c_fail = c_fail
        self._proved = EMPTY
        self._gaps = Gaps()
        self._together = Together()
        self._afresh = Afresh()
        self._entangled = False
        self._first_pass = True
        self._trims_answer = False
        self._start_pass(checked_ends(base, c_fail))
        self._start_gap(base_fails=False)

    @property
    def deltas_left(self) -> int:
        """How many deltas are left."""
        return self.c_fail.count - self.c_pass.count

    @property
    def chance_of_failing(self) -> float:
        """How likely the configuration that is asked for fails, by the gaps seen so far."""
        if self._question is not _Question.GAP:
            return 0.2
        return self._forecast.chance(self._gap, self._low, self._high)

    def _start_pass(self, candidates: IntervalSet) -> None:
        self._candidates = candidates
        self._kept = self.c_fail - candidates
        self._found = 0
        self._in_a_row = 0
        self._ask_alone_at = 3
        self._at_first_end = EMPTY

    def _start_gap(self, *, base_fails: bool = True, trims: bool = False) -> None:
        """Begin to search for the next needed delta.

        Args:
            base_fails: whether what is kept may fail alone.
            trims: search from the first end.
        """
        self._most = self._candidates.count
        if self._most == 0:
            self._end_pass()
            return
        self._trims = trims
        self._is_afresh = trims or (self._most >= _FEW and self._afresh.is_due)
        gaps = NO_LENGTH_LIKELIER if self._trims_answer else Gaps() if self._is_afresh else self._gaps
        self._forecast = gaps.forecast(self._most)
        # At this end, `low` candidates could be left out, but not `high`; one more than there are stands for unknown.
        self._low = 0
        self._high = self._most + base_fails
        self._tests = 0
        self._may_try = True
        self._unresolved = False
        if base_fails and not trims and self._most >= _FEW and self._found >= self._ask_alone_at:
            self._ask_alone_at = max(self._ask_alone_at + 1, self._ask_alone_at * 5 // 4)
            self._question = _Question.ALONE
            self._gap = self._most
            self._rest = EMPTY
            self._asked = self._kept - self._at_first_end
        else:
            self._go_on()

    def _go_on(self) -> None:
        self._question = _Question.GAP
        if self._high - self._low > 1:
            self._gap = self._forecast.middle(self._low, self._high)
            self._ask_without(self._gap - self._low)
        elif self._low == self._most:
            self._end_pass()
        elif self._trims_answer:
            self._trims_answer = False
            self._go_over_unproved()
        elif self._trims and self._low == 0:
            # Nothing was left out here: what stands at the first end is not kept for that alone.
            self._start_gap()
        elif self._may_try and self._is_worth_trying():
            self._may_try = False
            self._question = _Question.TOGETHER
            self._gap = self._low + self._together.size
            self._ask_without(self._together.size)
        else:
            self._end_gap()

    def _ask_without(self, amount: int) -> None:
        self._rest = self._without(amount)
        self._asked = self._rest | self._kept

    def _without(self, amount: int) -> IntervalSet:
        """The candidates without so many of them at the end that is searched."""
        count = self._candidates.count
        return self._candidates.between(amount, count) if self._trims else self._candidates.take(count - amount)

    def _is_worth_trying(self) -> bool:
        in_a_row = self._in_a_row + 1 if self._high == 1 else 0
        return self._candidates.count >= self._together.size and self._together.is_due(in_a_row)

    def _advance(self, outcome: Outcome) -> None:
        assert self._asked is not None
        question = self._question
        fails = outcome is Outcome.FAIL
        if question is _Question.TOGETHER:
            self._together = self._together.after_try(succeeded=fails)
        else:
            self._tests += 1
            if not fails:
                self._together = self._together.after_test(outcome)
        if fails:
            if question is _Question.ALONE:
                self._kept = self._asked
            elif question is _Question.TOGETHER:
                self._high = self._most + 1
            # A monotone test would have failed before.
            surprising = question is _Question.TOGETHER or (question is _Question.ALONE and bool(self._at_first_end))
            self._entangled = self._entangled or surprising or not self._first_pass
            self.c_fail = self._asked
            self._proved = EMPTY
            self._candidates = self._rest
            self._low = self._gap
            self._may_try = True
        elif question is _Question.GAP or (question is _Question.ALONE and not self._at_first_end):
            self._high = self._gap
            self._unresolved = outcome is Outcome.UNRESOLVED
        self._go_on()

    def _end_gap(self) -> None:
        """The candidate at this end cannot be left out."""
        if not self._trims:
            self._afresh = self._afresh.after_search(self._low, self._tests, afresh=self._is_afresh)
        self._gaps = self._gaps.seen(self._high, _UNRESOLVED if self._unresolved else 1.0)
        rest = self._without(1)
        needed = self._candidates - rest
        self._candidates = rest
        self._kept = self._kept | needed
        self._proved = self._proved | needed
        if self._trims:
            self._at_first_end = needed
        else:
            self._found += 1
            self._in_a_row = self._in_a_row + 1 if self._high == 1 else 0
        self._start_gap(trims=self._found == 1 and not self._trims)

    def _end_pass(self) -> None:
        """No candidates are left: go over the answer again, where it is not proved."""
        answer = self.c_fail - self.c_pass
        trims_proved = self._first_pass and answer.count >= _WORTH_TRIMMING
        if answer.count <= 1 or (answer <= self._proved and not trims_proved):
            self._asked = None
            return
        self._first_pass = False
        self._trims_answer = True
        self._start_pass(answer)
        self._start_gap(base_fails=False, trims=True)

    def _go_over_unproved(self) -> None:
        answer = self.c_fail - self.c_pass
        unproved = answer - self._proved
        if answer.count <= 1 or not unproved:
            self._asked = None
            return
        self._start_pass(unproved)
        if self._entangled:
            self._gaps, self._afresh = Gaps(), self._afresh._replace(wait=0.0)
        else:
            self._gaps = Gaps(_ALL_NEEDED)
        self._entangled = False
        self._start_gap()
