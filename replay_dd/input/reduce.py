"""Reduces a failing input, or isolates its difference from a passing one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from replay_dd.circumstance import Found
from replay_dd.dd import IntervalSet
from replay_dd.errors.user import InputError, NoDifferenceError
from replay_dd.experiment.driver import NO_OBSERVER, Observer, isolate_cause
from replay_dd.experiment.ending import Ending, Oracle
from replay_dd.experiment.result import Isolation
from replay_dd.input.circumstance import InputUnits
from replay_dd.input.folder_levels import LevelOfFile, folder_course, levels_in_folder
from replay_dd.input.forks import Runs
from replay_dd.input.levels import Tree, course
from replay_dd.input.program_runs import jobs_for, note_of_details, note_of_other_words, other_quotes
from replay_dd.input.space import joined
from replay_dd.input.target import Target
from replay_dd.input.units import Level
from replay_dd.input.zeros import has_zeros_for

DEFAULT_TIME_LIMIT_S = 60.0
ALGORITHMS = ("bisection", "adaptive", "ddmin")
_WRITTEN_ANEW = "The archive was written anew from its files, uncompressed if it is a ZIP file."
_CORRECTED = "Lengths, places or checksums in the input were corrected to match what is left."
_ZEROS = (
    "All but {:,} of these bytes are zero: in the place of what does not matter, zeros keep the others where they are."
)
_REWORDED = "Some words of the input became shorter ones, the same everywhere."


@dataclass(frozen=True, slots=True)
class InputIsolation:
    """What makes a program fail on a file.

    Attributes:
        isolation: the driver's result.
        whole: the original failing content.
        failing: the smallest failing content, or the one closest to the passing one.
        passing: the passing content closest to it; None if the failing one was simplified.
        first: how the whole input fails.
        notes: what else should be known.
        kept: which bytes of the whole are left, if it was simplified.
    """

    isolation: Isolation[Ending]
    whole: bytes
    failing: bytes
    passing: bytes | None
    first: Ending
    notes: tuple[str, ...] = ()
    kept: IntervalSet | None = None

    @property
    def is_rewritten(self) -> bool:
        """Whether the input was written in another way first, so that it is not known which of its bytes are left."""
        return self.kept is not None and self.kept.count == len(self.whole) and self.failing != self.whole

    @property
    def said_at_first(self) -> str:
        """What the program said of the failure on the whole input, if that quoted something else; otherwise empty.

        It is empty, too, if the program says something else in other words: a note tells that.
        """
        run = self.isolation.failing.run
        return "" if run is None or note_of_other_words(run, self.first) else other_quotes(run, self.first)

    @property
    def all_notes(self) -> tuple[str, ...]:
        """The notes, and whether the program now says something else than with the whole input."""
        return (*self.notes, *note_of_other_words(self.isolation.failing.run, self.first))


def reduce_input(
    content: bytes,
    target: Target | Sequence[str],
    *,
    oracle: Oracle | None = None,
    levels: Sequence[Level | Tree] | None = None,
    levels_of_files: Sequence[LevelOfFile] | None = None,
    passing: bytes | None = None,
    algorithm: str = ALGORITHMS[0],
    jobs: int = 1,
    max_tests: int | None = None,
    time_budget_s: float | None = None,
    may_fork: bool = True,
    observer: Observer = NO_OBSERVER,
) -> InputIsolation:
    """Find the smallest part of an input that still makes a program fail, or its failing difference from another one.

    Args:
        content: the failing input.
        target: runs the program; or a command, in which ``{}`` stands for the path of the input.
        oracle: what counts as a failure; by default, an exit status other than 0, a signal, or the time limit.
        levels: the units, coarse ones first; by default what brackets enclose and lines, then characters; bytes if the
            content is not text.
        levels_of_files: the levels inside the files, if the input is a folder.
        passing: if given, isolate the difference from this input, on which the program passes.
        algorithm: how to simplify, one of :data:`ALGORITHMS`; differences are isolated by dd.
        jobs: the number of runs at the same time; 1 is used if runs would disturb each other.
        max_tests: stop with the best result so far after this many tests.
        time_budget_s: stop with the best result so far after this many seconds.
        may_fork: fork a Python program where it first touches its input, rather than start it anew for each test.
        observer: receives progress.

    Raises:
        NoDifferenceError: both inputs are the same.
        DoesNotFailError: the program does not fail on the failing input.
        DoesNotPassError: it fails on the passing one, or on an empty one.
        ProgramNotFoundError: there is no such program.
    """
    if not isinstance(target, Target):
        target = Target(tuple(target), "input")
    if content == passing:
        raise NoDifferenceError(
            "The failing and the passing input are the same.", "Give an input on which the program passes."
        )
    if not content:
        raise InputError(
            "The failing input is empty: there is nothing to leave out.", "Give the input on which the program fails."
        )
    limited = target.time_limit_s is not None
    if not limited:
        target.time_limit_s = DEFAULT_TIME_LIMIT_S
    jobs, notes = jobs_for(jobs, target, partial(target.run, content), "program")
    if target.packing is not None:
        begin = partial(folder_course, content, target.packing, levels_of_files or levels_in_folder())
    else:
        begin = partial(course, content, passing, levels)
    oracle = (oracle or Oracle()).about(content, *(() if passing is None else (passing,))).named(target.names(content))
    with Runs(target, oracle, may_fork=may_fork) as runs:
        circumstance = InputUnits(
            *(target, oracle, next(begin()), begin),
            isolate=passing is not None,
            algorithm="dd" if passing is not None else algorithm,
            runs=runs,
            fixed_limit=limited,
        )
        isolation = isolate_cause(
            circumstance,
            jobs=jobs,
            max_tests=max_tests,
            time_limit_s=time_budget_s,
            observer=observer,
        )
    final = isolation.circumstance
    assert isinstance(final, InputUnits)

    def content_of(found: Found[Ending]) -> bytes:
        return final.content(found.configuration)

    failing = content_of(isolation.failing)
    if (hung := runs.hung(failing)) is not None and isolation.proof.holds:
        # Only evidence tells where a program hangs.
        seen = replace(isolation.failing, run=hung)
        isolation = replace(isolation, failing=seen, failure=circumstance.judge(hung))
    kept = None if passing is not None else final.bytes_kept(isolation.failing.configuration)
    left = None if kept is None else joined(content, kept)
    if left is not None and failing != left:
        if has_zeros_for(left, failing):
            notes = (*notes, _ZEROS.format(len(failing) - failing.count(0)))
        else:
            notes = (*notes, _REWORDED if final.is_reworded(isolation.failing.configuration) else _CORRECTED)
    if target.archive is not None:
        notes = (*notes, _WRITTEN_ANEW)
    return InputIsolation(
        isolation,
        content,
        failing,
        None if passing is None else content_of(isolation.passing),
        circumstance.wanted,
        (*notes, *note_of_details(circumstance.wanted), *runs.notes),
        kept,
    )
