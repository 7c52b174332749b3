"""Judges one program: does it pass plain, under the default schedule, under random ones, and replay to the same digest?

A *case* is a command that passes if it ends with status 0: one test method, or one test function of a package.
"""

from __future__ import annotations

import math
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from replay_dd.schedules.model import Program, Settings
from replay_dd.schedules.replaying.replay import replay_plan
from replay_dd.schedules.running.runner import Runner
from replay_dd.schedules.running.target import Plan, TargetRun, describe_program, run_target

RANDOM_SCHEDULES = 20
_FAILURES_BEFORE_STOP = 3  # a case that fails so often is no better known after more runs
# The last line of unittest and of pytest where nothing ran.
_SKIPPED = re.compile(r"^(OK|NO TESTS RAN) \(skipped=\d+\)|^=* ?\d+ skipped in|^\d+ skipped in", re.MULTILINE)


@dataclass
class Case:
    """One program and what became of it.

    Attributes:
        name: how it is called in the table.
        plain: ``passed``, ``skipped``, or how it failed, without replay-dd.
        threads: how many threads ran under the scheduler, the main thread among them; 0 if it was not tried.
        default: ``passed`` under the default schedule, or how it failed.
        random: the random schedules (their seeds) that were tried, and how each failed that did; empty text: passed.
        replays: the replays that were compared with their runs.
        diverged: which of them ended with another digest.
    """

    name: str
    plain: str = ""
    threads: int = 0
    default: str = ""
    random: dict[int, str] | None = None
    replays: int = 0
    diverged: list[str] | None = None

    @property
    def passes_plain(self) -> bool:
        return self.plain == "passed"

    @property
    def failed_seeds(self) -> list[int]:
        return [seed for seed, how in (self.random or {}).items() if how]

    def is_complete(self, schedules: int) -> bool:
        """Whether it was judged under so many random schedules, or as far as that makes sense."""
        return not self.is_fine or self.threads <= 1 or len(self.random or {}) >= schedules

    @property
    def is_fine(self) -> bool:
        """Whether it does under control all that it does plain."""
        return self.default == "passed" and not self.failed_seeds and not self.diverged

    def as_json(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value not in (None, "", 0, [], {})}

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Case:
        case = cls(**row)
        if case.random is not None:
            case.random = {int(seed): how for seed, how in case.random.items()}
        return case


@dataclass(frozen=True)
class Ways:
    """How to judge.

    Attributes:
        include: packages of the standard library that are counted.
        seeds: of the random schedules.
        plain_limit_s: seconds for a plain run.
        limit_s: seconds for a run under the scheduler.
        patience_s: seconds after which no further random schedule of a case is begun.
        files: a folder whose content each case gets a copy of, as its working directory.
    """

    include: tuple[str, ...] = ()
    seeds: range = range(1, RANDOM_SCHEDULES + 1)
    plain_limit_s: float = 120
    limit_s: float = 120
    patience_s: float = math.inf
    files: Path | None = None


def judge(name: str, command: tuple[str, ...], ways: Ways, known: Case | None = None) -> Case:
    """Run a case plain and under the scheduler.

    Args:
        name: how it is called in the table.
        command: the program and its arguments.
        ways: how to judge.
        known: what an earlier judgement found; if all was fine, only the schedules that it did not try are run.
    """
    with tempfile.TemporaryDirectory(prefix="replay-dd-case-") as folder:
        directory = Path(folder) / "work"
        if ways.files is None:
            directory.mkdir()
        else:
            shutil.copytree(ways.files, directory)
        settings = Settings(include=ways.include, start_ns=time.time_ns())
        if known is not None and known.is_fine and known.threads > 1:
            with Runner(describe_program(command, directory=directory), settings) as runner:
                _randomly(known, runner, ways)
            return known
        case = Case(name)
        case.plain = _plainly(command, directory, ways.plain_limit_s)
        if case.passes_plain:
            _under_control(case, describe_program(command, directory=directory), settings, ways)
        return case


def _plainly(command: tuple[str, ...], directory: Path, limit_s: float) -> str:
    try:
        done = subprocess.run(
            command, cwd=directory, stdin=subprocess.DEVNULL, capture_output=True, timeout=limit_s, check=False
        )
    except subprocess.TimeoutExpired:
        return "failed: time limit"
    said = (done.stdout + done.stderr).decode(errors="replace")
    if _SKIPPED.search(said):
        return "skipped"
    return "passed" if done.returncode == 0 else f"failed: {_last_words(said)}"


def _under_control(case: Case, program: Program, settings: Settings, ways: Ways) -> None:
    case.diverged = []
    first = run_target(program, settings, Plan(), time_limit_s=ways.limit_s)
    case.default = _how(first) or "passed"
    case.threads = len(first.log.ending.thread_times)
    # Without threads no schedule has a say, and nothing is counted that a replay could repeat.
    if case.default != "passed" or case.threads == 1:
        return
    with Runner(program, settings) as runner:
        _compare(case, "default", first, _replay(runner, first, ways))
        _randomly(case, runner, ways)


def _randomly(case: Case, runner: Runner, ways: Ways) -> None:
    """Under the random schedules that were not tried yet, while patience lasts."""
    case.random = case.random or {}
    case.diverged = case.diverged or []
    started = time.monotonic()
    for seed in ways.seeds:
        if seed in case.random:
            continue
        if case.random and time.monotonic() - started > ways.patience_s:
            return
        run = runner.run(Plan("random", {"seed": seed}), ways.limit_s)
        case.random[seed] = how = _how(run)
        if not run.log.ending.timed_out:
            _compare(case, f"random {seed}", run, _replay(runner, run, ways))
        if how and len(case.failed_seeds) == _FAILURES_BEFORE_STOP:
            return


def _replay(runner: Runner, run: TargetRun, ways: Ways) -> TargetRun:
    return runner.run(replay_plan(run.log.triggers, run.log.arrivals), ways.limit_s)


def _compare(case: Case, what: str, run: TargetRun, again: TargetRun) -> None:
    case.replays += 1
    assert case.diverged is not None
    if run.log.ending.digest != again.log.ending.digest or _how(run) != _how(again):
        case.diverged.append(what)


def _how(run: TargetRun) -> str:
    """How a run failed, or nothing."""
    ending = run.log.ending
    if ending.timed_out:
        return "time limit"
    if ending.deadlock:
        return "deadlock: " + "; ".join(f"{waiter.thread} {waiter.explanation}" for waiter in ending.deadlock)[:200]
    if ending.signal is not None:
        return f"signal {ending.signal}"
    return "" if ending.status == 0 else _last_words(run.output.decode(errors="replace")) or f"status {ending.status}"


def _last_words(said: str) -> str:
    errors = [
        line for line in said.splitlines() if re.match(r"^(E +)?\w*[\w.]*(Error|Exception|Interrupt|Exit)\b", line)
    ]
    return re.sub(r"0x[0-9a-f]+", "0x...", errors[-1].strip())[:200] if errors else "no exception shown"
