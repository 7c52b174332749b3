"""The interface between the driver and a failure circumstance, such as thread schedules or user actions.

Rules of this module:

* A circumstance is a set of *deltas* between something that passes and something that fails. It turns a *configuration*
  (a set of deltas, see :class:`~replay_dd.dd.intervals.IntervalSet`) into a run, judges runs, and describes them. It
  never searches, counts, measures or proves: :func:`~replay_dd.experiment.driver.isolate_cause` does that for all.
* ``run`` may be called from several threads at the same time; everything else is called from one thread.
* Little must be implemented: the deltas, ``run``, and ``judge``. The defaults of all other methods suit a circumstance
  whose runs are exact and whose deltas are independent.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Generic, NamedTuple, TypeVar

from replay_dd.dd import DD, EMPTY, AdaptiveBisection, Algorithm, CheckedDDPlus, DDMin, IntervalSet, NearbyBisection
from replay_dd.outcome import Outcome

Run = TypeVar("Run")
"""What one run leaves behind: a log, an ending, a finished process."""


class End(Enum):
    """The two ends of a search."""

    PASSING = "passing"
    FAILING = "failing"


class Goal(Enum):
    """What a search looks for."""

    ISOLATE = "isolate"
    """The minimal difference between what passes and what fails (dd)."""
    SIMPLIFY = "simplify"
    """The smallest failing configuration (ddmin)."""


ALGORITHMS: Mapping[str, Callable[[IntervalSet, IntervalSet], Algorithm]] = {
    "adaptive": lambda base, failing: AdaptiveBisection(failing, base=base),
    "bisection": lambda base, failing: NearbyBisection(failing, base=base),
    "ddmin": lambda base, failing: DDMin(failing, base=base),
    "dd": DD,
    "dd+": lambda base, failing: CheckedDDPlus(base, failing),
}
"""The algorithms that a circumstance can name; each is made from the passing and the failing configuration."""


class Judgement(NamedTuple):
    """What a run means.

    Attributes:
        outcome: PASS; FAIL for the failure sought; UNRESOLVED for anything else.
        words: how the run ended, in one line.
        signature: equal for runs that ended in the same way, whatever the words.
        failed: whether the run failed at all, perhaps with a different failure.
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
        run: its run; None if it was not run because its outcome was known.
    """

    configuration: IntervalSet
    run: Run | None


class Circumstance(ABC, Generic[Run]):
    """One kind of difference that can make a program fail.

    Attributes:
        name: what machine-readable results call the circumstance.
        subject: what is run, as in "the failing *log*".
        delta: a noun in the singular for one delta.
        goal: what to look for.
        algorithm: a key of :data:`ALGORITHMS`.
        flaky: whether runs of one configuration may differ; otherwise two that do are an error.
        faithful: whether runs of the two ends must equal the recorded ones, if any.
        confirmed: whether what a search finds needed is confirmed by further runs, if runs may differ; not worth them
            where a finer search of all of it comes next.
        end_runs: how many times the passing end is run before the search.
        goes_on_from_base: whether the search is refined where the base fails as well, so that no delta is needed.
        steady_error: the probability of taking a failure for steady, before the search, that shows in only 60 % of the
            runs; the proof would notice. Higher where runs cost little, so that a search in vain does, too.
        universe: the failing configuration: all deltas.
        base: the passing configuration.
        rare_hint: what to do about a failure that shows too rarely.
        pairs: whether pairs of the deltas that are left are left out, too, at the end of a simplification of which the
            failure shows every time; worth it where deltas often cancel each other.
        cuts: deltas before which it is natural to cut the universe: what lies between two cuts belongs together.
    """

    name: str = "custom"
    subject: str = "case"
    delta: str = "delta"
    goal: Goal = Goal.SIMPLIFY
    algorithm: str = "ddmin"
    flaky: bool = False
    faithful: bool = True
    confirmed: bool = True
    end_runs: int = 1
    goes_on_from_base: bool = False
    steady_error: float = 0.05
    universe: IntervalSet = EMPTY
    base: IntervalSet = EMPTY
    rare_hint: str = "Make it fail more often, for instance under more load."
    pairs: bool = False
    cuts: Sequence[int] = ()

    @abstractmethod
    def run(self, configuration: IntervalSet, *, fresh: bool = False) -> Run:
        """Run one configuration.

        Args:
            configuration: which deltas are applied.
            fresh: take no shortcuts: this run is evidence.
        """

    @abstractmethod
    def judge(self, run: Run) -> Judgement:
        """What a run means, compared with the failure sought."""

    @property
    def gradual(self) -> bool:
        """Whether the failure is one of degree, such as taking too long.

        Where such a run ends otherwise when it is made again, it was close to the limit; others are not in doubt.
        """
        return False

    def words(self, delta: int) -> str:
        """Describe one delta."""
        return f"{self.delta} {delta + 1}"

    def shown(self, configuration: IntervalSet) -> IntervalSet:
        """The deltas that stand for a configuration where they are counted and described: one of each group."""
        return configuration

    def measure(self, configuration: IntervalSet) -> int:
        """How large a configuration is, in a unit that stays the same in all refinements; for charts."""
        return configuration.count

    def key(self, configuration: IntervalSet) -> Hashable:
        """A key that is equal for configurations with the same run, so that it is made only once."""
        return configuration

    def known(self) -> Mapping[IntervalSet, Outcome]:
        """Outcomes that need no run; called after :meth:`settle`."""
        return {}

    def settle(self, runs: Sequence[Run]) -> None:
        """Decide from runs of the failing end which failure to look for; may narrow the universe.

        Called once, and again with more runs if the first ones did not all end in the same way, or none of them failed.

        Raises:
            ReplayDDError: the runs show no usable failure.
        """

    def base_failed(self, judgement: Judgement) -> None:
        """Called if the passing end of a simplification fails, so that the failure needs no delta at all.

        Raises:
            ReplayDDError: this circumstance does not accept that as an answer.
        """

    def alike(self, one: int, other: int) -> bool:
        """Whether two deltas do the same thing, so that one may undo the other; asked only for :attr:`pairs`."""
        return False

    def own_algorithm(self, failing: IntervalSet) -> Algorithm | None:
        """An algorithm for this search, if there is a better one than that of :attr:`algorithm`.

        Args:
            failing: the failing configuration with which it begins.
        """
        return None

    def recorded(self, end: End) -> Run | None:
        """The recorded run of an end, which replays must equal; None if there is none."""
        return None

    def compare(self, one: Run, other: Run) -> str:
        """Why two runs of one configuration are not the same run; empty if they are, or if that is unknown.

        If runs may differ, this is asked before :meth:`settle`, of a run made alone and one made at the same time as
        others, to find out whether runs disturb each other. The words are then about the other run.
        """
        return ""

    def diagnose(self, end: End) -> str:
        """Describe where runs of one end diverge, and why; called only if :meth:`compare` found that they do."""
        return ""

    def reached(self, configuration: IntervalSet, run: Run) -> IntervalSet:
        """The deltas that had taken effect when a run ended; fewer than the configuration if it ended early."""
        return configuration

    def realised(self, configuration: IntervalSet, run: Run) -> IntervalSet:
        """The configuration that was run in the place of one that could not be; dd and dd+ go on from it."""
        return configuration

    def tested(self, configuration: IntervalSet, run: Run) -> None:
        """Called after each test that a search asked for, in serial order: what is learnt is the same each time."""

    def prove(self, configuration: IntervalSet, run: Run) -> Run:
        """Repeat a run of the answer, as evidence.

        Args:
            configuration: the configuration of the run.
            run: the run as the search saw it.
        """
        return self.run(configuration, fresh=True)

    def refine(self, passing: Found[Run], failing: Found[Run]) -> Circumstance[Run] | None:
        """What to search next: a narrower or finer difference between the two final runs; None if there is none."""
        return None


class Items(Circumstance[Run]):
    """A circumstance made from functions: items, some of which make a program fail.

    Args:
        items: what can be left out.
        run: runs the remaining items, a tuple in the original order; may be called from several threads.
        judge: says what a run means: None if it passed, or a text that describes its failure (the first failing run
            decides which text to look for; any other text is UNRESOLVED), or an outcome.
        words: describes an item.
        delta: a noun in the singular for one item.
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
        """Run the remaining items."""
        return self._run(tuple(self.items[number] for number in configuration))

    def judge(self, run: Run) -> Judgement:
        """What the function says, compared with the failure sought."""
        said = self._judge(run)
        if said is None:
            return Judgement(Outcome.PASS, "it passes")
        if isinstance(said, Outcome):
            return Judgement(said, f"the outcome is {said.value}", said, said is Outcome.FAIL)
        same = self._wanted is None or said == self._wanted
        return Judgement(Outcome.FAIL if same else Outcome.UNRESOLVED, said, said, failed=True)

    def settle(self, runs: Sequence[Run]) -> None:
        """Choose the failure of the first run that fails."""
        said = [self._judge(run) for run in runs]
        self._wanted = next((text for text in said if isinstance(text, str)), None)

    def words(self, delta: int) -> str:
        """Describe the item."""
        return self._words(self.items[delta])


class Grouped(Circumstance[Run]):
    """A circumstance whose deltas are groups of another circumstance's; refining it searches inside those left.

    Args:
        inner: the other circumstance.
        groups: disjoint configurations that together make up its universe.
    """

    def __init__(self, inner: Circumstance[Run], groups: Sequence[IntervalSet]) -> None:
        self.inner = inner
        self.groups = tuple(groups)
        self.universe = IntervalSet.range(0, len(self.groups))
        for trait in ("name", "subject", "delta", "goal", "algorithm", "flaky", "end_runs", "rare_hint"):
            setattr(self, trait, getattr(inner, trait))

    def inside(self, configuration: IntervalSet) -> IntervalSet:
        """The corresponding configuration of the inner circumstance."""
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
        """Describe the deltas of a group."""
        return ", ".join(self.inner.words(number) for number in self.groups[delta])

    def refine(self, passing: Found[Run], failing: Found[Run]) -> Circumstance[Run] | None:
        """The inner circumstance, restricted to the remaining groups."""
        self.inner.universe = self.inside(failing.configuration)
        self.inner.base = self.inside(passing.configuration)
        return self.inner
