"""Reduces a program on which a tool for Python fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from replay_dd.code.circumstance import CodeEdits
from replay_dd.code.course import course
from replay_dd.code.source import Program, read_python
from replay_dd.code.syntax import check_installed
from replay_dd.code.target import CodeTarget
from replay_dd.errors.user import InputError
from replay_dd.experiment.driver import NO_OBSERVER, Observer, isolate_cause
from replay_dd.experiment.ending import Ending, Oracle
from replay_dd.experiment.result import Isolation
from replay_dd.input.forks import Runs
from replay_dd.input.program_runs import jobs_for, note_of_other_words
from replay_dd.input.reduce import DEFAULT_TIME_LIMIT_S


@dataclass(frozen=True, slots=True)
class CodeReduction:
    """What is left of a program.

    Attributes:
        isolation: the driver's result.
        whole: the original program.
        failing: the smallest failing program.
        first: how the tool fails on the whole program.
        notes: what else should be known.
    """

    isolation: Isolation[Ending]
    whole: Program
    failing: Program
    first: Ending
    notes: tuple[str, ...] = ()

    @property
    def all_notes(self) -> tuple[str, ...]:
        """The notes, and whether the tool now says something else than with the whole program."""
        return (*self.notes, *note_of_other_words(self.isolation.failing.run, self.first))


def reduce_code(
    program: Program | bytes,
    target: CodeTarget | Sequence[str],
    *,
    oracle: Oracle | None = None,
    jobs: int = 1,
    max_tests: int | None = None,
    time_budget_s: float | None = None,
    may_fork: bool = True,
    observer: Observer = NO_OBSERVER,
) -> CodeReduction:
    """Find a small program on which a tool still fails in the same way.

    The result parses, and none of the edits that the search knows can be applied to it alone with the failure still
    there: it is 1-minimal under these edits.

    Args:
        program: the program on which it fails, or the content of its only file.
        target: runs the tool; or a command, in which ``{}`` stands for the path of the program.
        oracle: what counts as a failure; by default, an exit status other than 0, a signal, or the time limit.
        jobs: the number of runs at the same time; 1 is used if runs would disturb each other.
        max_tests: stop with the best result so far after this many tests.
        time_budget_s: stop with the best result so far after this many seconds.
        may_fork: fork a tool in Python where it first touches the program, rather than start it anew for each test.
        observer: receives progress.

    Raises:
        SoftwareMissingError: the syntax of Python is not installed.
        InputError: the program does not parse, or is empty.
        DoesNotFailError: the tool does not fail on it.
        DoesNotPassError: it fails on an empty program.
        ProgramNotFoundError: there is no such tool.
    """
    check_installed()
    if isinstance(program, bytes):
        program = Program((read_python("program.py", program),))
    if not isinstance(target, CodeTarget):
        target = CodeTarget(tuple(target), program.files[0].name)
    begin = partial(course, program)
    first = next(begin(), None)
    if first is None:
        raise InputError(
            "The program is empty: there is nothing to leave out.", "Give the program on which the tool fails."
        )
    limited = target.time_limit_s is not None
    if not limited:
        target.time_limit_s = DEFAULT_TIME_LIMIT_S
    jobs, notes = jobs_for(jobs, target, partial(target.run_program, program), "tool")
    oracle = (oracle or Oracle()).named((file.name for file in program.files), (file.content for file in program.files))
    with Runs(target, oracle, may_fork=may_fork) as runs:
        circumstance = CodeEdits(target, oracle, first, begin, runs=runs, fixed_limit=limited)
        isolation = isolate_cause(
            circumstance, jobs=jobs, max_tests=max_tests, time_limit_s=time_budget_s, observer=observer
        )
    final = isolation.circumstance
    assert isinstance(final, CodeEdits)
    failing = final.program(isolation.failing.configuration)
    return CodeReduction(isolation, program, failing, circumstance.wanted, (*notes, *runs.notes))
