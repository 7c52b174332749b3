"""Executed statements: what an outcome needs of them, in how many tests; beside the paper and a dynamic slicer.

The programs are modules of the standard library, copied into the program's own folder, each with a short script.
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from replay_dd.trace import forks
from replay_dd.trace.slice import LEVELS, Slice, find_slice
from replay_dd.trace.target import target_of
from tests.benchmarks import environments
from tests.benchmarks.harness import Bench, Section, Table, WorkerError, run_worker
from tests.trace.programs import SAMPLE, SAMPLE_INPUT

_PYTHON = "3.11"
_REQUIREMENTS = ("debuggingbook==1.3.2",)
_NEVER_NS = 1 << 62
_LIMIT_S = 40

SCRIPTS = {
    "shlex": """\
from own_shlex import shlex

lexer = shlex("copy 'my file' to \\"the disk\\" # now\\nrm -r ~/x;y", posix=True, punctuation_chars=True)
words = list(lexer)
answer = words[1]
print(answer, len(words))
""",
    "textwrap": """\
from own_textwrap import TextWrapper

wrapper = TextWrapper(width=24, initial_indent="* ", subsequent_indent="  ")
lines = wrapper.wrap("The quick brown-fox jumps over the extraordinarily-lazy dog.  Twice, and then\\tagain.")
answer = lines[-1]
print(answer, len(lines))
""",
    "graphlib": """\
from own_graphlib import TopologicalSorter

graph = {"app": ["db", "web"], "db": ["os"], "web": ["os", "ssl"], "ssl": ["os"], "test": ["app"]}
sorter = TopologicalSorter(graph)
order = list(sorter.static_order())
answer = order[1]
print(answer, len(order))
""",
}
_MANY_ROUNDS = """\
best = 0
seen = []
for n in range(5000):
    seen.append(n)
    if n * 7919 % 5003 > best:
        best = n * 7919 % 5003
print(best)
"""
_SLOW_START = """\
table = sorted(str(n * 7919 % 999983) for n in range(200000))
found = []
for n in range(60):
    word = table[n * 100]
    if word.endswith("7"):
        found.append(word)
print(found[-1], len(found))
"""

_ABOUT = """\
*STRIPE* is the sample program of AADEBUG 2000, whose prototype needed 176 tests for its 37 executed statements, with
ddmin. The next three are modules of the standard library with a script of six lines, for the value of a variable. *Many
rounds* is a loop of 5,000, for the largest number that it meets. One run at a time: by default (whole statements first,
then single executions, by adaptive bisection), by single executions at once, and with the paper's ddmin on single
executions."""
_ABOUT_FORKS = """\
A program whose first statement takes a large part of its time, with and without processes that wait where earlier runs
left out something first."""
_ABOUT_SLICER = """\
The slicer of *The Debugging Book* (debuggingbook 1.3.2) notes what each line reads and writes, and follows that
backwards; it is the dynamic slicer for Python that was found on the index. How many lines each gives for the same
variable, and how many are in both. The answer of replay-dd has been executed alone, and gave that value."""


def run(bench: Bench) -> Iterable[Section]:
    rows: list[list[object]] = []
    lines: dict[str, set[tuple[str, int]]] = {}
    for name, text in {"STRIPE": SAMPLE, **SCRIPTS, "many rounds": _MANY_ROUNDS}.items():
        cells: list[object] = []
        first: Slice | None = None
        for options in ({}, {"levels": LEVELS[1]}, {"levels": LEVELS[1], "algorithm": "ddmin"}):
            bench.tell(f"statements: {name}, {options}")
            found = _found(name, text, options)
            first = first or found
            tests, seconds = found.isolation.tests, found.isolation.seconds
            cells.append(f"{tests:,} / {seconds:.1f} s" if found.isolation.complete else f"more than {tests:,}")
        assert first is not None
        places = [first.trace.statements[number] for number in first.needed]
        lines[name] = {(place.file, place.line) for place in places}
        rows.append([name, f"{len(first.trace):,}", f"{first.kept.count:,}", f"{len(first.needed)}", *cells])
    headers = ["program", "executed", "needed", "statements", "tests", "executions at once", "ddmin"]
    yield Section("Executed statements", [_ABOUT, Table(headers, rows)])
    yield Section("Executed statements, with a slow start", [_ABOUT_FORKS, _forks(bench)])
    yield Section("Beside a dynamic slicer", [_ABOUT_SLICER, _slicer(bench, lines)])


def _found(name: str, text: str, options: dict[str, str]) -> Slice:
    with _program(name, text) as folder:
        target = target_of([sys.executable, "main.py"], SAMPLE_INPUT if name == "STRIPE" else b"", folder)
        variable = "answer" if name in SCRIPTS else None
        # A budget changes the way of the search: it then begins with coarse steps.
        limit_s = _LIMIT_S if "algorithm" in options and name != "STRIPE" else None
        return find_slice(target, variable=variable, time_budget_s=limit_s, **options)


@contextmanager
def _program(name: str, text: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        if name in SCRIPTS:
            found = importlib.util.find_spec(name)
            assert found is not None
            assert found.origin is not None
            (folder / f"own_{name}.py").write_bytes(Path(found.origin).read_bytes())
        (folder / "main.py").write_text(text, encoding="utf-8")
        yield folder


def _forks(bench: Bench) -> Table:
    rows = []
    before = forks._WORTH_A_FORK_NS
    for words, worth in (("with waiting processes", before), ("each from the beginning", _NEVER_NS)):
        bench.tell(f"statements: {words}")
        forks._WORTH_A_FORK_NS = worth
        try:
            found = _found("slow start", _SLOW_START, {})
        finally:
            forks._WORTH_A_FORK_NS = before
        rows.append([words, found.isolation.tests, f"{found.isolation.seconds:.1f} s"])
    return Table(["runs", "tests", "time"], rows)


def _slicer(bench: Bench, lines: dict[str, set[tuple[str, int]]]) -> Table | str:
    try:
        python = environments.peers(bench, "slicers", _PYTHON, _REQUIREMENTS)
    except WorkerError as error:
        return str(error)
    rows: list[list[object]] = []
    for name, text in SCRIPTS.items():
        bench.tell(f"statements: {name}, slicer")
        ours = lines[name]
        line = text.splitlines().index(next(one for one in text.splitlines() if one.startswith("answer"))) + 1
        with _program(name, text) as folder:
            try:
                told = run_worker(python, "statements_worker.py", {"folder": str(folder), "name": name, "line": line})
            except WorkerError as error:
                rows.append([name, len(ours), str(error), ""])
                continue
        theirs = {(file, number) for file, number in told["lines"]}
        gives = told["error"] or len(theirs)
        rows.append([name, len(ours), gives, f"{len(ours & theirs)}" if not told["error"] else ""])
    return Table(["program", "replay-dd", "slicer", "in both"], rows)
