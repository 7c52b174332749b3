"""Which statements of the program two isolated schedules need: without any other of them, one fails and one passes.

Rules of this module:

* A statement is left out of the source text: ``pass`` stands in its place, and all lines keep their numbers. Yield
  points are fewer then, so the schedules are not repeated by time: both switch at the same visits of the same lines.
* FAIL means that the failing schedule still fails in the same way, with each of its switches made, and that the passing
  one still passes, as far as its switches can still be made. Where the failing schedule cannot be made, or both fail,
  the test says nothing.
* Each test runs in a copy of the working folder. The program itself is never changed.

Source: observation-based slicing: D. Binkley et al., "ORBS: Language-Independent Program Slicing", FSE 2014; here with
two executions that differ in their schedule.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from replay_dd.circumstance import Circumstance, Goal, Judgement
from replay_dd.dd import IntervalSet
from replay_dd.errors.user import LogError
from replay_dd.experiment.driver import NO_OBSERVER, Observer, isolate_cause
from replay_dd.experiment.process import private_folder
from replay_dd.experiment.result import Isolation
from replay_dd.experiment.working_copy import MOST_BYTES, MOST_FILES, copy_folder
from replay_dd.outcome import Outcome
from replay_dd.python_sources import parsed
from replay_dd.schedules.anchors import with_anchors
from replay_dd.schedules.failures.signature import signature_of
from replay_dd.schedules.model import Log
from replay_dd.schedules.replaying.anchored_replay import AnchoredReplay, replay_by_anchors
from replay_dd.schedules.replaying.replay import replay

_DOES_NOT_PARSE = "it does not parse"
_LEAST_LIMIT_S = 5.0
_LIMIT_FACTOR = 20


class Statement(NamedTuple):
    """A statement of the program.

    Attributes:
        file: the short name of its file.
        line: where it begins.
        end_line: where it ends.
        start: its first byte in the file.
        stop: the byte after its last one.
    """

    file: str
    line: int
    end_line: int
    start: int
    stop: int


class NeededStatements(NamedTuple):
    """The answer.

    Attributes:
        isolation: the search.
        sources: the text of each file.
        statements: all statements of the program.
        needed: those that are left.
    """

    isolation: Isolation[Twins]
    sources: Mapping[str, bytes]
    statements: tuple[Statement, ...]
    needed: tuple[Statement, ...]

    def lines_of(self, file: str) -> frozenset[int]:
        """The lines of a file with a needed statement; of one that has others inside, the line that it begins in."""
        own = [one for one in self.needed if one.file == file]
        lines: set[int] = set()
        for one in own:
            inside = [other.line for other in self.statements if other.file == file and _is_inside(other, one)]
            lines.update(range(one.line, min([one.end_line + 1, *(line for line in inside if line > one.line)])))
        return frozenset(lines)


class Twins(NamedTuple):
    """Both schedules on one version of the program.

    Attributes:
        failing: the replay of the failing one; None if the program does not parse.
        passing: that of the passing one; None if the failing one did not fail.
    """

    failing: AnchoredReplay | None
    passing: AnchoredReplay | None = None


class ProgramStatements(Circumstance[Twins]):
    """The statements of a program as deltas.

    Args:
        passing: the log of the passing run, with anchors.
        failing: the log of the failing one.
        sources: the text of each file.
        statements: its statements.
        time_limit_s: seconds after which a run is killed.
    """

    name = "statements"
    subject = "program"
    delta = "statement"
    goal = Goal.SIMPLIFY
    algorithm = "adaptive"

    def __init__(
        self,
        passing: Log,
        failing: Log,
        sources: Mapping[str, bytes],
        statements: tuple[Statement, ...],
        time_limit_s: float | None,
    ) -> None:
        self._passing, self._failing = passing, failing
        self._sources = sources
        self._statements = statements
        self._time_limit_s = time_limit_s
        self.universe = IntervalSet.range(0, len(statements))

    def texts(self, configuration: IntervalSet) -> dict[str, bytes]:
        """The files with these statements only."""
        left_out = [self._statements[number] for number in self.universe - configuration]
        return {
            file: without(text, [one for one in left_out if one.file == file]) for file, text in self._sources.items()
        }

    def key(self, configuration: IntervalSet) -> Hashable:
        """The texts."""
        texts = self.texts(configuration)
        if not all(map(_parses, texts.values())):
            return _DOES_NOT_PARSE
        return hashlib.blake2b(b"\0".join(texts.values()), digest_size=16).digest()

    def run(self, configuration: IntervalSet, *, fresh: bool = False) -> Twins:
        """Run both schedules."""
        if self.key(configuration) == _DOES_NOT_PARSE:
            return Twins(None)
        texts = self.texts(configuration)
        failing = self._replayed(self._failing, texts)
        if failing.outcome is not Outcome.FAIL or failing.missed:
            return Twins(failing)
        return Twins(failing, self._replayed(self._passing, texts))

    def _replayed(self, log: Log, texts: Mapping[str, bytes]) -> AnchoredReplay:
        with private_folder() as folder:
            work = folder.path / "sliced"
            copy = copy_folder(Path(log.program.directory), work, most_bytes=MOST_BYTES, most_files=MOST_FILES)
            for file, text in texts.items():
                (work / file).unlink(missing_ok=True)
                (work / file).write_bytes(text)
            program = replace(
                log.program,
                directory=str(work),
                command=tuple(copy.argument(word) for word in log.program.command),
                environment=copy.environment(log.program.environment),
            )
            return replay_by_anchors(replace(log, program=program), time_limit_s=self._time_limit_s)

    def judge(self, run: Twins) -> Judgement:
        """By both schedules."""
        if run.failing is None:
            return Judgement(Outcome.UNRESOLVED, _DOES_NOT_PARSE, _DOES_NOT_PARSE)
        ending = signature_of(run.failing.run.log.ending)
        if run.failing.missed:
            return Judgement(Outcome.UNRESOLVED, "the failing schedule cannot be made", "missed", ending.failed)
        if run.passing is None:
            outcome = Outcome.PASS if run.failing.outcome is Outcome.PASS else Outcome.UNRESOLVED
            return Judgement(outcome, ending.text, ending.text, ending.failed)
        other = signature_of(run.passing.run.log.ending)
        if run.passing.outcome is not Outcome.PASS:
            return Judgement(
                Outcome.UNRESOLVED, f"the passing schedule fails, too: {other.text}", other.text, failed=True
            )
        return Judgement(Outcome.FAIL, ending.text, "fails and passes", failed=True)

    def compare(self, one: Twins, other: Twins) -> str:
        """Why two runs of the same statements do not end alike."""
        judged = [self.judge(run) for run in (one, other)]
        if judged[0].outcome is judged[1].outcome:
            return ""
        return " and ".join(judgement.words for judgement in judged)

    def words(self, delta: int) -> str:
        """Where the statement is."""
        statement = self._statements[delta]
        return f"{statement.file}:{statement.line}"


def find_needed_statements(
    passing: Log,
    failing: Log,
    *,
    jobs: int = 1,
    time_limit_s: float | None = None,
    max_tests: int | None = None,
    time_budget_s: float | None = None,
    observer: Observer = NO_OBSERVER,
) -> NeededStatements:
    """Find the statements that two schedules need so that one of them fails and the other one passes.

    Args:
        passing: the log of the final passing run of an isolation.
        failing: that of the failing one.
        jobs: the number of tests at the same time; the answer does not depend on it.
        time_limit_s: seconds after which a run is killed; by default 20 times the recorded run, and 5 s.
        max_tests: stop with the best result so far after this many tests.
        time_budget_s: stop with the best result so far after this many seconds.
        observer: receives progress.

    Raises:
        LogError: the program has no sources of its own in its working folder.
        NotReproducedError, NotDeterministicError: the schedules are not the same by source lines.
        FolderTooLargeError: the working folder cannot be copied.
    """
    sources = dict(_sources(failing))
    if not sources:
        raise LogError(
            "None of the program's files is in its working folder, so no statement can be left out.",
            "Record it in the folder that holds its sources.",
        )
    statements = tuple(one for file, text in sources.items() for one in statements_of(file, text))
    # Schedules are found again by lines and visits, which only a replay counts.
    twins = [
        with_anchors(replay(log, time_limit_s=time_limit_s, count_visits=True).run.log) for log in (passing, failing)
    ]
    limit_s = time_limit_s or max(_LEAST_LIMIT_S, _LIMIT_FACTOR * max(log.ending.seconds for log in twins))
    circumstance = ProgramStatements(twins[0], twins[1], sources, statements, limit_s)
    isolation = isolate_cause(
        circumstance, jobs=jobs, max_tests=max_tests, time_limit_s=time_budget_s, observer=observer
    )
    left = isolation.failing.configuration
    needed = [statements[number] for number in left]
    gone = [statements[number] for number in circumstance.universe - left]
    standing = tuple(one for one in needed if not any(_is_inside(one, other) for other in gone))
    return NeededStatements(isolation, sources, statements, standing)


def statements_of(file: str, text: bytes) -> Iterator[Statement]:
    """The statements of a module, each before those inside it."""
    starts = [0]
    for whole_line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(whole_line))
    for node in _in_order(parsed(text)):
        decorators: list[ast.expr] = getattr(node, "decorator_list", [])
        line = decorators[0].lineno if decorators else node.lineno
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        stop = starts[node.end_lineno - 1] + node.end_col_offset
        yield Statement(file, line, node.end_lineno, starts[line - 1] + node.col_offset, stop)


def without(text: bytes, left_out: list[Statement]) -> bytes:
    """A text with ``pass`` in the place of some statements; lines keep their numbers."""
    made, at = [], 0
    for one in sorted(left_out, key=lambda one: (one.start, -one.stop)):
        if one.start < at:
            continue  # inside another one
        made += [text[at : one.start], b"pass", b"\n" * text.count(b"\n", one.start, one.stop)]
        at = one.stop
    return b"".join([*made, text[at:]])


def _in_order(node: ast.AST) -> Iterator[ast.stmt]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        yield from _in_order(child)


def _sources(log: Log) -> Iterator[tuple[str, bytes]]:
    for file in sorted(log.program.files):
        path = Path(log.program.directory, file)
        if file not in log.program.paths and path.is_file():
            yield file, path.read_bytes()


def _is_inside(one: Statement, other: Statement) -> bool:
    return one is not other and one.file == other.file and other.start <= one.start and one.stop <= other.stop


def _parses(text: bytes) -> bool:
    try:
        parsed(text)
    except (SyntaxError, ValueError):
        return False
    return True
