"""dd, the algorithm that isolates: it shrinks the difference of a passing and a failing configuration from both ends.

Rules of this module:

* Always ``c_pass ⊆ c'_pass ⊂ c'_fail ⊆ c_fail``; ``c'_pass`` was seen to pass and ``c'_fail`` was seen to fail (the end
  points by the caller's word). That holds for every test function: nothing here assumes monotony.
* When it is done the difference is 1-minimal: adding any one of its deltas to ``c'_pass`` does not pass, removing any
  one from ``c'_fail`` does not fail (``BookDD``: in the directions that its mode works on).
* A variant is a table of *moves*, tried in order for each part of the difference. Each try asks for one configuration,
  even if the previous one asked for the same: the published programs count their calls that way, and the cache of a
  search answers the repeated question.
* The granularity grows only after a full round without a move. (The loop printed on the slides looks at a counter that
  can be stale after a move; then its result need not be 1-minimal.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from replay_dd.dd.algorithm import Algorithm, checked_ends
from replay_dd.dd.intervals import IntervalSet
from replay_dd.dd.split import Splitter, coarser, finer, fitting, most_parts, partition, splitter_named
from replay_dd.outcome import Outcome

FAIL, PASS = Outcome.FAIL, Outcome.PASS
_PROGRESS = 0.05  # of what is left: less is none
_PROGRESS_TOGETHER = 0.2  # of several questions: many small steps lead on, too


class Move(NamedTuple):
    """One try with one part of the difference.

    Attributes:
        adds: test ``c_pass ∪ part`` (True) or ``c_fail - part`` (False).
        wanted: the outcome that takes the move. A configuration that passes becomes ``c_pass``; one that fails becomes
            ``c_fail``.
        asks_only_at_two: do not ask at all unless the granularity is 2.
        takes_only_at_two: ask, but take the move only if the granularity is 2.
        keeps_granularity: go on with one part less (True) or start again with 2 parts (False).
        keeps_place: go on at the same part (True) or at the first one (False).
    """

    adds: bool
    wanted: Outcome
    asks_only_at_two: bool = False
    takes_only_at_two: bool = False
    keeps_granularity: bool = False
    keeps_place: bool = False


SLIDES_MOVES = (
    Move(adds=False, wanted=FAIL, takes_only_at_two=True),
    Move(adds=False, wanted=PASS),
    Move(adds=True, wanted=FAIL),
    Move(adds=False, wanted=FAIL, keeps_granularity=True, keeps_place=True),
    Move(adds=True, wanted=PASS, keeps_granularity=True, keeps_place=True),
)
"""The order of tests of the slides "Isolating Failure Causes", page 17, where the offset reaches the next round."""

PRINTED_MOVES = tuple(move._replace(keeps_place=False) for move in SLIDES_MOVES)
"""The same as printed there: each round begins at the first part."""

_MINIMISE = (
    Move(adds=True, wanted=FAIL, asks_only_at_two=True, keeps_place=True),
    Move(adds=False, wanted=FAIL, keeps_granularity=True, keeps_place=True),
)
_MAXIMISE = (
    Move(adds=False, wanted=PASS, asks_only_at_two=True, keeps_place=True),
    Move(adds=True, wanted=PASS, keeps_granularity=True, keeps_place=True),
)
BOOK_MOVES = {
    "-": _MINIMISE,
    "+": _MAXIMISE,
    "+-": (_MINIMISE[0], _MAXIMISE[0], _MINIMISE[1], _MAXIMISE[1]),
}
"""The order of tests of the Debugging Book's ``DeltaDebugger.dd()``, by mode."""


