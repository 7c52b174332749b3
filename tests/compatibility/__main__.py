"""Judge other people's programs under every Python found: ``python -m tests.compatibility [PYTHON ...]``.

Judges everything again, which takes about an hour. Where the command was stopped, ``--resume`` goes on, and ``--again``
also judges once more what is not fine. At the end, docs/reference/compatibility.md is rewritten; where only a part was
judged, what the page would say of it is printed. The status is 1 if fewer than 97 of a hundred cases of CPython are
fine, or if an exception has no known reason.
"""

from __future__ import annotations

import argparse
import copy
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import replay_dd.schedules.runtime.accelerator
from replay_dd.experiment.process import LIVE, no_leftovers
from tests.compatibility import cpython, packages, replays, suites
from tests.compatibility.document import PAGE, exceptions, rewrite_page, section
from tests.compatibility.judge import RANDOM_SCHEDULES, Case, Ways, judge
from tests.compatibility.reasons import reason_for
from tests.compatibility.results import Results, file_of, load
from tests.conftest import PROJECT
from tools.environments import FREE_THREADED, SUPPORTED, find_python

SAVED_EVERY = 10
FINE_AT_LEAST = 0.97
ACCELERATOR = Path(replay_dd.schedules.runtime.accelerator.__file__).parent


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.compatibility", description=__doc__)
    parser.add_argument(
        "versions", nargs="*", metavar="PYTHON", help=f"of {', '.join((*SUPPORTED, *FREE_THREADED))}; all without one"
    )
    parser.add_argument("--resume", action="store_true", help="keep what was judged before in this checkout")
    parser.add_argument("--again", action="store_true", help="with --resume, judge once more what is not fine")
    parser.add_argument("--only", metavar="REGEX", default="", help="only cases whose name matches")
    parser.add_argument("--suites", metavar="REGEX", default="", help="only modules and packages whose name matches")
    parser.add_argument("--seeds", type=int, default=RANDOM_SCHEDULES, help="random schedules for each (default: 20)")
    parser.add_argument(
        "--patience",
        type=float,
        default=math.inf,
        metavar="S",
        help="begin no further schedule of a case after so long",
    )
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="cases at the same time")
    parser.add_argument("--replays", type=int, metavar="N", help="instead, replay logs of the first Python N times")
    options = parser.parse_args()
    # A handler of our own is not inherited; that SIGINT is ignored (in the background of a shell) would be.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sections: list[str] = []
    complaints: list[str] = []
    for version in options.versions or (*SUPPORTED, *FREE_THREADED):
        interpreter = find_python(version)
        if interpreter is None:
            print(f"Python {version} not found on this machine", file=sys.stderr)
            continue
        build_accelerator(interpreter)
        if options.replays:
            with no_leftovers():
                rows = replays.judge_replays(interpreter, version, options.replays)
            sections.append(replays.section(version_of(interpreter), rows))
            break
        results = load(file_of(version)) if options.resume else Results("")
        results.version = version_of(interpreter)
        with no_leftovers():
            run(interpreter, results, file_of(version), options)
        sections.append(section(results))
        complaints += [f"Python {version}: {text}" for text in complaints_about(results)]
    if options.suites or options.only:
        print("\n".join(sections))  # a part must not take the place of the whole
    else:
        rewrite_page(sections)
        print(f"{PAGE.name} is written", flush=True)
    for complaint in complaints:
        print(complaint, file=sys.stderr, flush=True)
    return 1 if complaints else 0


def complaints_about(results: Results) -> list[str]:
    """What must not be: exceptions without a known reason, and too few of CPython's cases that are fine."""
    found = [
        f"{case.name} has no known reason (see reasons.py)" for case in exceptions(results) if not reason_for(case)
    ]
    own = [case for suite, cases in results.suites.items() if cpython.is_own(suite) for case in cases.values()]
    plain = [case for case in own if case.passes_plain]
    for kind, cases in (("cases", plain), ("threaded cases", [case for case in plain if case.threads != 1])):
        fine = sum(case.is_fine for case in cases)
        if fine < FINE_AT_LEAST * len(cases):
            found.append(f"only {fine} of {len(cases)} {kind} of CPython are fine")
    return found


