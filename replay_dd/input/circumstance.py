"""The units of a file as a failure circumstance.

Rules of this module:

* Each level is a search of its own, on the file that the previous one left. Files with the same content share one run,
  whatever level they come from.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable
from typing import Unpack

from replay_dd.circumstance import Found, Goal, Judgement
from replay_dd.dd import IntervalSet
from replay_dd.errors.program import DoesNotPassError
from replay_dd.experiment.ending import Ending, Oracle
from replay_dd.input.levels import Course
from replay_dd.input.program_runs import Known, ProgramRuns
from replay_dd.input.space import Space
from replay_dd.input.target import PLACE, Target


class InputUnits(ProgramRuns):
    """The units of one level.

    Args:
        target: runs the program.
        oracle: says what counts as a failure.
        space: the deltas.
        course: what to search after this level.
        isolate: look for the difference to the passing input, not for the smallest failing one.
        algorithm: a key of :data:`~replay_dd.circumstance.ALGORITHMS`.
        known: what else :class:`ProgramRuns` takes.
    """

    name = "input"
    subject = "input"

    def __init__(
        self,
        target: Target,
        oracle: Oracle,
        space: Space,
        course: Course,
        *,
        isolate: bool,
        algorithm: str,
        **known: Unpack[Known],
    ) -> None:
        super().__init__(target, oracle, **known)
        self.space = space
        self.delta = space.unit
        self.universe = space.all
        self.goal = Goal.ISOLATE if isolate else Goal.SIMPLIFY
        self.algorithm = algorithm
        self._course = course

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

    def measure(self, configuration: IntervalSet) -> int:
        """The size of the file in bytes."""
        return len(self.content(configuration))

    def key(self, configuration: IntervalSet) -> Hashable:
        """The content of the file."""
        return hashlib.blake2b(self.content(configuration), digest_size=16).digest()

    def words(self, delta: int) -> str:
        """The unit or the change."""
        return self.space.words(delta)

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
