"""The arguments of a call as a circumstance: each delta is a part of them.

Rules of this module:

* FAIL means the same failure as that of the whole call, PASS that the call returns, UNRESOLVED any other ending.
* The time limit of the search comes from the first calls, unless the failure is that the call does not end. If it does
  not end within a limit that is given, calls of the search have longer than that, provided that the whole one takes it.
"""

from __future__ import annotations

import hashlib
import pickle
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, cast

from replay_dd.call.course import Course
from replay_dd.call.failure import Ending, Matches, Rule, matcher
from replay_dd.call.in_child import HUNG
from replay_dd.call.spaces import Space, size_of
from replay_dd.call.tester import strings_of
from replay_dd.circumstance import Circumstance, Found, Judgement
from replay_dd.dd import IntervalSet
from replay_dd.errors.program import DoesNotFailError
from replay_dd.experiment.baseline import INTERMITTENT_RUNS
from replay_dd.experiment.journal import recalled_as
from replay_dd.experiment.process import LONGER_TO_HANG
from replay_dd.outcome import Outcome

FIRST_LIMIT_S = 10.0
_LIMIT_FACTOR = 20
_LIMIT_LEAST_S = 5.0
_SHOWN = 200


@dataclass(frozen=True)
class CallRun:
    """One call that was made.

    Attributes:
        ending: how it ended.
        seconds: how long it took.
    """

    ending: Ending
    seconds: float = 0.0


@dataclass(frozen=True)
class _Kept:
    """A call as a journal keeps it."""

    end: str
    kind: str
    text: str
    place: tuple[Any, ...]
    kinds: tuple[str, ...]
    seconds: float

    @classmethod
    def of(cls, run: CallRun) -> _Kept:
        """What is kept of a call."""
        ending = run.ending
        return cls(ending.end, ending.kind, ending.text, ending.place, ending.kinds, run.seconds)

    def run(self) -> CallRun:
        """The call again."""
        place = cast("tuple[str, int, int, str] | tuple[()]", self.place)
        return CallRun(Ending(self.end, self.kind, self.text, place, self.kinds), self.seconds)


@dataclass
class Search:
    """What all levels of one search share.

    Attributes:
        run: makes a call with these arguments, within so many seconds; returns how it ended, and the seconds it took.
        source: a call with these arguments as source.
        names: the arguments that may be reduced.
        begin: begins the course of levels anew.
        algorithm: how to simplify.
        limit_s: seconds after which a call hangs.
        fixed_limit: keep that limit.
        gradual: whether the failure is that the call does not end in time.
        longer: how many times the limit calls have that are no evidence; None until that is known.
        failure: what the user says that the failure is.
        matches: whether a call ended with the failure; by default, whether it failed at all.
    """

    run: Callable[[Mapping[str, Any], float], tuple[Ending, float]]
    source: Callable[[Mapping[str, Any]], str]
    names: Sequence[str]
    begin: Callable[[], Course]
    algorithm: str
    limit_s: float = FIRST_LIMIT_S
    fixed_limit: bool = False
    longer: float | None = None
    gradual: bool = False
    failure: Rule = None
    matches: Matches = field(default=lambda ending: ending.failed)


