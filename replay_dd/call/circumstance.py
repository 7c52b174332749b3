"""The arguments of a call as a circumstance: each delta is a part of them.

Rules of this module:

* FAIL means the same failure as that of the whole call, PASS that the call returns, UNRESOLVED any other ending.
* The time limit of the search comes from the first calls, unless the failure is that the call does not end.
"""

from __future__ import annotations

import hashlib
import pickle
import re
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from replay_dd.call.failure import Ending
from replay_dd.call.in_child import HUNG
from replay_dd.call.spaces import Course, Space, size_of
from replay_dd.call.tester import strings_of
from replay_dd.circumstance import Circumstance, Found, Judgement
from replay_dd.dd import IntervalSet
from replay_dd.errors.program import DoesNotFailError
from replay_dd.outcome import Outcome

FIRST_LIMIT_S = 10.0
_LIMIT_FACTOR = 20
_LIMIT_LEAST_S = 5.0
_FIRST_CALLS = 2


@dataclass(frozen=True)
class CallRun:
    """One call that was made.

    Attributes:
        ending: how it ended.
        signature: equal for the same failure.
        seconds: how long it took.
    """

    ending: Ending
    signature: Hashable
    seconds: float = 0.0


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
        failure: what counts as the failure; None for the same one.
        wanted: the failure, once it is known.
    """

    run: Callable[[Mapping[str, Any], float], tuple[Ending, float]]
    source: Callable[[Mapping[str, Any]], str]
    names: Sequence[str]
    begin: Callable[[], Course]
    algorithm: str
    limit_s: float = FIRST_LIMIT_S
    fixed_limit: bool = False
    failure: re.Pattern[str] | None = None
    wanted: CallRun | None = field(default=None, init=False)


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
        arguments = self.arguments(configuration)
        ending, seconds = self.search.run(arguments, self.search.limit_s)
        if self.search.failure is not None:
            matches = ending.failed and self.search.failure.search(ending.in_full) is not None
            return CallRun(ending, "the failure" if matches else ending.signature(), seconds)
        return CallRun(ending, ending.signature(strings_of(arguments) if ending.text else ()), seconds)

    def judge(self, run: CallRun) -> Judgement:
        """By comparison with the failure sought."""
        ending, wanted = run.ending, self.search.wanted
        if not ending.failed:
            return Judgement(Outcome.PASS, ending.words, run.signature)
        same = self._may_be_sought(run) if wanted is None else run.signature == wanted.signature
        return Judgement(Outcome.FAIL if same else Outcome.UNRESOLVED, ending.words, run.signature, failed=True)

    def settle(self, runs: Sequence[CallRun]) -> None:
        """Choose the most frequent failure, and the time limit.

        Raises:
            DoesNotFailError: no call fails.
        """
        failures = Counter(run.signature for run in runs if self._may_be_sought(run))
        if not failures:
            if len(runs) > _FIRST_CALLS:
                raise self._no_failure(runs)
            return
        ((signature, _),) = failures.most_common(1)
        self.search.wanted = next(run for run in runs if run.signature == signature)
        if not self.search.fixed_limit and self.search.wanted.ending.end != HUNG:
            longest_s = max(run.seconds for run in runs)
            self.search.limit_s = max(_LIMIT_FACTOR * longest_s, _LIMIT_LEAST_S)

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

    def _may_be_sought(self, run: CallRun) -> bool:
        return run.ending.failed and (self.search.failure is None or run.signature == "the failure")

    def _no_failure(self, runs: Sequence[CallRun]) -> DoesNotFailError:
        call = self.search.source(self.space.arguments)
        shown = call if len(call) <= 200 else f"{call[:197]}..."
        failed = next((run for run in runs if run.ending.failed), None)
        if failed is not None:
            return DoesNotFailError(
                f"{shown} fails otherwise: {failed.ending.words}.", "Give what it says as `--failure REGEX`."
            )
        return DoesNotFailError(
            f"{shown} does not fail: {runs[0].ending.words}.",
            "Give arguments with which the function raises an exception.",
        )
