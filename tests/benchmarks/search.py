"""What the search costs now, beside the last version that had no pytest plugin: in turn, on the same machine."""

from __future__ import annotations

import math
import os
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks import environments
from tests.benchmarks.harness import HERE, Bench, Section, Table, WorkerError, median, run_worker, with_unit

_BEFORE = "c5f9f99f"
_REQUIREMENTS = ("requests==2.34.2", "jinja2==3.1.6", "numpy==2.4.6", "pytest==9.2.0")
_PROGRAMS = HERE / "programs"
_RUNS = 300
_LIMIT_S = 20.0
_SEEDS = (1, 2, 3, 4, 5)

_Words = Sequence[str | Path]

_ABOUT_HUNTS = f"""\
Executions until the bug is seen, medians of five seeds, at most {_RUNS} and {_LIMIT_S:.0f} s. Of several programs, how
many are found, and the geometric mean of their medians, where not found counts as {_RUNS}. *Before* is the last version
without the pytest plugin."""

_ABOUT_COST = """\
Processor time of the whole process tree, in turn with the version before: medians. One job where nothing else is
said."""


@dataclass(frozen=True)
class Cost:
    """A row: what is measured with an interpreter, and what it says of the rest."""

    title: str
    measure: Callable[[Path], float]
    version: str = "3.11"
    shown: Callable[[float], str] = with_unit


def run(bench: Bench) -> Iterable[Section]:
    yield Section("Executions of a hunt, before and now", [_ABOUT_HUNTS, _hunts(bench)])
    rows = [_cost_row(bench, cost) for cost in _COSTS]
    yield Section(
        "Cost of a search, before and now", [_ABOUT_COST, Table(["what", "before", "now", "now / before"], rows)]
    )


def _interpreters(bench: Bench, version: str) -> list[Path]:
    return [environments.of_revision(bench, version, revision, _REQUIREMENTS) for revision in (_BEFORE, None)]


# Hunts

_ONE_BY_ONE = (
    ("missed signal", "learnt_from", "missed_signal"),
    ("ABA", "learnt_from", "aba_stack"),
    ("bounded buffer with `if`", "learnt_from", "buffer_if"),
    ("three services in order", "learnt_from", "start_order"),
    ("two switches", "points", "two_switches"),
    ("the same after a sleep of 1 ms", "points", "behind_a_sleep"),
    ("a race after 60,000 yield points", "points", "late"),
)
_TOGETHER = (
    ("programs learnt from", "learnt_from"),
    ("programs held back", "held_back"),
)


def _hunts(bench: Bench) -> Table:
    interpreters = _interpreters(bench, "3.11")
    rows: list[list[object]] = []
    for title, folder, name in _ONE_BY_ONE:
        bench.tell(f"search: {title}")
        rows.append([title, *(_found(python, folder, name)[1] for python in interpreters)])
    for title, folder in _TOGETHER:
        bench.tell(f"search: {title}")
        names = sorted(path.stem for path in (_PROGRAMS / folder).glob("*.py"))
        rows.append([f"{len(names)} {title}", *(_all_found(python, folder, names) for python in interpreters)])
    return Table(["bug", "before", "now"], rows)


def _found(python: Path, folder: str, name: str) -> tuple[float | None, str]:
    """The median of the executions, none if most seeds did not find the bug; and a cell that says so."""
    request = {"tool": "replay-dd", "programs": folder, "searches": [(name, 0, _RUNS, _SEEDS)], "limit_s": _LIMIT_S}
    try:
        answer = run_worker(python, "peers_worker.py", request)[0]
    except WorkerError as error:
        return None, str(error)
    hits = [one["executions"] for one in answer if one["found"]]
    if not hits:
        return None, "not found"
    middle = median(hits) if len(hits) * 2 > len(answer) else None
    text = f"{median(hits):.0f}"
    return middle, text if len(hits) == len(answer) else f"{text} ({len(hits)} of {len(answer)})"


def _all_found(python: Path, folder: str, names: Sequence[str]) -> str:
    middles = [_found(python, folder, name)[0] for name in names]
    mean = math.exp(sum(math.log(middle or _RUNS) for middle in middles) / len(middles))
    return f"{sum(middle is not None for middle in middles)} found, {mean:.1f}"


# Costs


def _cost_row(bench: Bench, cost: Cost) -> list[object]:
    bench.tell(f"search: {cost.title}, {cost.version}")
    measured: list[list[float]] = [[], []]
    title = cost.title if cost.version == "3.11" else f"{cost.title}, {cost.version}"
    try:
        interpreters = _interpreters(bench, cost.version)
        for _ in range(bench.repeats):
            for python, values in zip(interpreters, measured, strict=True):
                values.append(cost.measure(python))
    except WorkerError as error:
        return [title, str(error), "", ""]
    before, now = map(median, measured)
    return [title, cost.shown(before), cost.shown(now), f"{now / before:.2f}"]


def _processor_s(
    command: _Words, *, statuses: Sequence[int] = (0,), file: Path | None = None, folder: Path | None = None
) -> float:
    """Processor time of a command and all that it starts and waits for.

    Args:
        command: the command.
        statuses: how it may end.
        file: what is copied into its folder.
        folder: where it runs; by default an empty folder, removed afterwards.

    Raises:
        WorkerError: it ended with another status.
    """
    before = _of_children()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    with tempfile.TemporaryDirectory() as empty:
        directory = folder or Path(empty)
        if file is not None:
            shutil.copy(file, directory)
        done = subprocess.run([str(word) for word in command], cwd=directory, env=environment, capture_output=True)
    if done.returncode not in statuses:
        raise WorkerError(f"status {done.returncode}: {done.stderr.decode().strip()[-100:]}")
    return _of_children() - before


