"""Check the sources, build the package and run its tests, from another folder, under every supported Python.

The checks are made beside the first preparations, and no test runs before they have passed. Two Pythons are tested
beside each other, so that none waits while another one's last test waits for something; each line says whose it is.

Pythons that this machine does not have are brought by get_pythons.py, where they can be had. The first one gets every
test, the newest one the quick tests and the slow ones about schedules, the others the quick ones of what depends on the
version of Python, and those without a GIL the quick ones about schedules. On a very busy machine, the newest one gets
the quick tests, too.

The tests see the installed package only: they are run from the unpacked source archive, without the packages in it, in
a temporary folder. So nothing passes because a file lies in the checkout that the wheel or the archive forgot.

Arguments are handed to pytest: `tools/test_all_pythons.py -k log`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

from tools.beside import beside_each_other
from tools.environments import (
    CHECKOUT,
    FREE_THREADED,
    SUPPORTED,
    find_python,
    gets_all_tests,
    install_package,
    prepare_environment,
    run,
    wanted_versions,
)
from tools.get_pythons import FOLDER, KNOWN, CannotGet, get
from tools.watched_run import Ended, run_watched

PACKAGES = ("recorders", "replay_dd")
ALL: tuple[str, ...] = ()
# The rooms that control, trace or parse programs of this Python.
QUICK = (
    "--quick",
    *(f"tests/{room}" for room in ("call", "cli", "code", "pytest_plugin", "runtime", "schedules", "trace")),
)
NEWEST = ("--quick", "--thorough=runtime", "--thorough=schedules")
QUICK_SCHEDULES = ("--quick", "tests/runtime", "tests/schedules")
QUICK_RUNTIME = ("--quick", "tests/runtime")
EXTENTS = {
    ALL: "all tests",
    NEWEST: "the quick tests, and the slow ones of schedules",
    QUICK: "the quick tests of what runs or reads its programs",
    QUICK_SCHEDULES: "the quick tests of schedules",
    QUICK_RUNTIME: "the quick tests of the runtime",
}
# Tests wait about half of their time: for a display, a browser, a time-out, a process that they started.
# The first Python has more than half of the tests.
FIRST_WORKERS = min(2 * (os.cpu_count() or 1) + 1, 5)
WORKERS = FIRST_WORKERS - 2
LANES = 2  # Pythons whose tests run beside each other
PREPARERS = 2
# On a machine so busy that the newest Python's turn comes later than this, it gets the quick tests, too.
NEWEST_LIMIT_S = 40 * 60.0
LIMIT_S = 80 * 60.0  # for the whole run
GRACE_S = 5.0  # for processes that are just ending
# Set for the tests of all Pythons but the first.
TESTED_UNDER = "REPLAY_DD_TESTED_UNDER"
# Held by who brings a Python: two would meet in the folders of a private apt.
BRINGING = threading.Lock()


@dataclass(frozen=True)
class Prepared:
    """A Python with everything in place for the tests.

    Attributes:
        version: "3.12", "3.13t".
        interpreter: the one that the environment was made with.
        environment: the folder of the environment, with the package installed.
        copy: the folder of the tests.
    """

    version: str
    interpreter: Path
    environment: Path
    copy: Path


def main(pytest_arguments: list[str]) -> int:
    started = time.monotonic()
    skipped: list[str] = []
    verdicts: list[str] = []
    failed = False
    with (
        tempfile.TemporaryDirectory(prefix="replay-dd-test-") as folder,
        beside_each_other(LANES, PREPARERS) as (lanes, preparers),
    ):
        checking = preparers.submit(run, "make", "check")
        source_archive = build_source_archive(Path(folder))
        pure_wheel = build_pure_wheel(source_archive, Path(folder))
        built = {"REPLAY_DD_SOURCE_ARCHIVE": str(source_archive), "REPLAY_DD_PURE_WHEEL": str(pure_wheel)}
        announce("Checking, and preparing the first Python; the others are prepared beside its tests")
        preparing = {one: preparers.submit(prepare, one, source_archive, Path(folder)) for one in wanted_versions()}
        checking.result()
        first = next((one for one, future in preparing.items() if isinstance(future.result(), Prepared)), "")

        def tested(version: str) -> tuple[str | None, Ended] | str:
            python = preparing[version].result()
            if isinstance(python, str):
                return python
            selection = ALL if version == first else selection_of(version, is_newest(version, preparing))
            if selection == NEWEST and time.monotonic() - started > NEWEST_LIMIT_S:
                selection = QUICK
            announce(f"Python {version} ({python.interpreter}): {EXTENTS[selection]}")
            arguments = [*selection, *pytest_arguments]
            return run_tests(python, arguments, built, "" if version == first else first, started + LIMIT_S)

        for version, future in [(version, lanes.submit(tested, version)) for version in preparing]:
            told = future.result()
            if isinstance(told, str):
                skipped.append(told)
                continue
            problem, ended = told
            failed = failed or problem is not None
            verdicts.append(f"Python {version}: {problem or 'all is well'}: {ended.last_line}")
            verdicts.extend(f"  {line}" for line in ended.failures)
    announce(f"All Pythons, after {time.monotonic() - started:.0f} s")
    print("\n".join([*skipped, *verdicts]), flush=True)
    return 1 if failed or not verdicts else 0


def prepare(version: str, source_archive: Path, folder: Path) -> Prepared | str:
    """This Python, brought if the machine does not have it; or why its tests are skipped."""
    interpreter = find_python(version)
    if interpreter is None and version in KNOWN:
        try:
            with BRINGING:
                get(version)
        except CannotGet as problem:
            return f"SKIPPED: Python {version} cannot be had here: {problem}"
        interpreter = find_python(version)
    if interpreter is None:
        return f"SKIPPED: Python {version} not found on this machine"
    environment = prepare_environment(version, interpreter)
    install_package(environment, source_archive)
    copy = unpack(source_archive, folder / version)
    compile_tests(version, environment, copy)
    return Prepared(version, interpreter, environment, copy)


def is_newest(version: str, preparing: Mapping[str, Future[Prepared | str]]) -> bool:
    """Whether no later Python of its kind is there; waits until the next one is prepared."""
    later = later_than(version)
    return later is not None and not any(isinstance(preparing[one].result(), Prepared) for one in later)


def later_than(version: str) -> tuple[str, ...] | None:
    """Later Pythons of its kind; None for a Python that is in no list."""
    kind = FREE_THREADED if version in FREE_THREADED else SUPPORTED
    return kind[kind.index(version) + 1 :] if version in kind else None


def selection_of(version: str, newest: bool) -> tuple[str, ...]:
    """The arguments that choose the tests of a Python that is not the first: tests marked `once` are left out, too."""
    if version in FREE_THREADED:
        return QUICK_SCHEDULES if newest else QUICK_RUNTIME
    return NEWEST if newest else QUICK


def announce(text: str) -> None:
    print(f"\n=== {text} ===", flush=True)


def build_source_archive(folder: Path) -> Path:
    announce("Building the package")
    # The extra `dev` brings what builds it.
    run(sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", folder, CHECKOUT)
    return next(folder.glob("*.tar.gz"))


def build_pure_wheel(source_archive: Path, folder: Path) -> Path:
    """Build the wheel without the accelerator, which fits every Python."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-qq",
        "--no-deps",
        "--no-build-isolation",
        "--wheel-dir",
        str(folder),
        str(source_archive),
    ]
    subprocess.run(command, env={**os.environ, "REPLAY_DD_PURE": "1"}, check=True)
    return next(folder.glob("*-none-any.whl"))


