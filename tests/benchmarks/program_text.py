"""Reducers of Python programs side by side in one run, on modules that crash old releases of tools for Python.

Each tool gets the same script as its test, which counts its calls; one run at a time. Calls for a baseline and a proof
count like others. C-Vise is no package of the index: it is compared where it is installed.
"""

from __future__ import annotations

import ast
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks import environments
from tests.benchmarks.harness import HERE, Bench, Section, Table, WorkerError

_PYTHON = "3.11"
_TOOLS = ("Cython==3.0.12", "black==20.8b1", "click<8.1", "mypy==1.5.1", "pyflakes==2.1.1")
_MODULES = ("sympy==1.13.3", "pyqtgraph==0.12.4")
_SHRINKRAY = ("shrinkray==0.0.2",)
_BOOK = ("debuggingbook==1.3.2",)
_MOST_RUNS = 150
_MOST_RUNS_IN_FULL = 10_000
_LIMIT_S = 3600
_OURS = Path(sys.executable).with_name("replay-dd")
_FUNCTION = "\n\ndef __post_init__(self):\n    self._width = width\n"

_ABOUT = f"""\
Lines left, bytes left / runs of the tool / seconds, one run at a time. The modules are as their packages and the
standard library have them; each crashes a release of a tool, as reported: Cython 3.0.12 on *factor_.py* of sympy
1.13.3 (issue 6724), Black 20.8b1 on *TreeWidget.py* of pyqtgraph 0.12.4 (3240), pyflakes 2.1.1 on *test_fstring.py*
(481), and mypy 1.5.1 on *textwrap.py* with a function called `__post_init__` at its end (16057). Another reducer that
is not done after {_MOST_RUNS:,} runs (`--full`: {_MOST_RUNS_IN_FULL:,}) is stopped; what it had then stands in
parentheses. *input* is `replay-dd input` with `--units tree,tokens,characters`. *book* is the reducer of syntax trees
in the Debugging Book 1.3.2, which prints the whole tree anew for each test. Only *code* and *book* promise that the
result parses; *code* keeps blanks and indentation as they are, which costs bytes. Its runs include three for the
baseline, three for the proof, and one more for each edit of the answer, which confirms that it cannot be made."""


@dataclass(frozen=True)
class _Case:
    """A module, and a shell command that succeeds if its argument $1 is interesting."""

    file: Path
    command: str
    more: str = ""

    @property
    def content(self) -> bytes:
        return self.file.read_bytes() + self.more.encode()


