"""Edits of a program as a failure circumstance.

Rules of this module:

* Each space is a search of its own, on the program that the previous one left. Equal programs share one run.
* A program that does not parse is not run: it is unresolved. All such programs count as one test.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable
from functools import partial
from typing import Unpack

from replay_dd.circumstance import Found, Judgement
from replay_dd.code.course import Course
from replay_dd.code.edits import Space
from replay_dd.code.source import Program
from replay_dd.code.target import CodeTarget
from replay_dd.dd import IntervalSet
from replay_dd.errors.program import DoesNotPassError
from replay_dd.experiment.ending import Ending, Oracle
from replay_dd.experiment.journal import recalled
from replay_dd.input.forks import Runs
from replay_dd.input.program_runs import Known, ProgramRuns
from replay_dd.input.space import shown
from replay_dd.input.target import PLACE
from replay_dd.outcome import Outcome

_DOES_NOT_PARSE = "it does not parse"


class CodeEdits(ProgramRuns):
    """The edits of one space.

    Args:
        target: runs the tool.
        oracle: says what counts as a failure.
        space: the deltas.
        begin: begins the course of searches that leads here; the driver may search again from the first one.
        course: the course, at this space; None for the first space, where each refinement begins a new one.
        runs: makes the runs; by default, each in a process of its own.
        known: what else :class:`~replay_dd.input.program_runs.ProgramRuns` takes.
    """

    name = "code"
    subject = "program"
    algorithm = "adaptive"  # few statements of a program are needed, and nearly all of what is in those

    def __init__(
        self,
        target: CodeTarget,
        oracle: Oracle,
        space: Space,
        begin: Callable[[], Course],
        course: Course | None = None,
        *,
        runs: Runs | None = None,
        **known: Unpack[Known],
    ) -> None:
        super().__init__(target, oracle, **known)
        self.target = target
        self.space = space
        self.delta = space.unit
        self.universe = space.all
        self.confirmed = space.confirmed
        self._runs = runs or Runs(target, oracle, may_fork=False)
        self._begin = begin
        self._course = course
        self._keys: dict[IntervalSet, Hashable] = {}

    def program(self, configuration: IntervalSet) -> Program:
        """The program that a configuration stands for."""
        return self.space.build(configuration)

    def run(self, configuration: IntervalSet, *, fresh: bool = False) -> Ending:
        """Run the tool on the program of a configuration."""
        if self.key(configuration) == _DOES_NOT_PARSE:
            return Ending(Outcome.UNRESOLVED, _DOES_NOT_PARSE, _DOES_NOT_PARSE)
        program = self.program(configuration)
        if self.target.arguments:
            if fresh:
                return self._of_several_files(program, 1.0)
            return recalled(
                Ending,
                lambda: [(file.name, file.written) for file in program.files],
                lambda: self._of_several_files(program, self._runs.longer),
            )
        return self._runs.ending(program.files[0].written, fresh=fresh)

    def _of_several_files(self, program: Program, longer: float) -> Ending:
        finished = self.target.run_program(program, longer=longer)
        return self._oracle.ending(finished, b"\n".join(file.content for file in program.files))

    def measure(self, configuration: IntervalSet) -> int:
        """The size of the program in bytes."""
        return self.program(configuration).size

    def key(self, configuration: IntervalSet) -> Hashable:
        """The text of the program."""
        # The driver asks several times, and parsing is what takes the time.
        if configuration not in self._keys:
            self._keys[configuration] = self._key_of(self.program(configuration))
        return self._keys[configuration]

    def _key_of(self, program: Program) -> Hashable:
        digest = hashlib.blake2b(digest_size=16)
        for file in program.files:
            digest.update(f"{file.name}\0{len(file.content)}\0".encode())
            digest.update(file.content)
        return digest.digest() if program.parses else _DOES_NOT_PARSE

    def words(self, delta: int) -> str:
        """What the edit is about, and where it is."""
        edit, file = self.space.edits[delta], self.space.file_of(delta)
        if edit.removes:
            return f"the file {file.name}"
        line = file.content.count(b"\n", 0, edit.start) + 1
        return f"{file.name}, line {line}, {self.delta}: {shown(file.content[edit.start : edit.stop])}"

    def search_for_longer(self) -> None:
        """Let runs of the search go on for longer than the time limit."""
        program = self.program(self.universe)
        if self.target.arguments:
            self._runs.search_for_longer(partial(self._of_several_files, program))
        else:
            self._runs.search_for_longer(partial(self._runs.afresh, program.files[0].written))

    def base_failed(self, judgement: Judgement) -> None:
        """Refuse to reduce a program that does not matter.

        Raises:
            DoesNotPassError: always.
        """
        hint = "Then no part of the program is needed. Check that the failure is not one of the command itself."
        if not self.target.takes_a_file:
            hint = (
                f"The command gets the program as its standard input. If it wants a file, write {PLACE} where the path "
                "belongs."
            )
        raise DoesNotPassError(f"The command fails in the same way on an empty program: {judgement.words}.", hint)

    def refine(self, passing: Found[Ending], failing: Found[Ending]) -> CodeEdits | None:
        """The next space, on what is left."""
        course = self._course
        if course is None:
            course = self._begin()
            next(course)  # this space
        try:
            space = course.send(self.program(failing.configuration))
        except StopIteration:
            return None
        return CodeEdits(
            *(self.target, self._oracle, space, self._begin, course),
            runs=self._runs,
            fixed_limit=True,
            wanted=self._wanted,
            passes=self._passes,
        )
