"""Isolation among billions of simulated unit deltas, and in a real program of ten million yield points."""

from __future__ import annotations

from collections.abc import Iterable

from tests.benchmarks import environments
from tests.benchmarks.harness import Bench, Section, Table, WorkerError, run_worker, with_unit

_UNITS = 3_842_577_240  # unit deltas of the case of Choi and Zeller (2002)
_SWITCHES = 1_000
_MILLIONS = 10

_ABOUT_SIMULATED = """\
Two schedules of 1,000 thread switches each, moved by 3,842,577,240 yield points in all; one of the switches fails from
one moment on. *Tests* are all, the two end points included; *engine* is the engine's own time for each test, *schedule*
the time for making the mixed schedule of the test from the configuration, *memory* the peak of the whole process."""

_ABOUT_REAL = """\
`programs/long_race.py`, more than 10,000,000 yield points: in the middle a thread reads a value, and 900,000 yield
points later it writes it back; a single switch in between loses the other thread's update. The failing schedule has
that one preemption, the passing one is the default. The isolation finds the very yield point where the outcome
changes, proves the answer with fresh replays of both sides, and looks for the other edge of the failing range.
*Runs in all* are those of all these; *outside of programs* is what the tool adds to the time in which the program
runs. Access granularity, C back end, one job."""


def run(bench: Bench) -> Iterable[Section]:
    found = environments.pythons(bench)
    rows: list[list[object]] = []
    for version, python in found.items():
        bench.tell(f"isolation: simulated, Python {version}")
        try:
            answer = run_worker(python, "isolation_worker.py", {"simulated": {"units": _UNITS, "switches": _SWITCHES}})
        except WorkerError as error:
            rows.append([version, str(error), "", "", "", "", ""])
            continue
        rows.append(
            [
                version,
                f"{answer['units']:,}",
                answer["tests"],
                answer["left"],
                with_unit(answer["seconds"]),
                with_unit(answer["mixing"]),
                f"{answer['peak'] / 1024:.0f} MB",
            ]
        )
    headers = ["Python", "unit deltas", "tests", "left", "engine", "schedule", "memory"]
    yield Section("Isolation, simulated", [_ABOUT_SIMULATED, Table(headers, rows)])
    versions = list(found) if bench.full else list(found)[1:2]
    rows = []
    for version in versions:
        bench.tell(f"isolation: real, Python {version}")
        try:
            rows.append(
                [version, *_real(run_worker(found[version], "isolation_worker.py", {"real": {"millions": _MILLIONS}}))]
            )
        except WorkerError as error:
            rows.append([version, str(error), "", "", "", "", "", ""])
    headers = [
        "Python",
        "yield points",
        "unit deltas",
        "tests",
        "runs in all",
        "whole",
        "one run",
        "outside of programs",
    ]
    yield Section("Isolation, real", [_ABOUT_REAL, Table(headers, rows)])


def _real(answer: dict[str, float]) -> list[object]:
    outside = answer["seconds"] - answer["in_programs"]
    verdict = "" if answer["verified"] and answer["left"] == 1 else " (not isolated)"
    return [
        f"{answer['yield_points']:,}",
        f"{answer['units']:,}",
        f"{answer['tests']}{verdict}",
        answer["runs"],
        with_unit(answer["seconds"]),
        with_unit(answer["one_run"]),
        f"{with_unit(outside)} ({outside / answer['seconds']:.1%})",
    ]
