"""The executed statements of a program as a failure circumstance.

Rules of this module:

* The *failure* of the driver is the outcome that is looked for: FAIL means that a part of the trace still has it.
* Statements that are searched together are all executions of one line first; then single executions, among those left.
* Parts that execute the same share one run: what is called by a statement that is left out is not executed either.
* A tree of processes runs one part at a time; there are as many trees as runs at the same time.
"""

from __future__ import annotations

import queue
from collections.abc import Hashable, Sequence

from replay_dd.circumstance import Circumstance, Found, Goal, Judgement
from replay_dd.dd import IntervalSet
from replay_dd.errors.program import NoOutcomeError
from replay_dd.experiment.journal import recalled
from replay_dd.outcome import Outcome
from replay_dd.trace.forks import Tree
from replay_dd.trace.model import Trace
from replay_dd.trace.outcomes import Run, Sought, run_from
from replay_dd.trace.target import Target


class Trees:
    """The trees of processes in which the parts of one trace are run; close them after use.

    Args:
        target: the program.
        trace: its executed statements.
        sought: what to look for.
    """

    def __init__(self, target: Target, trace: Trace, sought: Sought) -> None:
        self.target, self.trace, self.sought = target, trace, sought
        self._free: queue.LifoQueue[Tree] = queue.LifoQueue()
        self._all: list[Tree] = []
        self._best = trace.reached(trace.all)

    def __enter__(self) -> Trees:
        return self

    def __exit__(self, *_: object) -> None:
        for tree in self._all:
            tree.close()

    def run(self, kept: IntervalSet, *, fresh: bool) -> Run:
        """Run a part of the trace.

        Args:
            kept: the events to execute.
            fresh: in a new process, and from the beginning.
        """
        if fresh:
            tree = Tree(self.target, self.trace)
            try:
                return run_from(tree.follow(kept, kept, self.sought.variable), self.trace)
            finally:
                tree.close()
        return recalled(
            Run,
            lambda: (self.trace.digest, kept.intervals, self.sought.variable),
            lambda: self._in_tree(kept),
        )

    def _in_tree(self, kept: IntervalSet) -> Run:
        try:
            tree = self._free.get_nowait()
        except queue.Empty:
            tree = Tree(self.target, self.trace)
            self._all.append(tree)
        try:
            run = run_from(tree.follow(kept, self._best, self.sought.variable), self.trace)
        finally:
            self._free.put(tree)
        # Only a guess where the next runs begin; no result depends on it.
        if self.sought.judge(run).outcome is Outcome.FAIL and kept.count < self._best.count:
            self._best = kept
        return run


class ExecutedStatements(Circumstance[Run]):
    """Groups of executed statements.

    Args:
        trees: run them.
        groups: what is left out as a whole.
        by_line: whether a group is all executions of a statement, so that single executions are searched afterwards.
        algorithm: a key of :data:`~replay_dd.circumstance.ALGORITHMS`.
    """

    name = "trace"
    subject = "program"
    goal = Goal.SIMPLIFY

    def __init__(self, trees: Trees, groups: Sequence[IntervalSet], *, by_line: bool, algorithm: str) -> None:
        self._trees = trees
        self._groups = tuple(groups)
        self._by_line = by_line
        self.trace = trees.trace
        self.algorithm = algorithm
        self.universe = IntervalSet.range(0, len(self._groups))
        self.delta = "statement" if by_line else "executed statement"

    def events(self, configuration: IntervalSet) -> IntervalSet:
        """The executed statements of a configuration."""
        edges = sorted(interval for number in configuration for interval in self._groups[number].intervals)
        return IntervalSet.from_intervals(edges)

    def measure(self, configuration: IntervalSet) -> int:
        """The number of executed statements."""
        return self.events(configuration).count

    def key(self, configuration: IntervalSet) -> Hashable:
        """What is really executed."""
        return self.trace.reached(self.events(configuration))

    def run(self, configuration: IntervalSet, *, fresh: bool = False) -> Run:
        """Execute the statements of a configuration."""
        return self._trees.run(self.trace.reached(self.events(configuration)), fresh=fresh)

    def judge(self, run: Run) -> Judgement:
        """Whether the outcome is there."""
        return self._trees.sought.judge(run)

    def compare(self, one: Run, other: Run) -> str:
        """Why two runs of the whole trace do not have the same outcome."""
        judged = [self.judge(run) for run in (one, other)]
        if judged[0].outcome is judged[1].outcome:
            return ""
        return " and ".join(judgement.words for judgement in judged)

    def base_failed(self, judgement: Judgement) -> None:
        """An outcome that needs no statement says nothing.

        Raises:
            NoOutcomeError: always.
        """
        raise NoOutcomeError(f"The program has this outcome without any of its statements: {judgement.words}.")

    def words(self, delta: int) -> str:
        """The statement, and which time it was executed."""
        first = self._groups[delta].first
        place = self.trace.statement(first)
        return f"{place.file}:{place.line}" if self._by_line else self.trace.words(first)

    def refine(self, passing: Found[Run], failing: Found[Run]) -> ExecutedStatements | None:
        """The single executions of those statements that are left."""
        if not self._by_line:
            return None
        events = self.trace.reached(self.events(failing.configuration))
        return ExecutedStatements(
            self._trees, [IntervalSet.of([event]) for event in events], by_line=False, algorithm=self.algorithm
        )


def by_statement(trace: Trace) -> list[IntervalSet]:
    """All executions of each statement, in the order of their first ones."""
    events: dict[int, list[int]] = {}
    for event, site in enumerate(trace.sites):
        events.setdefault(site, []).append(event)
    return [IntervalSet.of(some) for some in events.values()]


def one_by_one(trace: Trace) -> list[IntervalSet]:
    """Each execution by itself."""
    return [IntervalSet.range(event, event + 1) for event in range(len(trace))]
