"""Replays logs of tests, whether asked for by ``--replay-dd-log`` or named by a marker as a known race.

Rules of this module:

* A log only says how to switch. What runs is this suite's own test, never the command of the log: a log may come from
  anywhere.
* A log that no longer fits is told as such, and fails the test: what it was to guard against may be back, unseen.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from replay_dd.outcome import Outcome
from replay_dd.pytest_plugin.elsewhere import as_if_here, same_folder
from replay_dd.pytest_plugin.results import DEADLOCK, HANG, RACE
from replay_dd.schedules.failures.signature import LIVELOCK, signature_of
from replay_dd.schedules.model import Log, Program
from replay_dd.schedules.replaying.anchored_replay import replay_by_anchors
from replay_dd.schedules.replaying.replay import replay
from replay_dd.schedules.running.program_files import changed_files

_LEAST_LIMIT_S = 120.0
_ADVICE = re.compile(r"\b[Uu]se '?-v")  # of pytest, to have it tell more


@dataclass(frozen=True)
class Replayed:
    """What a test did under the schedule of a log.

    Attributes:
        outcome: FAIL if it failed as recorded, PASS if it passed, UNRESOLVED if the log no longer fits.
        failure: how it ended, in words.
        why: why the log no longer fits.
        told: what pytest wrote about a failure.
        switch: the last place where a thread gives way that the default schedule would not have switched; empty if
            there is none.
        path: the file of that place.
        line: its number.
        kind: which kind of failure that is: one of :data:`~replay_dd.pytest_plugin.results.KINDS`.
    """

    outcome: Outcome
    failure: str
    why: str = ""
    told: str = ""
    switch: str = ""
    path: str = ""
    line: int = 0
    kind: str = RACE


def kind_of(log: Log) -> str:
    """Which kind of failure the schedule of a log brings about: one of those of the results."""
    hangs = {"deadlock": DEADLOCK, LIVELOCK: HANG}
    return hangs.get(signature_of(log.ending).kind, RACE)


def replayed(log: Log, program: Program, root: str, verbosity: int) -> Replayed:
    """Run a test under the schedule of a log: exactly, or, where the program has changed, by its source lines.

    Args:
        log: says how to switch.
        program: runs the test.
        root: the root of the tests.
        verbosity: how much pytest is asked to tell, as in ``--verbosity``.

    Raises:
        ReplayDDError: it cannot be run.
    """
    limit_s = max(_LEAST_LIMIT_S, 10 + 20 * log.ending.seconds)
    ours = replace(log, program=replace(program, files=log.program.files, paths=log.program.paths))
    if same_folder(log, program) and not changed_files(ours.program):
        exact = replay(ours, time_limit_s=limit_s)
        if exact.divergence is None:
            return _told(exact.run.log, exact.run.output, exact.outcome, verbosity, limit_s)
    anchored = replay_by_anchors(as_if_here(log, program, root), time_limit_s=limit_s)
    lost = anchored.missed
    if lost and anchored.outcome is not Outcome.FAIL:
        why = f"thread {lost[0].switch.thread} to {lost[0].switch.to}: {lost[0].why}"
        return Replayed(Outcome.UNRESOLVED, signature_of(anchored.run.log.ending).text, why)
    return _told(anchored.run.log, anchored.run.output, anchored.outcome, verbosity, limit_s)


def _told(log: Log, output: bytes, outcome: Outcome, verbosity: int, limit_s: float) -> Replayed:
    failure = signature_of(log.ending)
    if outcome is Outcome.UNRESOLVED:
        return Replayed(outcome, failure.text, f"it ends in another way: {failure.text}")
    chosen = [switch for switch in log.switches if not switch.by_default and switch.place is not None]
    told = _as_verbose(log, output, verbosity, limit_s) if outcome is Outcome.FAIL else ""
    if not chosen:
        return Replayed(outcome, failure.text, told=told, kind=kind_of(log))
    switch = chosen[-1]
    assert switch.place is not None
    words = f"thread {switch.thread} gives way to thread {switch.to} at {switch.place.file}:{switch.place.line}"
    return Replayed(
        *(outcome, failure.text, "", told),
        switch=f"{words} in {switch.place.function}",
        path=switch.place.path,
        line=switch.place.line,
        kind=kind_of(log),
    )


def repeated(log: Log, time_limit_s: float, verbosity: int) -> tuple[Log, str]:
    """A failing log, and what pytest writes about its failure when it is replayed; empty if it writes nothing.

    The replay also counts which visit of its place each switch is, by which it is found in a program that has changed.

    Args:
        log: the log.
        time_limit_s: seconds after which a replay is killed.
        verbosity: how much pytest is asked to tell, as in ``--verbosity``.
    """
    again = replay(log, time_limit_s=time_limit_s, count_visits=True)
    if again.divergence is None:
        log = replace(log, switches=again.run.log.switches)
    return log, _as_verbose(log, again.run.output, verbosity, time_limit_s)


def _as_verbose(log: Log, output: bytes, verbosity: int, time_limit_s: float) -> str:
    """What pytest writes about a failure if it is to tell that much.

    Runs are quiet, as the words of a failure belong to it and must not depend on options. So where pytest advises to
    ask for more, and that was done, the run is made once more.
    """
    told = "\n".join(failures_of(output))
    if verbosity > 0 and _ADVICE.search(told):
        *command, test = log.program.command
        verbose = replace(log.program, command=(*command, f"--verbosity={verbosity}", test))
        again = replay(replace(log, program=verbose), time_limit_s=time_limit_s)
        # To tell more is another end of the run; on the way there, the threads must do the same.
        if again.divergence is None or (again.divergence.expected, again.divergence.actual) == (None, None):
            return "\n".join(failures_of(again.run.output))
    return told


def failures_of(output: bytes) -> Iterator[str]:
    """The part of pytest's output that is headed FAILURES or ERRORS, without its headings."""
    inside = False
    for line in output.decode(errors="replace").splitlines():
        heading = re.fullmatch(r"=+ (.*?) =+", line)
        if heading is not None:
            inside = heading[1] in ("FAILURES", "ERRORS")
        elif inside and not re.fullmatch(r"_{2,} .* _{2,}", line):
            yield line


def test_of(log: Log) -> str:
    """The test that a log is of, as its command names it."""
    return log.program.command[-1]


def is_test_of(log: Log, node: str) -> bool:
    """Whether a log is of the test with this node id: folders above it may differ, as those of another machine do."""
    file, *names = node.split("::")
    for word in log.program.command:
        logged, *logged_names = word.split("::")
        if names and names == logged_names and _same_end(logged, file):
            return True
    return False


def may_hold_test_of(log: Log, file: str) -> bool:
    """Whether the test of a log may be in this file, as seen from the root of the tests."""
    files = [word.partition("::")[0] for word in log.program.command if "::" in word]
    return not files or any(_same_end(logged, file) for logged in files)


def _same_end(one: str, other: str) -> bool:
    first, second = (Path(os.path.normpath(path)).parts for path in (one, other))
    shorter = min(len(first), len(second))
    return first[-shorter:] == second[-shorter:]
