"""dd and dd+ of 1999: which of the changes that were applied to a working version made it fail?

Rules of this module:

* Both search one half (or part) while others *remain applied*. A task is a set of suspects and the set that remains
  applied; an interference splits one task into two, and the answer is the union of what all tasks find.
* ``DD1999`` assumes monotone, unambiguous, consistent configurations; ``DDPlus`` accepts unresolved outcomes. Without
  those assumptions both still end with an answer, but it need not be minimal, nor fail by itself: prefer ddmin or dd
  unless you need these orders of tests.
* While there are two parts the complement of the one is the other: its outcome is taken, not asked for again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from replay_dd.dd.algorithm import Algorithm, checked_ends
from replay_dd.dd.intervals import EMPTY, IntervalSet
from replay_dd.dd.split import Splitter, finer, most_parts, partition, splitter_named
from replay_dd.outcome import Outcome

FAIL, PASS, UNRESOLVED = Outcome.FAIL, Outcome.PASS, Outcome.UNRESOLVED


class _Task(NamedTuple):
    suspects: IntervalSet
    applied: IntervalSet
    granularity: int = 2


class _Tasks(Algorithm):
    """Tasks yet to do, the next one last, and what the finished ones have found."""

    def __init__(self, c_pass: IntervalSet, c_fail: IntervalSet, *, split: str | Splitter) -> None:
        suspects = checked_ends(c_pass, c_fail)
        self.c_pass = c_pass
        self.c_fail = c_fail
        self._split = splitter_named(split)
        self._tasks: tuple[_Task, ...] = (_Task(suspects, c_pass),)
        self._found = EMPTY
        self._next_task()

    @property
    def difference(self) -> IntervalSet:
        """The changes found so far, and all that are still suspected."""
        left = self._found
        for task in self._tasks:
            left = left | task.suspects
        return left

    @property
    def deltas_left(self) -> int:
        """How many deltas are left."""
        return most_parts(self._split, self.difference)

    def _next_task(self) -> None:
        """Close tasks that need no test, then start the next one."""
        while self._tasks and most_parts(self._split, self._tasks[-1].suspects) <= 1:
            self._found = self._found | self._tasks[-1].suspects
            self._tasks = self._tasks[:-1]
        if not self._tasks:
            self._asked = None
            self.c_fail = self.c_pass | self._found
            return
        task = self._tasks[-1]
        self._parts: Sequence[IntervalSet] = partition(self._split, task.suspects, task.granularity)
        self._outcomes: tuple[Outcome, ...] = ()
        self._asked = self._parts[0] | task.applied

    def _replace_task(self, *tasks: _Task) -> None:
        """Go on with these tasks, in this order, in place of the current one."""
        self._tasks = (*self._tasks[:-1], *reversed(tasks))
        self._next_task()


class DD1999(_Tasks):
    """dd of 1999: binary search for the failure-inducing changes, in both halves where they interfere.

    Linear at worst (less than two tests a change), logarithmic for one failure-inducing change.

    Args:
        c_pass: a configuration that passes ("yesterday").
        c_fail: a configuration that fails and contains ``c_pass`` ("today").
        split: a rule's name or a splitter; only its cut into two parts is used.

    Raises:
        ValueError: ``c_pass`` is not contained in ``c_fail``, or there is no such split rule.

    Source: A. Zeller, "Yesterday, my program worked. Today, it does not. Why?", ESEC/FSE 1999, algorithm 1.
    """

    def __init__(self, c_pass: IntervalSet, c_fail: IntervalSet, *, split: str | Splitter = "floor") -> None:
        super().__init__(c_pass, c_fail, split=split)

    def _advance(self, outcome: Outcome) -> None:
        task = self._tasks[-1]
        first = self._parts[0]
        second = task.suspects - first
        tested = second if self._outcomes else first
        if outcome is FAIL:
            self._replace_task(_Task(tested, task.applied))
        elif not self._outcomes:
            self._outcomes = (outcome,)
            self._asked = second | task.applied
        else:
            self._replace_task(_Task(first, second | task.applied), _Task(second, first | task.applied))


class DDPlus(_Tasks):
    """dd+: the 1999 search for changes that do not always fit together (interference, preference, try again).

    All parts are tested, then all complements. Parts that pass, or whose complement fails, cannot be the cause; they
    remain applied when the search tries again with more parts.

    Args:
        c_pass: a configuration that passes ("yesterday").
        c_fail: a configuration that fails and contains ``c_pass`` ("today").
        split: a rule's name or a splitter.

    Raises:
        ValueError: ``c_pass`` is not contained in ``c_fail``, or there is no such split rule.
        NotAPartitionError: a caller's splitter did not return proper parts.

    A failing part that was realised as another configuration is searched as that.

    Source: ESEC/FSE 1999, algorithm 2, read as its prose says: both kinds of cleared parts leave the suspects *and*
    remain applied (the formula moves each kind in one of the two places only).
    """

    takes_realised = True

    def __init__(self, c_pass: IntervalSet, c_fail: IntervalSet, *, split: str | Splitter = "floor") -> None:
        super().__init__(c_pass, c_fail, split=split)

    def _advance(self, outcome: Outcome) -> None:
        task, parts = self._tasks[-1], self._parts
        if self._realised is not None:
            if outcome is FAIL and task.applied <= self._realised < task.applied | task.suspects:
                self._replace_task(_Task(self._realised - task.applied, task.applied))
                return
            outcome = UNRESOLVED
        amount = len(parts)
        at = len(self._outcomes)
        self._outcomes = (*self._outcomes, outcome)
        if outcome is FAIL and at < amount:
            self._replace_task(_Task(parts[at], task.applied))
            return
        if amount == 2 and len(self._outcomes) == 2:
            self._outcomes += self._outcomes[::-1]
        at = len(self._outcomes)
        if at < amount:
            self._asked = parts[at] | task.applied
        elif at < 2 * amount:
            self._asked = (task.suspects - parts[at - amount]) | task.applied
        else:
            self._decide(task)

    def _decide(self, task: _Task) -> None:
        """Every part and every complement has its outcome, and no part fails."""
        parts, amount = self._parts, len(self._parts)
        of_parts, of_complements = self._outcomes[:amount], self._outcomes[amount:]
        pairs = list(zip(of_parts, of_complements, strict=True))
        if (PASS, PASS) in pairs:
            part = parts[pairs.index((PASS, PASS))]
            rest = task.suspects - part
            self._replace_task(_Task(part, rest | task.applied), _Task(rest, part | task.applied))
            return
        if (UNRESOLVED, PASS) in pairs:
            part = parts[pairs.index((UNRESOLVED, PASS))]
            self._replace_task(_Task(part, (task.suspects - part) | task.applied))
            return
        cleared = EMPTY
        for part, (of_part, of_complement) in zip(parts, pairs, strict=True):
            if of_part is PASS or of_complement is FAIL:
                cleared = cleared | part
        if cleared == task.suspects:
            # Each part is cleared by itself, but together they fail: no part may leave, only a finer cut can help.
            cleared = EMPTY
        suspects = task.suspects - cleared
        count = most_parts(self._split, task.suspects)
        if task.granularity >= count and amount >= count:
            self._found = self._found | suspects
            self._tasks = self._tasks[:-1]
            self._next_task()
            return
        if task.granularity < count:
            granularity = min(most_parts(self._split, suspects), 2 * task.granularity)
        else:
            granularity = finer(task.granularity, count)
        self._replace_task(_Task(suspects, task.applied | cleared, max(granularity, 2)))