def build_accelerator(interpreter: Path) -> None:
    """Put the accelerator for an interpreter beside its source, as users have it, unless it is there and up to date.

    Raises:
        subprocess.CalledProcessError: the package cannot be built with it.
    """
    code = "import sysconfig; print(sysconfig.get_config_var('EXT_SUFFIX'))"
    suffix = subprocess.run(
        [str(interpreter), "-c", code], stdout=subprocess.PIPE, text=True, check=True
    ).stdout.strip()
    built = ACCELERATOR / f"_accelerator{suffix}"
    changed = max(source.stat().st_mtime for source in (*ACCELERATOR.glob("*.[ch]"), ACCELERATOR / "_accelerator.pyi"))
    if built.exists() and built.stat().st_mtime >= changed:
        return
    with tempfile.TemporaryDirectory(prefix="replay-dd-wheel-") as folder:
        pip = [
            sys.executable,
            "-m",
            "pip",
            "--python",
            str(interpreter),
            "--disable-pip-version-check",
            "wheel",
            "-qq",
            "--no-deps",
            "-w",
            folder,
        ]
        subprocess.run([*pip, str(PROJECT)], check=True)
        with zipfile.ZipFile(next(Path(folder).glob("*.whl"))) as wheel:
            name = next(name for name in wheel.namelist() if name.endswith(built.name))
            built.unlink(missing_ok=True)
            built.write_bytes(wheel.read(name))


@dataclass(frozen=True)
class Work:
    """A case that is to be judged."""

    suite: str
    name: str
    command: tuple[str, ...]
    ways: Ways


def cases_of(interpreter: Path, version: str, seeds: range, wanted: str) -> list[tuple[str, list[Work]]]:
    """The cases of one Python in the suites whose name matches, by suite."""
    modules = tuple(name for name in cpython.MODULES if re.search(wanted, name))
    found = cpython_cases(interpreter, seeds, modules) if modules else []
    if re.search(wanted, cpython.BORROWED):
        found.append((cpython.BORROWED, borrowed_cases(interpreter, seeds)))
    if any(re.search(wanted, package.requirement) for package in packages.PACKAGES):  # they are dear to install
        found += [case for case in package_cases(interpreter, version, seeds) if re.search(wanted, case[0])]
    tested = [suite for suite in suites.SUITES if re.search(wanted, suite.title)]
    return found + [(suite.title, suite_cases(suite, interpreter, version, seeds)) for suite in tested]


def cpython_cases(interpreter: Path, seeds: range, modules: tuple[str, ...]) -> list[tuple[str, list[Work]]]:
    """The interpreter's own tests, by module."""
    ways = Ways(include=("test",), seeds=seeds)
    return [
        (suite, [Work(suite, name, cpython.command_of(interpreter, name), ways) for name in names])
        for suite, names in cpython.list_tests(interpreter, modules).items()
    ]


def borrowed_cases(interpreter: Path, seeds: range) -> list[Work]:
    """What an interpreter that comes without a module runs of another interpreter's; nothing if it has its own."""
    if any(cpython.list_tests(interpreter, (cpython.LENT,)).values()):
        return []
    lenders = [found for version in SUPPORTED if (found := find_python(version)) is not None]
    files = next((files for lender in lenders if (files := cpython.lent_by(lender)) is not None), None)
    if files is None:
        return []
    ways = Ways(include=("test",), seeds=seeds, files=files)
    names = cpython.list_borrowed(interpreter, files)
    return [Work(cpython.BORROWED, name, cpython.command_of(interpreter, name), ways) for name in names]


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


def suite_cases(suite: suites.Suite, interpreter: Path, version: str, seeds: range) -> list[Work]:
    """The tests of a package of the index that start threads."""
    python = suites.environment_for(suite, interpreter, version)
    ways = Ways(files=suites.source_of(suite), seeds=seeds)
    return [
        Work(suite.title, f"{suite.package}: {test}", suites.command_of(suite, python, test), ways)
        for test in suites.threaded_tests(suite, python)
    ]


def version_of(interpreter: Path) -> str:
    """The whole version of an interpreter; that of one without a GIL ends with a t."""
    code = "import platform, sys; print(platform.python_version() + 't' * ('t' in sys.abiflags))"
    return subprocess.run([str(interpreter), "-c", code], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def run(interpreter: Path, results: Results, path: Path, options: argparse.Namespace) -> None:
    """Judge the cases of one Python that are due, several at a time."""
    due: list[Work] = []
    version = path.stem.partition("-")[2]
    for suite, works in cases_of(interpreter, version, range(1, options.seeds + 1), options.suites):
        known = results.suites.setdefault(suite, {})
        results.listed[suite] = len(works)
        for gone in set(known) - {work.name for work in works}:
            del known[gone]
        for work in works:
            case = known.get(work.name)
            if re.search(options.only, work.name) and (not _settled(case, options)):
                due.append(work)
    lock = threading.Lock()
    judged: list[Case] = []
    stopped = False

    def one(work: Work) -> None:
        name = work.name
        known = results.suites[work.suite].get(name)
        try:
            case = judge(name, work.command, replace(work.ways, patience_s=options.patience), copy.deepcopy(known))
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


def _settled(case: Case | None, options: argparse.Namespace) -> bool:
    if case is None or not case.is_complete(options.seeds):
        return False
    return case.is_fine or not case.passes_plain or not options.again


if __name__ == "__main__":
    sys.exit(main())
