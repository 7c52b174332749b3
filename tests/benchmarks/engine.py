"""The engine against picire, lithium and the Debugging Book's DeltaDebugger, on the same problems."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from tests.benchmarks import environments
from tests.benchmarks.harness import Bench, Section, Table, WorkerError, run_worker, with_unit

_MEMORY_LIMIT = 8 << 30
_PEER_PYTHON = "3.12"
_TIME_LIMIT_S = 400

# name in the table, engine of the worker
_OURS = (
    ("replay-dd, `simplify`", "simplify"),
    ("replay-dd, `prefix_bisection`", "prefix_bisection"),
    ('replay-dd, `ddmin(order="complements-only")`', "ddmin-complements"),
    ("replay-dd, `ddmin`", "ddmin"),
)
_SWEEP = ('replay-dd, `ddmin(order="sweep")`', "ddmin-sweep")
_PEERS = (
    ("picire 21.8, complements alone, backward", "picire-best"),
    ("picire 21.8, default", "picire"),
    ("lithium 4.0.0, minimize", "lithium"),
)
_BOOK = ("debuggingbook 1.3.2, `DeltaDebugger`", "book")


def run(bench: Bench) -> Iterable[Section]:
    reducers = _interpreter(bench, "reducers", ("setuptools<81", "picire==21.8", "lithium-reducer==4.0.0"))
    book = _interpreter(bench, "book", ("debuggingbook==1.3.2",))
    peer_size = 10**6 if bench.full else 10**5
    yield Section(
        "Minimal failing sets",
        [
            "`k` of `n` elements are needed, at `sorted(random.Random(1000003*k+n).sample(range(n), k))`; a test fails "
            "exactly if all of them are there. Counted are all calls of the test function, end points included; "
            "*engine* is the time outside of it, for each test; *memory* is the peak of the whole process "
            "(an empty Python takes about 10 MB of it).",
            _table(bench, [(1, 10**3), (8, 10**3)], [*_of(sys.executable, _OURS), *_of(reducers, _PEERS)], book),
            "Where more are needed, the least number of tests that any algorithm takes at worst is `⌈log₂ (n over k)⌉ "
            "+ k`, as [Algorithms](algorithms.md) explains.",
            _table(
                bench,
                [(k, 2000) for k in (200, 1000, 2000)],
                [*_of(sys.executable, (_OURS[0], _OURS[1], _SWEEP)), *_of(reducers, _PEERS[::2])],
                None,
            ),
            _table(bench, [(1000, 10**6)], _of(sys.executable, _OURS[:2]), None),
            _table(
                bench, [(1, peer_size), (8, peer_size)], [*_of(sys.executable, _OURS[:3]), *_of(reducers, _PEERS)], None
            ),
            _table(
                bench,
                [(1, 10**6), (8, 10**6), (1, 10**9), (8, 10**9)][2 * bench.full :],
                _of(sys.executable, _OURS[:3]),
                None,
            ),
        ],
    )


def _interpreter(bench: Bench, name: str, requirements: tuple[str, ...]) -> str | Path | WorkerError:
    try:
        return environments.peers(bench, name, _PEER_PYTHON, requirements)
    except WorkerError as error:
        return error


Engines = list[tuple[str, str, "str | Path | WorkerError"]]


def _of(python: str | Path | WorkerError, engines: tuple[tuple[str, str], ...]) -> Engines:
    return [(name, engine, python) for name, engine in engines]


def _table(
    bench: Bench, problems: list[tuple[int, int]], engines: Engines, book: str | Path | WorkerError | None
) -> Table:
    if book is not None:
        engines = [*engines, (*_BOOK, book)]
    rows = []
    for k, n in problems:
        for name, engine, python in engines:
            bench.tell(f"engine: {name}, k={k}, n={n}")
            rows.append([f"k={k}, n={n:,}: {name}", *_measured(python, engine, k, n)])
    return Table(["problem and engine", "tests", "engine", "memory"], rows)


def _measured(python: str | Path | WorkerError, engine: str, k: int, n: int) -> list[str]:
    try:
        if isinstance(python, WorkerError):
            raise python
        request = {"engine": engine, "k": k, "n": n, "memory_limit": _MEMORY_LIMIT}
        answer = run_worker(python, "engine_worker.py", request, time_limit_s=_TIME_LIMIT_S)
    except WorkerError as error:
        return [str(error), "", ""]
    tests = str(answer["tests"]) if answer["minimal"] else f"{answer['tests']} (not minimal)"
    return [tests, with_unit(answer["seconds"] / answer["tests"]), f"{answer['peak'] / 1024:,.0f} MB"]