class _MoveDD(Algorithm):
    """The loop that both variants share; the tables of moves are what makes them differ."""

    takes_realised = True

    def __init__(
        self, c_pass: IntervalSet, c_fail: IntervalSet, *, moves: tuple[Move, ...], split: str | Splitter
    ) -> None:
        self._delta = checked_ends(c_pass, c_fail)
        self.gave_up = False
        self._patience: int | None = None
        self._fruitless: tuple[IntervalSet, ...] = ()
        self._left_then = self._delta.count
        self.c_pass = c_pass
        self.c_fail = c_fail
        self._moves = moves
        self._split = splitter_named(split)
        self._granularity = 2
        self._offset = 0
        self._parts: Sequence[IntervalSet] = ()
        self._start_round()

    @property
    def difference(self) -> IntervalSet:
        """The deltas that are left."""
        return self._delta

    @property
    def deltas_left(self) -> int:
        """How many deltas are left."""
        return most_parts(self._split, self._delta)

    def _start_round(self) -> None:
        if self.deltas_left <= 1:
            self._asked = None
            return
        self._parts = partition(self._split, self._delta, self._granularity)
        self._tried = 0
        self._move = -1
        self._ask_next_move()

    def _ask_next_move(self) -> None:
        """Ask what the next move of this part, or the first one of the next part, wants to know."""
        moves = self._moves
        while True:
            self._move += 1
            if self._move == len(moves):
                self._move = 0
                self._tried += 1
                if self._tried == len(self._parts):
                    self._refine()
                    return
            move = moves[self._move]
            if not move.asks_only_at_two or self._granularity == 2:
                break
        part = self._parts[(self._tried + self._offset) % len(self._parts)]
        asked = self.c_pass | part if move.adds else self.c_fail - part
        self._asked = fitting(self._split, asked, self.c_pass, self.c_fail)

    def _leads_on(self, tested: IntervalSet, outcome: Outcome) -> bool:
        """Whether what was tested lies between both ends, so that the difference becomes smaller with it as an end."""
        if self._realised is None:
            return True
        other = self.c_pass if outcome is PASS else self.c_fail
        return self.c_pass <= tested <= self.c_fail and tested != other

    def _refine(self) -> None:
        count = self.deltas_left
        if self._granularity >= count and len(self._parts) >= count:
            self._asked = None
            return
        self._granularity = finer(self._granularity, count)
        self._start_round()

    def _advance(self, outcome: Outcome) -> None:
        asked, before = self._asked, self._delta.count
        assert asked is not None
        self._make_move(outcome)
        if self._patience is None:
            return
        left = self._delta.count
        if before - left > before * _PROGRESS or self._left_then - left > self._left_then * _PROGRESS_TOGETHER:
            self._fruitless, self._left_then = (), left
        elif asked not in self._fruitless:
            self._fruitless = (*self._fruitless, asked)
        if len(self._fruitless) >= self._patience and self._asked is not None:
            self.gave_up, self._asked = True, None

    def _make_move(self, outcome: Outcome) -> None:
        move = self._moves[self._move]
        tested = self._asked if self._realised is None else self._realised
        assert tested is not None
        if (
            outcome is not move.wanted
            or (move.takes_only_at_two and self._granularity != 2)
            or not self._leads_on(tested, outcome)
        ):
            self._ask_next_move()
            return
        if outcome is PASS:
            self.c_pass = tested
        else:
            self.c_fail = tested
        self._delta = self.c_fail - self.c_pass
        place = (self._tried + self._offset) % len(self._parts)
        self._granularity = coarser(self._granularity, self.deltas_left) if move.keeps_granularity else 2
        self._offset = place if move.keeps_place else 0
        self._start_round()


class DD(_MoveDD):
    """dd: isolate a 1-minimal difference, with the order of tests of the slides.

    Without unresolved outcomes each test halves the difference: ``ceil(log2 |Δ|)`` tests; at worst ``|Δ|² + 7|Δ|``.

    Within a round the order is that of the program on page 17 of the slides. That program sets a variable ``offset`` to
    the part at which it moved, so that the next round can begin there, and then sets it to 0 before it is ever used.
    ``carry_offset`` chooses between what was meant and what was printed. They ask the same questions until the first
    move that keeps the granularity, so never differ where every outcome is resolved.

    Args:
        c_pass: a configuration that passes.
        c_fail: a configuration that fails and contains ``c_pass``.
        split: a rule's name (``floor``, ``round``, ``front``, ``slices``) or a splitter.
        carry_offset: after a move that keeps the granularity, begin the next round at the part where it was, which
            spreads the moves over the difference (as :class:`BookDD` does), instead of at the first part (as the
            printed program does).
        patience: give up after so many different questions in a row that took away less than a twentieth of what was
            left each, and less than a fifth of it together; None to go on to the end.

    Raises:
        ValueError: ``c_pass`` is not contained in ``c_fail``, or there is no such split rule.
        NotAPartitionError: a caller's splitter did not return proper parts.

    Source: A. Zeller, "Isolating Failure Causes" (slides to "Why Programs Fail"), pages 14 to 18; Zeller and
    Hildebrandt, IEEE TSE 28(2), 2002, figure 6.
    """

    def __init__(
        self,
        c_pass: IntervalSet,
        c_fail: IntervalSet,
        *,
        split: str | Splitter = "floor",
        carry_offset: bool = True,
        patience: int | None = None,
    ) -> None:
        super().__init__(c_pass, c_fail, moves=SLIDES_MOVES if carry_offset else PRINTED_MOVES, split=split)
        self._patience = patience


class BookDD(_MoveDD):
    """dd with the improvements of the Debugging Book, which can also only minimise or only maximise.

    Whole subsets are tried only while there are two of them, and after a move the next round begins where the last one
    moved, which spreads the reductions over the difference.

    Args:
        c_pass: a configuration that passes.
        c_fail: a configuration that fails and contains ``c_pass``.
        mode: ``"-"`` minimises what fails (ddmin), ``"+"`` maximises what passes (ddmax), ``"+-"`` does both (dd).
        split: a rule's name or a splitter; the book uses ``front``.

    Raises:
        ValueError: ``c_pass`` is not contained in ``c_fail``, or the mode or the split rule is unknown.
        NotAPartitionError: a caller's splitter did not return proper parts.

    Source: the Debugging Book, chapter "Reducing Failure-Inducing Inputs", section "General Delta Debugging".
    """

    def __init__(
        self, c_pass: IntervalSet, c_fail: IntervalSet, *, mode: str = "+-", split: str | Splitter = "front"
    ) -> None:
        if mode not in BOOK_MOVES:
            raise ValueError(f"unknown mode {mode!r}: choose one of {', '.join(BOOK_MOVES)}")
        super().__init__(c_pass, c_fail, moves=BOOK_MOVES[mode], split=split)
