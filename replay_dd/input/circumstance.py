"""The units of a file as a failure circumstance.

Rules of this module:

* Each level is a search of its own, on the file that the previous one left. Files with the same content share one run,
  whatever level they come from.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable
from functools import lru_cache, partial
from typing import Unpack

from replay_dd.circumstance import Found, Goal, Judgement
from replay_dd.dd import AdaptiveBisection, Algorithm, IntervalSet, NearbyBisection
from replay_dd.errors.program import DoesNotPassError
from replay_dd.experiment.ending import Ending, Oracle
from replay_dd.input.forks import Runs
from replay_dd.input.levels import Course
from replay_dd.input.program_runs import Known, ProgramRuns
from replay_dd.input.reworded import Reworded
from replay_dd.input.space import Left, Rewritten, Space
from replay_dd.input.sweep import Sweep
from replay_dd.input.target import PLACE, Target
from replay_dd.input.units import BYTES

_FEW = 24
_A_HANDFUL = 6
_REMEMBERED = 4


class InputUnits(ProgramRuns):
    """The units of one level.

    Args:
        target: runs the program.
        oracle: says what counts as a failure.
        space: the deltas.
        begin: begins the course of searches that leads here; the driver may search again from the first one.
        course: the course, at this space; None for the first space, where each refinement begins a new one.
        isolate: look for the difference to the passing input, not for the smallest failing one.
        algorithm: a key of :data:`~replay_dd.circumstance.ALGORITHMS`.
        runs: makes the runs; by default, each in a process of its own.
        origin: which bytes of the first space's content are that of this one; None for all.
        is_rewritten: whether they have become other ones, and perhaps more.
        is_reworded: whether words of it have become other words.
        known: what else :class:`ProgramRuns` takes.
    """

    name = "input"
    subject = "input"

    def __init__(
        self,
        target: Target,
        oracle: Oracle,
        space: Space,
        begin: Callable[[], Course],
        course: Course | None = None,
        *,
        isolate: bool,
        algorithm: str,
        runs: Runs | None = None,
        origin: IntervalSet | None = None,
        is_rewritten: bool = False,
        is_reworded: bool = False,
        **known: Unpack[Known],
    ) -> None:
        super().__init__(target, oracle, **known)
        self.space = space
        # A test asks for the file several times: to run it, for its key, and for its size.
        self._built = lru_cache(_REMEMBERED)(space.build)
        self._runs = runs or Runs(target, oracle, may_fork=False)
        self.delta = space.unit
        self.universe = space.all
        self.goal = Goal.ISOLATE if isolate else Goal.SIMPLIFY
        self.algorithm = algorithm
        self.confirmed = not space.coarse
        self._begin = begin
        self._course = course
        self._origin = origin
        self._is_rewritten = is_rewritten
        self._is_reworded = is_reworded

    def content(self, configuration: IntervalSet) -> bytes:
        """The file that a configuration stands for."""
        return self._built(configuration)

    def bytes_kept(self, configuration: IntervalSet) -> IntervalSet:
        """Which bytes of the whole input a configuration keeps, only while simplifying; all that became other ones."""
        origin = self._origin
        if self._is_rewritten or isinstance(self.space, Rewritten):
            return IntervalSet.range(0, len(self.content(self.universe))) if origin is None else origin
        assert isinstance(self.space, Left)
        kept = self.space.kept(configuration)
        if origin is None:
            return kept
        pieces = (origin.between(start, stop) for start, stop in kept.intervals)
        return IntervalSet.from_intervals(interval for piece in pieces for interval in piece.intervals)

    def is_reworded(self, configuration: IntervalSet) -> bool:
        """Whether words of the whole input have become other words in a configuration."""
        return self._is_reworded or (isinstance(self.space, Reworded) and configuration != self.universe)

    def run(self, configuration: IntervalSet, *, fresh: bool = False) -> Ending:
        """Run the program on the units of a configuration."""
        ending = self._runs.ending(self.content(configuration), fresh=fresh)
        if configuration == self.base:
            if self.goal is Goal.SIMPLIFY:
                if not self.content(configuration):
                    self.unlike_nothing(ending, len(self.content(self.universe)))
            elif self._passes is None:
                # With a pattern, how the passing input ends is how programs end that pass, whatever their exit status.
                self._passes = ending
        return ending

    def measure(self, configuration: IntervalSet) -> int:
        """The size of the file in bytes."""
        return self._target.size(self.content(configuration))

    def key(self, configuration: IntervalSet) -> Hashable:
        """The content of the file."""
        return hashlib.blake2b(self.content(configuration), digest_size=16).digest()

    def words(self, delta: int) -> str:
        """The unit or the change."""
        return self.space.words(delta)

    def own_algorithm(self, failing: IntervalSet) -> Algorithm | None:
        """A sweep where most units are needed, or for a handful; adaptive bisection for a few, and for bytes."""
        if self.algorithm not in ("bisection", "adaptive"):
            return None
        if self.space.dense or failing.count <= _A_HANDFUL:
            return Sweep(failing, base=self.base)
        if self.algorithm == "adaptive" or failing.count <= _FEW or self.space.unit == BYTES.unit:
            return AdaptiveBisection(failing, base=self.base)
        return NearbyBisection(failing, base=self.base, checked=not self.space.coarse)

    def search_for_longer(self) -> None:
        """Let runs of the search go on for longer than the time limit."""
        self._runs.search_for_longer(partial(self._runs.afresh, self.content(self.universe)))

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
        if self._target.leaves_files:
            hint = "The program leaves files, which its next run finds: `--fresh-copy` keeps them apart."
        hint += " If it says something else on the whole input, give that with `--grep REGEX`."
        raise DoesNotPassError(f"The command fails in the same way on an empty input: {judgement.words}.", hint)

    def refine(self, passing: Found[Ending], failing: Found[Ending]) -> InputUnits | None:
        """The next level, on what is left."""
        course = self._course
        if course is None:
            course = self._begin()
            next(course)  # this space
        try:
            space = course.send((self.content(passing.configuration), self.content(failing.configuration)))
        except StopIteration:
            return None
        return InputUnits(
            *(self._target, self._oracle, space, self._begin, course),
            isolate=self.goal is Goal.ISOLATE,
            algorithm=self.algorithm,
            runs=self._runs,
            origin=self.bytes_kept(failing.configuration) if self.goal is Goal.SIMPLIFY else None,
            is_rewritten=self._is_rewritten or isinstance(self.space, Rewritten),
            is_reworded=self.is_reworded(failing.configuration),
            fixed_limit=True,
            wanted=self._wanted,
            passes=self._passes,
        )