def _cases(python: Path) -> list[_Case]:
    folder = python.parent
    found = subprocess.run(
        [
            python,
            "-c",
            "import os, sysconfig; print(sysconfig.get_path('purelib')); print(os.path.dirname(os.__file__))",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    packages, library = map(Path, found.stdout.split())
    cases = [
        _Case(
            packages / "sympy/ntheory/factor_.py", f"{folder}/cython -o $1.c $1 2>&1 | grep -q attribute..is_numeric"
        ),
        _Case(
            packages / "pyqtgraph/widgets/TreeWidget.py",
            f"{folder}/black -q --check $1 2>&1 | grep -q 'INTERNAL ERROR'",
        ),
        _Case(library / "test/test_fstring.py", f"{folder}/pyflakes $1 2>&1 | grep -q NAMEDEXPR"),
        _Case(
            library / "textwrap.py",
            f"{folder}/mypy --cache-dir=$(dirname $0)/cache $1 2>&1 | grep -q 'INTERNAL ERROR'",
            more=_FUNCTION,
        ),
    ]
    return [case for case in cases if case.file.is_file()]


def run(bench: Bench) -> Iterable[Section]:
    title = "Reducing programs"
    try:
        python = environments.peers(bench, "crashing-tools", _PYTHON, (*_TOOLS, *_MODULES))
        shrinkray = environments.peers(bench, "shrinkray", _PYTHON, _SHRINKRAY)
    except WorkerError as error:
        return [Section(title, [_ABOUT, str(error)])]
    tools = _tools(shrinkray.with_name("shrinkray"))
    try:
        book = environments.peers(bench, "book", _PYTHON, _BOOK)
        tools["book"] = lambda test, file: [book, HERE / "program_text_worker.py", test, file]
    except WorkerError as error:
        bench.tell(f"without the book: {error}")
    most_runs = _MOST_RUNS_IN_FULL if bench.full else _MOST_RUNS
    rows = []
    for case in _cases(python):
        lines = case.content.count(b"\n")
        row: list[object] = [f"{case.file.name}, {lines:,} lines, {len(case.content):,} bytes"]
        for name, command in tools.items():
            bench.tell(f"code: {case.file.name}, {name}")
            row.append(_measured(case, command, most_runs if name != "code" else _MOST_RUNS_IN_FULL))
        rows.append(row)
    return [Section(title, [_ABOUT, Table(["module", *tools], rows)])]


_Command = Callable[[Path, Path], list[str | Path]]


def _measured(case: _Case, command: _Command, most_runs: int) -> str:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        file, count, test, best = folder / case.file.name, folder / "count", folder / "test.sh", folder / "best"
        file.write_bytes(case.content)
        # shrinkray gives the input on standard input; C-Vise calls the test in a folder with its own copy. Whatever is
        # interesting is kept if it is the smallest so far, for tools that have to be stopped.
        test.write_text(
            f"#!/bin/sh\nprintf x >> {count}\n"
            f'[ $# -gt 0 ] || {{ set -- {folder}/m$$.py; [ -f {file.name} ] && cp {file.name} "$1" || cat > "$1"; }}\n'
            f"{case.command} || exit 1\n"
            f'[ -f {best} ] && [ $(wc -c < {best}) -le $(wc -c < "$1") ] || cp "$1" {best}\n'
        )
        test.chmod(0o755)
        started = time.monotonic()
        stopped = _call([str(word) for word in command(test, file)], folder, count, most_runs)
        seconds = time.monotonic() - started
        if not best.is_file() or not count.is_file():
            return "failed"
        left = best.read_bytes()
        with contextlib.suppress(SyntaxError, ValueError):
            ast.parse(left)
            runs = f"{count.stat().st_size:,} / {seconds:.0f} s"
            size = f"{len(left.splitlines()):,}, {len(left):,}"
            return f"({size}) / {runs}" if stopped else f"{size} / {runs}"
        return f"does not parse: {len(left):,} / {count.stat().st_size:,} / {seconds:.0f} s"


def _call(command: list[str], folder: Path, count: Path, most_runs: int) -> bool:
    """Run a reducer; whether it had to be stopped."""
    # Elsewhere: the test tells by the files around it who calls it.
    (folder / "elsewhere").mkdir()
    process = subprocess.Popen(
        command,
        cwd=folder / "elsewhere",
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    ends_at = time.monotonic() + _LIMIT_S
    try:
        while process.poll() is None:
            if time.monotonic() > ends_at or (count.is_file() and count.stat().st_size > most_runs):
                return True
            time.sleep(0.05)
    finally:
        # First itself: it cleans up behind it.
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return False


def _tools(shrinkray: Path) -> dict[str, _Command]:
    """Commands that reduce a file with a test."""

    def judged(test: Path) -> list[str | Path]:
        return ["--jobs", "1", "--script", "--", "sh", "-c", f"! {test} {{}}"]

    tools: Mapping[str, _Command] = {
        "code": lambda test, file: [_OURS, "code", file, "-o", file.with_name("ours"), *judged(test)],
        "input": lambda test, file: [
            *(_OURS, "input", file, "--units", "tree,tokens,characters", "-o", file.with_name("other")),
            *judged(test),
        ],
        "shrinkray 0.0.2": lambda test, file: [
            *(shrinkray, "--timeout", "0", "--parallelism", "1", "--target", file.with_name("shrunk"), test, file)
        ],
    }
    if shutil.which("cvise"):
        # It takes no absolute path.
        cvise = 'cd "$(dirname "$2")" && exec cvise --n 1 --not-c "$1" "$(basename "$2")"'
        return {**tools, "C-Vise": lambda test, file: ["sh", "-c", cvise, "sh", test, file]}
    return dict(tools)
