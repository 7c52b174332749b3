"""Tests per second of the smallest program with two threads."""

from __future__ import annotations

from collections.abc import Iterable

from tests.benchmarks import environments
from tests.benchmarks.harness import Bench, Section, Table, WorkerError, median, run_worker

_ABOUT = """\
`programs/trivial.py`, which starts two threads, each with one call, at access granularity with random schedules; one
run at a time: the tool and the program take turns, so this is the rate of one core. *Forked*: through the fork server;
*fresh*: a new process for each run. *Processor*: the processor time of one test, of the tool and the program together,
which other work on the machine changes less than the rate."""


def run(bench: Bench) -> Iterable[Section]:
    rows: list[list[object]] = []
    for version, python in environments.pythons(bench).items():
        bench.tell(f"throughput: Python {version}")
        try:
            forked, fresh = run_worker(python, "throughput_worker.py", {"repeats": bench.repeats, "seconds": 0.7})
        except WorkerError as error:
            rows.append([version, str(error), "", "", ""])
            continue
        cpu = [f"{one['cpu'] * 1e3:.1f} ms" for one in (forked, fresh)]
        said = f" (fresh: {forked['why_fresh']})" if forked["why_fresh"] else ""
        rows.append([version, f"{median(forked['rates']):.0f}{said}", f"{median(fresh['rates']):.0f}", *cpu])
    yield Section(
        "Tests per second",
        [_ABOUT, Table(["Python", "forked", "fresh", "processor, forked", "processor, fresh"], rows)],
    )