class CallArguments(Circumstance[CallRun]):
    """One level of the arguments.

    Args:
        search: what all levels share.
        space: the parts of this level.
        course: the levels after it; None for the first.
    """

    name = "call"
    subject = "call"
    flaky = True
    goes_on_from_base = True
    rare_hint = "Something other than the arguments matters: make it the same in every call, or fail more often."

    def __init__(self, search: Search, space: Space, course: Course | None = None) -> None:
        self.search = search
        self.space = space
        self._course = course
        self.universe = space.all
        self.delta = space.unit
        self.algorithm = search.algorithm

    def arguments(self, configuration: IntervalSet) -> dict[str, Any]:
        """The arguments of a configuration."""
        return self.space.build(configuration)

    def run(self, configuration: IntervalSet, *, fresh: bool = False) -> CallRun:
        """Make the call; each is made in a new process anyway."""
        if fresh:
            return self._call(configuration, 1.0)

        make = partial(self._call, configuration, self.search.longer or 1.0)
        # As source, since pickled sets of texts differ from process to process.
        return recalled_as(_Kept, lambda: self.search.source(self.arguments(configuration)), make, _Kept.of, _Kept.run)

    def _call(self, configuration: IntervalSet, longer: float) -> CallRun:
        ending, seconds = self.search.run(self.arguments(configuration), longer * self.search.limit_s)
        if ending.end == HUNG:
            ending = replace(ending, text=f"{self.search.limit_s:g}")  # the limit that the user knows
        return CallRun(ending, seconds)

    @property
    def gradual(self) -> bool:
        """Whether it fails by taking too long."""
        return self.search.gradual

    def judge(self, run: CallRun) -> Judgement:
        """By comparison with the failure sought."""
        ending = run.ending
        if not ending.failed:
            return Judgement(Outcome.PASS, ending.words, ending.signature)
        outcome = Outcome.FAIL if self.search.matches(ending) else Outcome.UNRESOLVED
        return Judgement(outcome, ending.words, ending.signature, failed=True)

    def compare(self, one: CallRun, other: CallRun) -> str:
        """How the other call ended, unless it was like the first one."""
        return "" if one.ending.signature == other.ending.signature else other.ending.words

    def settle(self, runs: Sequence[CallRun]) -> None:
        """Choose the most frequent failure, and the time limit.

        Raises:
            DoesNotFailError: no call fails, or not like that.
        """
        failures = Counter(run.ending.signature for run in runs if run.ending.failed)
        if not failures:
            if len(runs) >= INTERMITTENT_RUNS:
                raise self._no_failure(runs)
            return
        ((signature, _),) = failures.most_common(1)
        wanted = next(run.ending for run in runs if run.ending.signature == signature)
        self.search.gradual = wanted.end == HUNG
        self.search.matches = matcher(self.search.failure, wanted, strings_of(self.space.arguments))
        if not self.search.fixed_limit and wanted.end != HUNG:
            longest_s = max(run.seconds for run in runs)
            self.search.limit_s = max(_LIMIT_FACTOR * longest_s, _LIMIT_LEAST_S)
        if self.search.longer is None:
            self.search.longer = 1.0
            if wanted.end == HUNG and self.search.fixed_limit and self.search.failure is None:
                self.search.longer = LONGER_TO_HANG
                if self.run(self.universe).ending.end != HUNG:
                    self.search.longer = 1.0

    def measure(self, configuration: IntervalSet) -> int:
        """How many parts the arguments have, at all depths."""
        return size_of(self.arguments(configuration), self.search.names)

    def key(self, configuration: IntervalSet) -> Hashable:
        """The arguments."""
        return hashlib.blake2b(pickle.dumps(self.arguments(configuration)), digest_size=16).digest()

    def words(self, delta: int) -> str:
        """Where the part is."""
        return self.space.words(delta)

    def refine(self, passing: Found[CallRun], failing: Found[CallRun]) -> CallArguments | None:
        """The next level of what is left."""
        course = self._course
        if course is None:
            course = self.search.begin()
            next(course)  # this space
        try:
            space = course.send(self.arguments(failing.configuration))
        except StopIteration:
            return None
        return CallArguments(self.search, space, course)

    def _no_failure(self, runs: Sequence[CallRun]) -> DoesNotFailError:
        call = self.search.source(self.space.arguments)
        shown = call if len(call) <= _SHOWN else f"{call[: _SHOWN - 3]}..."
        return DoesNotFailError(
            f"{shown} does not fail: {runs[0].ending.words}.",
            "Give arguments with which the function raises an exception.",
        )
