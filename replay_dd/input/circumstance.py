"""The units of a file as a failure circumstance.

Rules of this module:

* FAIL means the same failure as the whole input's; PASS, that the program ended as it should; anything else, another
  failure among them, is UNRESOLVED.
* Each level is a search of its own, on the file that the previous one left. Files with the same content share one run,
  whatever level they come from.
* The time limit of the search comes from the runs of the whole input, unless the failure is that it does not end.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Hashable, Sequence

from replay_dd.circumstance import Circumstance, Found, Goal, Judgement
from replay_dd.dd import IntervalSet
from replay_dd.errors.program import DoesNotFailError, DoesNotPassError
from replay_dd.input.ending import Ending, Oracle
from replay_dd.input.levels import Course
from replay_dd.input.space import Space
from replay_dd.input.target import PLACE, Target
from replay_dd.outcome import Outcome

TIME_LIMIT_FACTOR = 20
TIME_LIMIT_LEAST_S = 10.0
_FIRST_RUNS = 2


class InputUnits(Circumstance[Ending]):
    """The units of one level.

    Args:
        target: runs the program.
        oracle: says what counts as a failure.
        space: the deltas.
        course: what to search after this level.
        isolate: look for the difference to the passing input, not for the smallest failing one.
        algorithm: a key of :data:`~replay_dd.circumstance.ALGORITHMS`.
        fixed_limit: keep the target's time limit.
        wanted: the failure sought; None to choose it from the first runs.
        passes: how the passing input ends; None if it has not been run.
    """

    name = "input"
    subject = "input"
    flaky = True

    def __init__(
        self,
        target: Target,
        oracle: Oracle,
        space: Space,
        course: Course,
        *,
        isolate: bool,
        algorithm: str,
        fixed_limit: bool,
        wanted: Ending | None = None,
        passes: Ending | None = None,
    ) -> None:
        self.space = space
        self.delta = space.unit
        self.universe = space.all
        self.goal = Goal.ISOLATE if isolate else Goal.SIMPLIFY
        self.algorithm = algorithm
        self._target = target
        self._oracle = oracle
        self._course = course
        self._fixed_limit = fixed_limit
        self._wanted = wanted
        self._passes = passes

    @property
    def wanted(self) -> Ending:
        """The failure sought."""
        assert self._wanted is not None, "settle was not called"
        return self._wanted

    def content(self, configuration: IntervalSet) -> bytes:
        """The file that a configuration stands for."""
        return self.space.build(configuration)

    def run(self, configuration: IntervalSet, *, fresh: bool = False) -> Ending:
        """Run the program on the units of a configuration."""
        ending = self._oracle.ending(self._target.run(self.content(configuration)))
        if self.goal is Goal.ISOLATE and configuration == self.base and self._passes is None:
            # With a pattern, how the passing input ends is how programs end that pass, whatever their exit status.
            self._passes = ending
        return ending

    def judge(self, run: Ending) -> Judgement:
        """By comparison with the failure sought."""
        failed = run.verdict is Outcome.FAIL
        if failed and (self._wanted is None or run.signature == self._wanted.signature):
            return Judgement(Outcome.FAIL, run.words, run.signature, failed=True)
        if self._oracle.pattern and self._passes is not None and run.signature == self._passes.signature:
            return Judgement(Outcome.PASS, run.words, run.signature)
        return Judgement(Outcome.UNRESOLVED if failed else run.verdict, run.words, run.signature, failed)

    def key(self, configuration: IntervalSet) -> Hashable:
        """The content of the file."""
        return hashlib.blake2b(self.content(configuration), digest_size=16).digest()

    def words(self, delta: int) -> str:
        """The unit or the change."""
        return self.space.words(delta)

    def settle(self, runs: Sequence[Ending]) -> None:
        """Choose the most frequent failure, and the time limit.

        Raises:
            DoesNotFailError: no run fails.
        """
        failures = Counter(run.signature for run in runs if run.verdict is Outcome.FAIL)
        if not failures:
            if len(runs) > _FIRST_RUNS:
                raise self._no_failure(runs[0])
            return
        ((signature, _),) = failures.most_common(1)
        self._wanted = next(run for run in runs if run.signature == signature)
        if not self._fixed_limit and signature != "time-out":
            longest_s = max(run.seconds for run in runs)
            self._target.time_limit_s = max(TIME_LIMIT_FACTOR * longest_s, TIME_LIMIT_LEAST_S)

    def _no_failure(self, run: Ending) -> DoesNotFailError:
        if self._oracle.script:
            hint = "A script ends with status 0 for good, 125 if it cannot tell, and any other below 128 for bad."
        elif self._oracle.pattern:
            hint = "Look at what the command prints; a regular expression is matched against all of its output."
        else:
            hint = (
                "A failure is an exit status other than 0, a signal, or a run that reaches `--time-limit`. If it is "
                "something that the program prints, give that with `--grep REGEX`."
            )
        return DoesNotFailError(f"The command does not fail on {self._target.name}: {run.words}.", hint)

    def base_failed(self, judgement: Judgement) -> None:
        """Refuse to reduce an input that does not matter.

        Raises:
            DoesNotPassError: always.
        """
        hint = "Then no part of the input is needed. Check that the failure is not one of the command itself."
        if not self._target.takes_a_file:
            hint = (
                f"The command gets the input as its standard input. If it wants a file, write {PLACE} where the path "
                "belongs."
            )
        raise DoesNotPassError(f"The command fails in the same way on an empty input: {judgement.words}.", hint)

    def refine(self, passing: Found[Ending], failing: Found[Ending]) -> InputUnits | None:
        """The next level, on what is left."""
        try:
            space = self._course.send((self.content(passing.configuration), self.content(failing.configuration)))
        except StopIteration:
            return None
        return InputUnits(
            *(self._target, self._oracle, space, self._course),
            isolate=self.goal is Goal.ISOLATE,
            algorithm=self.algorithm,
            fixed_limit=True,
            wanted=self._wanted,
            passes=self._passes,
        )
