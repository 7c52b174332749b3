"""``DeltaDebugger`` beside the class of the Debugging Book, in one process and on the same calls."""

from __future__ import annotations

from collections.abc import Iterable

from tests.benchmarks import environments
from tests.benchmarks.harness import CHECKOUT, Bench, Section, Table, WorkerError, run_worker

_PYTHON = "3.11"
_BOOK = "1.3.2"
_ABOUT = f"""\
Characters left / tests / milliseconds, in one process. Next to each call is the size of its arguments, as the
characters of their `repr`. The other class is that of the package `debuggingbook` {_BOOK}; where there is an error
instead, it could not repeat the call: it gives all arguments by name, and compares texts of exceptions exactly.
replay-dd makes three more calls to check that the failure and the answer are repeated, which count in the time."""


def run(bench: Bench) -> Iterable[Section]:
    bench.tell("calls")
    try:
        python = environments.peers(bench, "calls", _PYTHON, [f"debuggingbook=={_BOOK}"])
        rows = run_worker(python, "calls_worker.py", {"folder": str(CHECKOUT)})
    except WorkerError as error:
        return [Section("Reducing calls", [_ABOUT, str(error)])]
    return [Section("Reducing calls", [_ABOUT, Table(["call", "replay-dd", "the Debugging Book"], rows)])]
