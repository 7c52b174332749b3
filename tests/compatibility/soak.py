"""Record and replay for a long time in one process, and see what stays behind: ``python -m tests.compatibility.soak``.

Rules of this module:

* Everything runs in this process, so that its descriptors, children and memory are those of the tool.
* A *run* is a whole program run to its end: one of the threads of a Python program under the scheduler, or a GUI
  session on a private display. Of each pair of runs the second one replays the first one's log, read from its file.
* What is counted is counted between pairs, when nothing of ours should be there. The first round is no part of it: it
  loads modules and fills caches.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

import recorders.monkey
from replay_dd.events.failure_signature import outcome_of
from replay_dd.events.log import read_session
from replay_dd.events.model import GuiProgram, Screen, Session
from replay_dd.events.run import Conditions, run_session
from replay_dd.events.x11.display import PrivateDisplay, choose_window_manager
from replay_dd.experiment.process import no_leftovers
from replay_dd.outcome import Outcome
from replay_dd.schedules.log import read_log, write_log
from replay_dd.schedules.replaying.record import plan_for, record, settings_for_now
from replay_dd.schedules.replaying.replay import replay, replay_plan
from replay_dd.schedules.running.runner import Runner
from replay_dd.schedules.running.target import describe_program
from tests.compatibility.document import rewrite_page
from tests.conftest import PROJECT

_PROGRAMS = Path(__file__).resolve().parent / "soak_programs"
_WINDOW_PROGRAM = PROJECT / "tests" / "x11" / "window_program.py"
_STRATEGIES = ("default", "random", "pct", "natural")
_FORKED = 5  # runs of one server
_ACTIONS = 20
_C_LIBRARY = ctypes.CDLL(None)
_EVERY_S = 30.0  # between two entries of the list that is kept


class _Display(PrivateDisplay):
    """A private display whose number is noted: other displays of this machine are none of ours."""

    numbers: ClassVar[set[int]] = set()

    def __init__(self, screen: Screen, window_manager: str) -> None:
        super().__init__(screen, window_manager)
        self.numbers.add(self.number)


@dataclass(frozen=True)
class Left:
    """What there was at one moment.

    Attributes:
        runs: so far, without the first round.
        seconds: so far.
        descriptors: open in this process.
        children: processes that descend from this one.
        threads: of this process.
        temporary: entries of the folder for temporary files.
        displays: sockets of displays of ours that nobody answers any more.
        memory_kb: resident set size of this process, in KiB, once the allocator has given back what is free: by itself
            it keeps what the largest log so far has needed.
        blocks: pieces of memory that Python objects have. Unlike the size of the process, which also knows the gaps
            between them, it does not rise where nothing is kept.
    """

    runs: int
    seconds: float
    descriptors: int
    children: int
    threads: int
    temporary: int
    displays: int
    memory_kb: int
    blocks: int


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.compatibility.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    recorders.monkey.PrivateDisplay = _Display  # type: ignore[misc]
    with tempfile.TemporaryDirectory(prefix="replay-dd-soak-") as folder:
        tempfile.tempdir = folder
        result = soak(options.minutes * 60)
        tempfile.tempdir = None
    print(table(result))
    rewrite_page([section(result)])
    return 1 if result["wrong"] else 0


def soak(seconds: float, only: tuple[str, ...] = ()) -> dict[str, Any]:
    """Run pairs until so much time has passed; what was counted meanwhile, and what went wrong.

    Args:
        seconds: after the first round.
        only: the names of the pairs; all without one.
    """
    wrong: list[str] = []
    kinds: dict[str, int] = {}
    started = time.monotonic()
    runs, before_runs = 0, 0
    seen: list[Left] = []
    for round_number, (name, pair) in _pairs(only):
        if round_number == 1 and not seen:
            started, before_runs = time.monotonic(), runs
            kinds.clear()
            seen.append(_left(0, 0.0))
        with no_leftovers():
            try:
                made, exact = pair(round_number)
            except Exception as error:
                made, exact = 0, False
                print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
        runs += made
        kinds[name] = kinds.get(name, 0) + made
        if not exact:
            wrong.append(f"{name} in round {round_number}")
            print(f"not as before: {wrong[-1]}", file=sys.stderr, flush=True)
        passed = time.monotonic() - started
        if seen and passed - seen[-1].seconds >= _EVERY_S:
            seen.append(_left(runs - before_runs, passed))
            print(seen[-1], file=sys.stderr, flush=True)
        if seen and passed >= seconds:
            break
    seen.append(_left(runs - before_runs, time.monotonic() - started))
    return {"python": sys.version.split()[0], "seen": [asdict(one) for one in seen], "kinds": kinds, "wrong": wrong}


def _pairs(only: tuple[str, ...] = ()) -> Iterator[tuple[int, tuple[str, Callable[[int], tuple[int, bool]]]]]:
    """For ever: the number of the round, and a pair of runs."""
    pairs: list[tuple[str, Callable[[int], tuple[int, bool]]]] = [
        *((name, _threads_pair(name)) for name in ("threads", "deadlock", "litter", "endless")),
        ("htpasswd", _threads_pair("htpasswd")),
        ("forked", _forked),
    ]
    if shutil.which("Xvfb"):
        pairs.append(("windows", _windows_pair))
    number = 0
    while True:
        for pair in (pair for pair in pairs if not only or pair[0] in only):
            yield number, pair
        number += 1


def _threads_pair(name: str) -> Callable[[int], tuple[int, bool]]:
    def pair(number: int) -> tuple[int, bool]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "work"
            path.mkdir()
            if name == "htpasswd":
                shutil.copy(PROJECT / "demos" / "htpasswd" / "htpasswd.py", path)
                arguments: tuple[str, ...] = ("htpasswd.py", "-c", "users", "--verify", "alice:one", "bob:two")
            else:
                arguments = (str(_PROGRAMS / f"{name}.py"),)
            program = describe_program((sys.executable, *arguments), directory=path, fresh_copy=name == "htpasswd")
            strategy = "random" if name in ("litter", "endless") else _STRATEGIES[number % len(_STRATEGIES)]
            made = record(
                program,
                settings_for_now(),
                strategy=strategy,
                seed=number,
                time_limit_s=4 if name == "endless" else 60,
                verify=False,
                show_output=False,
            )
            if name == "endless":
                return 1, made.log.ending.timed_out
            write_log(made.log, Path(folder) / "log")
            again = replay(read_log(Path(folder) / "log"), time_limit_s=60)
            return 2, again.reproduced and again.divergence is None

    return pair


def _forked(number: int) -> tuple[int, bool]:
    program = describe_program((sys.executable, str(_PROGRAMS / "threads.py")), directory=_PROGRAMS)
    exact = True
    with Runner(program, settings_for_now()) as runner:
        for seed in range(_FORKED):
            run = runner.run(plan_for("random", 1000 * number + seed, {}), 60)
            again = runner.run(replay_plan(run.log.triggers, run.log.arrivals), 60)
            exact = exact and run.log.ending.digest == again.log.ending.digest
        exact = exact and not runner.why_fresh
    return 2 * _FORKED, exact


def _windows_pair(number: int) -> tuple[int, bool]:
    deed = ("button=crash", "button=abort", "key=raise", "motion=daemon")[number % 4]
    program = GuiProgram((sys.executable, str(_WINDOW_PROGRAM), deed), str(_WINDOW_PROGRAM.parent))
    session = Session(program, Screen(800, 600), window_manager=choose_window_manager(None))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "session"
        recorders.monkey.MonkeyRecorder().record(session, path, seed=number, actions=_ACTIONS, verify=False)
        read = read_session(path)
    assert read.ending is not None
    with _Display(read.screen, read.window_manager) as display:
        ending = run_session(read, read.actions, display, Conditions()).ending
    return 2, outcome_of(ending, read.ending) is (Outcome.FAIL if read.ending.failed else Outcome.PASS)


# -- what is left --------------------------------------------------------------------------------------------------


def _left(runs: int, seconds: float) -> Left:
    gc.collect()
    return Left(
        runs,
        round(seconds, 1),
        len(os.listdir("/proc/self/fd")) - 1,  # without the one that reads this folder
        len(_descendants()),
        len(os.listdir("/proc/self/task")),
        len(os.listdir(tempfile.gettempdir())),
        len(_dead_displays()),
        _memory_kb(),
        sys.getallocatedblocks(),
    )


def _memory_kb() -> int:
    _C_LIBRARY.malloc_trim(0)
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


def _descendants() -> set[int]:
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found = {os.getpid()}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {os.getpid()}


def _dead_displays() -> set[str]:
    """The sockets of our displays that nobody listens on."""
    ours = {f"/tmp/.X11-unix/X{number}" for number in _Display.numbers}
    listening = {line.split()[-1] for line in Path("/proc/net/unix").read_text().splitlines()}
    return {path for path in ours - listening if os.path.exists(path)}


# -- for people ----------------------------------------------------------------------------------------------------

_TITLES = {
    "runs": "runs",
    "seconds": "seconds",
    "descriptors": "open descriptors",
    "children": "child processes",
    "threads": "threads",
    "temporary": "temporary files and folders",
    "displays": "displays left",
    "memory_kb": "memory (KiB)",
    "blocks": "pieces of memory of Python objects",
}


def table(result: dict[str, Any]) -> str:
    """The first, the middle and the last count."""
    seen = [Left(**one) for one in result["seen"]]
    middle = min(seen, key=lambda one: abs(one.seconds - seen[-1].seconds / 2))
    lines = ["| | start | middle | end |", "| --- | ---: | ---: | ---: |"]
    for name, title in _TITLES.items():
        cells = (f"{getattr(one, name):,.0f}" for one in (seen[0], middle, seen[-1]))
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(lines)


def section(result: dict[str, Any]) -> str:
    """What the page says of a soak."""
    kinds = ",\n".join(f"{number} of `{name}`" for name, number in result["kinds"].items())
    wrong = "; ".join(result["wrong"]) or "none"
    return f"""## What stays behind

`python -m tests.compatibility.soak` records and replays in one process, one pair of runs after the other (Python
{result["python"]}):
{kinds}.
Some of these programs deadlock, never end, or leave processes and temporary files behind; `windows` are GUI sessions on
private displays. Everything is counted between two pairs, after a first round.
Replays that were not as recorded: {wrong}.
Memory is counted after the allocator has given back what it can.

{table(result)}
"""


if __name__ == "__main__":
    sys.exit(main())