def _of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _hunt(program: str, *options: str, statuses: Sequence[int] = (0,)) -> Callable[[Path], float]:
    def measure(python: Path) -> float:
        name, *arguments = program.split()
        tool: _Words = [python.parent / "replay-dd", "hunt", "--seed", "5", *options, "--"]
        return _processor_s([*tool, python, _PROGRAMS / "search" / name, *arguments], statuses=statuses)

    return measure


def _isolation(*options: str, clock: bool = False) -> Callable[[Path], float]:
    """``schedules`` of the logs that this version has found, without experiments: the version before had none."""

    def measure(python: Path) -> float:
        tool = python.parent / "replay-dd"
        program = _PROGRAMS / "search" / "count.py"
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            _processor_s([tool, "hunt", "--seed", "5", "--", python, program], folder=folder)
            told = subprocess.run([tool, "schedules", "--help"], capture_output=True, text=True).stdout
            without = ["--experiments", "0"] if "--experiments" in told else []
            started = time.perf_counter()
            processor = _processor_s([tool, "schedules", *without, *options, "pass.log", "fail.log"], folder=folder)
            return time.perf_counter() - started if clock else processor

    return measure


def _import(modules: str) -> Callable[[Path], float]:
    def measure(python: Path) -> float:
        return _processor_s([python, "-c", f"import {modules}"]) - _processor_s([python, "-c", "import click"])

    return measure


def _plugin(python: Path) -> float:
    """A suite of one test: by the plugin, or by a hunt of pytest where there is none."""
    test = _PROGRAMS / "search" / "test_two_threads.py"
    plain: _Words = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", test.name]
    try:
        return _processor_s([*plain, "--replay-dd=40"], file=test)  # a copy: no settings of the checkout
    except WorkerError:
        tool: _Words = [python.parent / "replay-dd", "hunt", "--runs", "40", "--jobs", "1", "--"]
        return _processor_s([*tool, *plain], statuses=(1,), file=test)


def _forked(python: Path) -> float:
    answer: list[dict[str, Any]] = run_worker(python, "throughput_worker.py", {"repeats": 2, "seconds": 0.7})
    return float(answer[0]["cpu"])


def _slowdown(program: Path, arguments: Sequence[str], granularity: str) -> Callable[[Path], float]:
    """How many times longer a recorded run takes, both without the start of the interpreter."""

    def measure(python: Path) -> float:
        with tempfile.TemporaryDirectory() as folder:
            options = ["--granularity", granularity, "--no-verify", "-o", Path(folder, "run.log")]
            tool: list[str | Path] = [python.parent / "replay-dd", "record", *options, "--", python]
            trivial: _Words = [_PROGRAMS / "trivial.py"]
            own: _Words = [program, *arguments]
            recorded = _processor_s([*tool, *own]) - _processor_s([*tool, *trivial])
        return recorded / (_processor_s([python, *own]) - _processor_s([python, *trivial]))

    return measure


def _times(factor: float) -> str:
    return f"{factor:.1f}x"


_EXAMPLE = "`count.py`, the example of the README"
_NEVER = ("--runs", "60", "--jobs", "1", "--failure", "no such words")
_COMMANDS = "replay_dd.cli.hunt, replay_dd.cli.schedules"
_MAP = _PROGRAMS / "search" / "pool_map.py"
_COSTS: tuple[Cost, ...] = (
    Cost("one test that starts two threads under pytest, 40 schedules", _plugin),
    Cost("a forked test of `trivial.py`", _forked),
    Cost("a forked test of `trivial.py`", _forked, "3.13"),
    Cost(f"`hunt` of {_EXAMPLE}", _hunt("count.py", "--jobs", "1")),
    Cost("the same, 4 jobs", _hunt("count.py", "--jobs", "4")),
    Cost("`schedules` of `count.py`", _isolation("--jobs", "1")),
    Cost("the same, 4 jobs, seconds by the clock", _isolation("--jobs", "4", clock=True)),
    Cost("`hunt` of 60 runs with `import requests`", _hunt("importing.py requests", *_NEVER, statuses=(1,))),
    Cost("the same with `import numpy`", _hunt("importing.py numpy", *_NEVER, statuses=(1,))),
    Cost("the same of `template.py`, which renders with Jinja2", _hunt("template.py", *_NEVER, statuses=(1,))),
    Cost("import of `hunt` and `schedules`, without click", _import(_COMMANDS)),
    *(
        Cost(
            f"`ThreadPoolExecutor.map`, 10,000 items, `{granularity}`",
            _slowdown(_MAP, ["10000"], granularity),
            version,
            _times,
        )
        for granularity in ("access", "sync")
        for version in ("3.11", "3.12", "3.13")
    ),
    *(
        Cost(
            f"`cpu_bound.py`, `{granularity}`",
            _slowdown(_PROGRAMS / "cpu_bound.py", ["60000"], granularity),
            shown=_times,
        )
        for granularity in ("line", "access")
    ),
)
