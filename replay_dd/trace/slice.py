"""Finds the executed statements that an outcome needs: ``replay-dd trace``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from replay_dd.dd import IntervalSet
from replay_dd.errors.program import NoOutcomeError, NotTraceableError, TimeLimitError
from replay_dd.experiment.driver import NO_OBSERVER, Observer, isolate_cause
from replay_dd.experiment.process import private_folder
from replay_dd.experiment.result import Isolation
from replay_dd.trace.circumstance import ExecutedStatements, Trees, by_statement, one_by_one
from replay_dd.trace.forks import Tree
from replay_dd.trace.model import Trace, trace_from
from replay_dd.trace.outcomes import Run, Sought, run_from, sought_in
from replay_dd.trace.target import Target

DEFAULT_TIME_LIMIT_S = 60.0
MOST_STATEMENTS = 1_000_000
ALGORITHMS = ("adaptive", "bisection", "ddmin")  # the default first: what is needed mostly stands together
LEVELS = ("statements", "executions")
_LIMIT_FACTOR = 20
_LEAST_LIMIT_S = 5.0
_OWN_LOADERS = ("pytest", "py.test")
_MOST_OUTPUT = 16 << 20
_SAYS_NO_VALUE = re.compile(r"AssertionError\b[^\d'\"]*")


@dataclass(frozen=True)
class Slice:
    """Which executed statements an outcome needs.

    Attributes:
        isolation: the driver's result.
        trace: all executed statements.
        kept: those that the outcome needs; as far as the search has come.
        sought: the outcome.
        whole: a run of the whole program.
        notes: what else should be known.
    """

    isolation: Isolation[Run]
    trace: Trace
    kept: IntervalSet
    sought: Sought
    whole: Run
    notes: tuple[str, ...] = ()

    @property
    def needed(self) -> Mapping[int, int]:
        """How many executions of each statement are needed, by the number of the statement; none of the others."""
        return Counter(self.trace.sites[event] for event in self.kept)


def find_slice(
    target: Target,
    *,
    output_line: str | None = None,
    variable: str | None = None,
    algorithm: str = ALGORITHMS[0],
    levels: str = LEVELS[0],
    jobs: int = 1,
    max_tests: int | None = None,
    time_budget_s: float | None = None,
    observer: Observer = NO_OBSERVER,
) -> Slice:
    """Find the smallest part of a program's executed statements that still has one of its outcomes.

    Args:
        target: the program.
        output_line: look for this line of the output only: its number, from 1, or a text in it.
        variable: look for the final value of this variable.
        algorithm: one of :data:`ALGORITHMS`.
        levels: one of :data:`LEVELS`: search all executions of a statement together first, or single ones at once.
        jobs: the number of runs at the same time; the answer does not depend on it.
        max_tests: stop with the best result so far after this many tests.
        time_budget_s: stop with the best result so far after this many seconds.
        observer: receives progress.

    Raises:
        NotTraceableError: the program cannot be traced.
        NoOutcomeError: it has no such outcome.
        NotDeterministicError: the outcome is not the same each time.
        TimeLimitError: the program does not end.
        ProgramNotFoundError: there is no such program.

    Source: STRIPE, AADEBUG 2000, section 6.
    """
    limited = target.time_limit_s is not None
    if target.time_limit_s is None:
        target.time_limit_s = DEFAULT_TIME_LIMIT_S
    with private_folder() as folder:
        observer.on_stage("noting the statements that the program executes")
        traces, runs = [], []
        for number in range(2):
            whole = _recorded(target, variable)
            assert whole.told.report is not None
            runs.append(whole)
            traces.append(trace_from(whole.told.report["trace"], folder.path / f"trace{number}"))
        trace, whole = traces[0], runs[0]
        sought = sought_in(whole, runs[1], output_line, variable)
        notes = list(_notes(trace, traces[1], sought, whole))
        if not limited:
            target.time_limit_s = max(_LIMIT_FACTOR * max(run.told.seconds for run in runs), _LEAST_LIMIT_S)
        by_line = levels == LEVELS[0]
        groups = by_statement(trace) if by_line else one_by_one(trace)
        with Trees(target, trace, sought) as trees:
            isolation = isolate_cause(
                ExecutedStatements(trees, groups, by_line=by_line, algorithm=algorithm),
                jobs=jobs,
                max_tests=max_tests,
                time_limit_s=time_budget_s,
                observer=observer,
            )
    final = isolation.circumstance
    assert isinstance(final, ExecutedStatements)
    kept = trace.reached(final.events(isolation.failing.configuration))
    return Slice(isolation, trace, kept, sought, whole, tuple(notes))


def _recorded(target: Target, variable: str | None) -> Run:
    """Run the whole program, noting its statements."""
    tree = Tree(target)
    try:
        told = tree.record(MOST_STATEMENTS, variable)
    finally:
        tree.close()
    report = told.report
    if told.timed_out:
        raise TimeLimitError(
            f"{target.name} does not end within {target.time_limit_s:g} s.",
            "Give it an input on which it ends sooner, or more time with `--time-limit`.",
        )
    if report is None:
        raise NotTraceableError(
            f"{target.name} cannot be traced: {run_from(told).trouble}, so there is no record of what it executed.",
            "A trace needs a run that ends by itself: normally, with an exit status or an exception. `python -X "
            f"faulthandler {target.name}` shows where a signal ends it.",
        )
    if report.get("too_many"):
        raise NotTraceableError(
            f"{target.name} executes more than {MOST_STATEMENTS:,} statements: too many to be searched.",
            "Give it a smaller input; `replay-dd input` reduces one.",
        )
    if "refused" in report:
        raise NotTraceableError(
            f"{target.name} starts {report['refused']}: only programs with one thread and one process can be traced.",
            "If threads make it fail: `replay-dd hunt` finds out how, `replay-dd schedules --slice` what that needs.",
        )
    if len(told.output) > _MOST_OUTPUT:
        raise NoOutcomeError(
            f"{target.name} prints more than {_MOST_OUTPUT >> 20} MB.", "Give it an input on which it prints less."
        )
    if not report["trace"]["sites"]:
        said = f"{target.name} executes no statement of your own modules."
        if target.name in _OWN_LOADERS:
            raise NotTraceableError(
                f"{said} It loads tests in a way of its own, which cannot be traced.",
                "Call the test in a script: `from test_it import test_one; test_one()`.",
            )
        raise NotTraceableError(said)
    return run_from(told)


def _notes(trace: Trace, again: Trace, sought: Sought, whole: Run) -> list[str]:
    notes = []
    if not trace.same_course(again):
        notes.append(
            "Two runs of the whole program did not execute the same statements: it depends on time, randomness or "
            "addresses, so tests may come out differently another time."
        )
    whole_statements = [f"{what} ({file}:{line})" for file, line, what in trace.undivided]
    if whole_statements:
        notes.append(f"Never left out by themselves: {', '.join(dict.fromkeys(whole_statements))}.")
    if sought.words.startswith("exit status"):
        notes.append(
            "Whatever leads to this exit status counts; `--output-line` or `--variable` ask for something else."
        )
    if sought.name == "exception" and _SAYS_NO_VALUE.fullmatch(sought.words):
        notes.append("Whatever value is wrong there counts; `--output-line` or `--variable` ask for one.")
    if sought.name == "output-line":
        same = whole.output.splitlines()
        count = sum(sought.shows(_with_output(whole, line)) for line in same)
        if count > 1:
            notes.append(f"The program prints this line {count:,} times; once is enough.")
    return notes


def _with_output(run: Run, output: bytes) -> Run:
    return replace(run, told=replace(run.told, output=output))