def compile_tests(version: str, environment: Path, copy: Path) -> None:
    """Let pytest keep what it makes of the tests' sources; each of its workers would make the same, in ten seconds.

    What is wrong with a test, pytest says when it runs the tests.
    """
    first = gets_all_tests(version)
    selection = ALL if first else selection_of(version, later_than(version) == ())
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    variables[TESTED_UNDER] = "" if first else "another Python"
    command: list[str | Path] = [environment / "bin" / "python", "-m", "pytest", "-p", "no:cacheprovider", "-q"]
    command += ["--collect-only", *selection]
    subprocess.run(command, cwd=copy, env=variables, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def run_tests(
    python: Prepared, pytest_arguments: list[str], built: dict[str, str], first: str, until: float
) -> tuple[str | None, Ended]:
    """Run pytest on the tests of the archive; answer what went wrong, if anything did, and how the run ended.

    Tests that are marked `once` are left out if there was a first Python before this one. Tests that run at the time
    `until` are ended.
    """
    copy, environment = python.copy, python.environment
    folder = copy.parent
    # Whatever the tests and the tool leave behind lies in folders of ours, and is seen.
    temporary, home = folder / "tmp", folder / "home"
    temporary.mkdir()
    home.mkdir()
    (copy / FOLDER.parent.name).mkdir()
    (copy / FOLDER.relative_to(CHECKOUT)).symlink_to(FOLDER)  # where the tests look for other Pythons
    variables = {
        **os.environ,
        **built,
        "PATH": os.pathsep.join([str(environment / "bin"), os.environ.get("PATH", "")]),
        "TMPDIR": str(temporary),
        "HOME": str(home),
        "REPLAY_DD_TESTED_OUTSIDE": str(CHECKOUT),
        TESTED_UNDER: first,
    }
    for name in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"):
        variables.pop(name, None)
    workers = WORKERS if first else FIRST_WORKERS
    command = [environment / "bin" / "python", "-m", "pytest", "-p", "no:cacheprovider", "-q", "-n", str(workers)]
    command += ["--dist", "loadfile", f"--basetemp={folder / 'p'}", *pytest_arguments]
    ended = run_watched([str(part) for part in command], copy, variables, until=until, label=f"{python.version}: ")
    # Each of pytest's workers has a folder of its own for them.
    left = sorted(path.name for path in (*temporary.iterdir(), *folder.glob("p/popen-*/t/*")))
    grace_ends = time.monotonic() + GRACE_S
    while (running := processes_in(folder)) and time.monotonic() < grace_ends:
        time.sleep(0.1)
    if ended.hung:
        print("\n".join(["Still running:", *running]), flush=True)
        return f"FAILED (the tests hang, or take too long: {ended.hung})", ended
    if ended.status != 0:
        return f"FAILED (pytest ended with status {ended.status})", ended
    if left:
        return f"FAILED (the tests left temporary files behind: {', '.join(left)})", ended
    if running:
        return f"FAILED (the tests left processes behind: {', '.join(running)})", ended
    return None, ended


def unpack(source_archive: Path, folder: Path) -> Path:
    """Unpack the archive without the packages: what is imported must be what is installed."""
    with tarfile.open(source_archive) as archive:
        archive.extractall(folder, filter="data")
    copy = folder / source_archive.name.removesuffix(".tar.gz")
    for name in PACKAGES:
        shutil.rmtree(copy / name)
    return copy


def processes_in(folder: Path) -> list[str]:
    """Processes whose working folder is below this one (none, where the system has no /proc)."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if Path(os.readlink(entry / "cwd")).is_relative_to(folder):
                command = (entry / "cmdline").read_bytes().rstrip(b"\0").replace(b"\0", b" ").decode(errors="replace")
                found.append(f"{entry.name} (`{command}` in {os.readlink(entry / 'cwd')})")
        except OSError:
            continue  # it has ended meanwhile, or is not ours
    return found


def stop(number: int, frame: object) -> None:
    # As an exception, so that pytest is ended and the temporary folder removed on the way out.
    raise SystemExit(128 + number)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, stop)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    _, rest = parser.parse_known_args()
    try:
        sys.exit(main(rest))
    except KeyboardInterrupt:
        sys.exit(130)
