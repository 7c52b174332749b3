"""What the driver needs to know of a failure circumstance, such as thread schedules or user actions.

Rules of this module:

* A circumstance is a set of *deltas* between something that passes and something that fails. It turns a *configuration*
  (a set of deltas, see :class:`~replay_dd.dd.intervals.IntervalSet`) into a run, judges runs, and finds words. It never
  searches, counts, measures or proves: :func:`~replay_dd.experiment.driver.isolate_cause` does that, once for all.
* ``run`` may be called from several threads at the same time; everything else is called from one.
* What must be written is short: the deltas, ``run``, and ``judge``. All other methods have a default that is right for
  a circumstance whose runs are exact and whose deltas are independent.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

from replay_dd.dd import DD, EMPTY, Algorithm, DDMin, IntervalSet, PrefixBisection
from replay_dd.outcome import Outcome

Run = TypeVar("Run")
"""What one run leaves behind: a log, an ending, a finished process."""


class End(Enum):
    """The two ends of a search."""

    PASSING = "passing"
    FAILING = "failing"


class Goal(Enum):
    """What is looked for."""

    ISOLATE = "isolate"
    """The minimal difference between what passes and what fails (dd)."""
    SIMPLIFY = "simplify"
    """The smallest failing configuration (ddmin)."""


ALGORITHMS: Mapping[str, Callable[[IntervalSet, IntervalSet], Algorithm]] = {
    "bisection": lambda base, failing: PrefixBisection(failing, base=base),
    "ddmin": lambda base, failing: DDMin(failing, base=base),
    "dd": DD,
}
"""The algorithms that a circumstance can name, by the two ends that they start from."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a run means.

    Attributes:
        outcome: PASS; FAIL for the failure that is looked for; UNRESOLVED for anything else.
        words: how the run ended, in one line.
        signature: equal for runs that ended in the same way, whatever the words.
        failed: whether the run failed at all, perhaps by another failure than the one that is looked for.
    """

    outcome: Outcome
    words: str
    signature: Hashable = ""
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Found(Generic[Run]):
    """One side of a search's answer.

    Attributes:
        configuration: the deltas that are applied.
        run: its run; None where it was not run, since its outcome was known.
    """

    configuration: IntervalSet
    run: Run | None


class Circumstance(ABC, Generic[Run]):
    """One kind of difference that can make a program fail.

    Attributes:
        name: how the circumstance is called in results for machines.
        subject: what is run, in words: "the failing *log*".
        delta: what one delta is, in words and in the singular.
        goal: what to look for.
        algorithm: a key of :data:`ALGORITHMS`.
        flaky: whether runs of one configuration may differ; where not, two that do are an error.
        faithful: whether runs of the two ends must be the recorded ones, where there are such.
        end_runs: how often the passing end is run before the search.
        universe: the failing configuration: all deltas.
        base: the passing configuration.
    """

    name: str = "custom"
    subject: str = "case"
    delta: str = "delta"
    goal: Goal = Goal.SIMPLIFY
    algorithm: str = "ddmin"
    flaky: bool = False
    faithful: bool = True
    end_runs: int = 1
    universe: IntervalSet = EMPTY
    base: IntervalSet = EMPTY

    @abstractmethod
    def run(self, configuration: IntervalSet, *, fresh: bool = False) -> Run:
        """Run one configuration.

        Args:
            configuration: which deltas are applied.
            fresh: take no short cut: this run is evidence.
        """

    @abstractmethod
    def judge(self, run: Run) -> Judgement:
        """What a run means, by comparison with the failure that is looked for."""

    def words(self, delta: int) -> str:
        """One delta in words."""
        return f"{self.delta} {delta + 1}"

    def key(self, configuration: IntervalSet) -> Hashable:
        """Equal for configurations that are the same run, so that it is run once."""
        return configuration

    def end_of(self, end: End) -> IntervalSet:
        """The configuration of an end."""
        return self.universe if end is End.FAILING else self.base

    def known(self) -> Mapping[IntervalSet, Outcome]:
        """Outcomes that need no run; asked for after :meth:`settle`."""
        return {}

    def settle(self, runs: Sequence[Run]) -> None:
        """Decide, by runs of the failing end, which failure is looked for; perhaps narrow the universe.

        Called once, or again with more runs where these did not all end in the same way.

        Raises:
            ReplayDDError: the runs show no failure that could be looked for.
        """

    def base_failed(self, judgement: Judgement) -> None:
        """Called where the passing end of a simplification fails, so that the failure needs no delta at all.

        Raises:
            ReplayDDError: that is not an answer here.
        """

    def recorded(self, end: End) -> Run | None:
        """The run that was recorded of an end, which replays must equal; None where there is none to compare with."""
        return None

    def compare(self, one: Run, other: Run) -> str:
        """Why two runs of one configuration are not the same run; empty where they are, or where that is not known."""
        return ""

    def diagnose(self, end: End) -> str:
        """Where runs of one end part, and why, in words; asked only where :meth:`compare` found that they do."""
        return ""

    def reached(self, configuration: IntervalSet, run: Run) -> IntervalSet:
        """The deltas that had taken effect when a run ended; less than the configuration where it ended early."""
        return configuration

    def prove(self, configuration: IntervalSet, run: Run) -> Run:
        """Make a run of the answer once more, as evidence.

        Args:
            configuration: of the run.
            run: the run as the search saw it.
        """
        return self.run(configuration, fresh=True)

    def refine(self, passing: Found[Run], failing: Found[Run]) -> Circumstance[Run] | None:
        """What to search next: a narrower or a finer difference between the two final runs; None where this was all."""
        return None


class Items(Circumstance[Run]):
    """A circumstance out of functions: items of which some make a program fail.

    Args:
        items: what can be left out.
        run: runs what is left, a tuple of items in their order; may be called from several threads.
        judge: tells what a run means: None that it passed, a text that it failed, and how (the first failing run
            decides which text is looked for; another text is UNRESOLVED); or an outcome.
        words: an item in words.
        delta: what one item is, in words and in the singular.
        algorithm: a key of :data:`ALGORITHMS`: ``ddmin`` or ``bisection`` simplify, ``dd`` isolates.
    """

    def __init__(
        self,
        items: Iterable[object],
        run: Callable[[tuple[object, ...]], Run],
        judge: Callable[[Run], str | Outcome | None],
        words: Callable[[object], str] = str,
        *,
        delta: str = "item",
        algorithm: str = "ddmin",
    ) -> None:
        self.items = tuple(items)
        self.universe = IntervalSet.range(0, len(self.items))
        self.delta = delta
        self.algorithm = algorithm
        self.goal = Goal.ISOLATE if algorithm == "dd" else Goal.SIMPLIFY
        self._run, self._judge, self._words = run, judge, words
        self._wanted: str | None = None

    def run(self, configuration: IntervalSet, *, fresh: bool = False) -> Run:
        """Run what is left."""
        return self._run(tuple(self.items[number] for number in configuration))

    def judge(self, run: Run) -> Judgement:
        """What the function says, compared with the failure that is looked for."""
        said = self._judge(run)
        if said is None:
            return Judgement(Outcome.PASS, "it passes")
        if isinstance(said, Outcome):
            return Judgement(said, f"the outcome is {said.value}", said, said is Outcome.FAIL)
        same = self._wanted is None or said == self._wanted
        return Judgement(Outcome.FAIL if same else Outcome.UNRESOLVED, said, said, failed=True)

    def settle(self, runs: Sequence[Run]) -> None:
        """Look for the failure of the first run that fails."""
        said = [self._judge(run) for run in runs]
        self._wanted = next((text for text in said if isinstance(text, str)), None)

    def words(self, delta: int) -> str:
        """The item in words."""
        return self._words(self.items[delta])


class Grouped(Circumstance[Run]):
    """A circumstance whose deltas are groups of another one's; refining it looks inside the groups that are left.

    Args:
        inner: the circumstance.
        groups: configurations that do not overlap and together are its universe.
    """

    def __init__(self, inner: Circumstance[Run], groups: Sequence[IntervalSet]) -> None:
        self.inner = inner
        self.groups = tuple(groups)
        self.universe = IntervalSet.range(0, len(self.groups))
        for trait in ("name", "subject", "delta", "goal", "algorithm", "flaky", "end_runs"):
            setattr(self, trait, getattr(inner, trait))

    def inside(self, configuration: IntervalSet) -> IntervalSet:
        """The configuration of the inner circumstance."""
        applied = self.inner.base
        for number in configuration:
            applied = applied | self.groups[number]
        return applied

    def run(self, configuration: IntervalSet, *, fresh: bool = False) -> Run:
        """Run the groups' deltas."""
        return self.inner.run(self.inside(configuration), fresh=fresh)

    def judge(self, run: Run) -> Judgement:
        """As the inner circumstance does."""
        return self.inner.judge(run)

    def key(self, configuration: IntervalSet) -> Hashable:
        """As the inner circumstance's."""
        return self.inner.key(self.inside(configuration))

    def settle(self, runs: Sequence[Run]) -> None:
        """As the inner circumstance does."""
        self.inner.settle(runs)

    def compare(self, one: Run, other: Run) -> str:
        """As the inner circumstance does."""
        return self.inner.compare(one, other)

    def words(self, delta: int) -> str:
        """The deltas of a group, in words."""
        return ", ".join(self.inner.words(number) for number in self.groups[delta])

    def refine(self, passing: Found[Run], failing: Found[Run]) -> Circumstance[Run] | None:
        """The inner circumstance, between the groups that are left."""
        self.inner.universe = self.inside(failing.configuration)
        self.inner.base = self.inside(passing.configuration)
        return self.inner
