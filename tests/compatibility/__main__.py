"""Judge other people's programs under every Python found: ``python -m tests.compatibility [PYTHON ...] [--again]``.

Takes an hour. What was judged is kept and only added to, so the command can be stopped and started again;
``--again`` judges anew what is not fine, ``--all`` everything. At the end, docs/reference/compatibility.md is written.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from replay_dd.experiment.process import LIVE, no_leftovers
from tests.compatibility import cpython, packages
from tests.compatibility.document import PAGE, page
from tests.compatibility.judge import RANDOM_SCHEDULES, Case, Ways, judge
from tests.compatibility.results import Results, file_of, load
from tools.test_all_pythons import SUPPORTED, find_python

SAVED_EVERY = 10


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.compatibility", description=__doc__)
    parser.add_argument("versions", nargs="*", metavar="PYTHON", help=f"of {', '.join(SUPPORTED)}; all without one")
    parser.add_argument("--again", action="store_true", help="judge anew what is not fine")
    parser.add_argument("--all", action="store_true", help="judge anew everything")
    parser.add_argument("--only", metavar="REGEX", default="", help="only cases whose name matches")
    parser.add_argument("--seeds", type=int, default=RANDOM_SCHEDULES, help="random schedules for each (default: 20)")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="cases at the same time")
    options = parser.parse_args()
    # A handler of our own is not inherited; that SIGINT is ignored (in the background of a shell) would be.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for version in options.versions or SUPPORTED:
        interpreter = find_python(version)
        if interpreter is None:
            print(f"Python {version} not found on this machine", file=sys.stderr)
            continue
        results = load(file_of(version))
        results.version = version_of(interpreter)
        with no_leftovers():
            run(interpreter, results, file_of(version), options)
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE.name} is written", flush=True)
    return 0


@dataclass(frozen=True)
class Work:
    """A case that is to be judged."""

    suite: str
    name: str
    command: tuple[str, ...]
    ways: Ways


def cases_of(interpreter: Path, version: str, seeds: range) -> list[tuple[str, list[Work]]]:
    """All cases of one Python, by suite."""
    return [*package_cases(interpreter, version, seeds), *cpython_cases(interpreter, seeds)]


def cpython_cases(interpreter: Path, seeds: range) -> list[tuple[str, list[Work]]]:
    """The interpreter's own tests, by module."""
    ways = Ways(include=("test",), seeds=seeds)
    return [
        (suite, [Work(suite, name, cpython.command_of(interpreter, name), ways) for name in names])
        for suite, names in cpython.list_tests(interpreter).items()
    ]


def package_cases(interpreter: Path, version: str, seeds: range) -> list[tuple[str, list[Work]]]:
    """The programs against packages of the index, by package."""
    python = str(packages.environment_with(interpreter, version))
    ways = Ways(files=packages.PROGRAMS, seeds=seeds)
    return [
        (
            package.requirement,
            [Work(package.requirement, name, (python, f"{name}.py"), ways) for name in package.programs],
        )
        for package in packages.PACKAGES
    ]


def version_of(interpreter: Path) -> str:
    """The whole version of an interpreter."""
    code = "import platform; print(platform.python_version())"
    return subprocess.run([str(interpreter), "-c", code], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def run(interpreter: Path, results: Results, path: Path, options: argparse.Namespace) -> None:
    """Judge the cases of one Python that are due, several at a time."""
    due: list[Work] = []
    for suite, works in cases_of(interpreter, path.stem.partition("-")[2], range(1, options.seeds + 1)):
        known = results.suites.setdefault(suite, {})
        results.listed[suite] = len(works)
        for gone in set(known) - {work.name for work in works}:
            del known[gone]
        for work in works:
            case = known.get(work.name)
            settled = case is not None and (case.is_fine or not case.passes_plain or not options.again)
            if re.search(options.only, work.name) and (options.all or not settled):
                due.append(work)
    lock = threading.Lock()
    judged: list[Case] = []
    stopped = False

    def one(work: Work) -> None:
        name = work.name
        try:
            case = judge(name, work.command, work.ways)
        except Exception as error:  # a defect of the tool: a failure of the case, not the end of the survey
            case = Case(name, plain="passed", default=f"{type(error).__name__}: {error}"[:200])
        with lock:
            if stopped:
                return  # what was cut off says nothing
            results.suites[work.suite][name] = case
            judged.append(case)
            if not case.is_fine and case.passes_plain:
                print(f"{path.stem} {name}: {case.default}, {case.failed_seeds}, {case.diverged}", flush=True)
            if len(judged) % SAVED_EVERY == 0:
                results.save(path)

    pool = ThreadPoolExecutor(options.jobs)
    try:
        list(pool.map(one, due))
    finally:
        stopped = True
        LIVE.kill_all()
        pool.shutdown(cancel_futures=True)
        results.save(path)
    print(f"{path.stem}: {len(judged)} judged", flush=True)


if __name__ == "__main__":
    sys.exit(main())
