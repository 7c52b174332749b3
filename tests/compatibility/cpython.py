"""CPython's own tests, from the ``test`` package of an interpreter: which there are, and how one is run."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

from tests.compatibility.packages import ENVIRONMENTS

# Those that are about threads; of each, every test method runs alone in a process.
MODULES = (
    "test.test_thread",
    "test.test_threading",
    "test.test_threading_local",
    "test.test_queue",
    "test.test_concurrent_futures",
    "test.test_socketserver",
    "test.test_logging",
    "test.test_threadsignals",
    "test.test_threadedtempfile",
    "test.test_sched",
    "test.test_importlib.test_threaded_import",
    "test.test_asyncio.test_threads",
)

# `make install` of some versions (3.11.7, 3.12.1) leaves this package out. They run what another interpreter has of it,
# under a name that tells: it then stands outside the package `test`.
LENT = "test.test_concurrent_futures"
BORROWED = "test_concurrent_futures"

_LIST = """
import json, sys, unittest
def ids(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from ids(test)
        elif "_FailedTest" not in test.id():
            yield test.id()
def load(name):
    try:
        return unittest.defaultTestLoader.loadTestsFromName(name)
    except Exception:  # it cannot be imported here
        return []
print(json.dumps({name: list(dict.fromkeys(ids(load(name)))) for name in sys.argv[1:]}))
"""


def is_own(suite: str) -> bool:
    """Whether a suite is one of CPython's own modules of tests."""
    return suite.startswith("test.") or suite == BORROWED


def list_tests(
    interpreter: Path, modules: tuple[str, ...] = MODULES, directory: Path | None = None
) -> dict[str, list[str]]:
    """The test methods of each module, by the names that ``python -m unittest`` takes; none where a module is missing.

    Of ``test_concurrent_futures``, what runs on thread pools: processes are out of the scheduler's reach.

    Args:
        interpreter: whose tests.
        modules: their names.
        directory: where it looks for modules first.
    """
    done = subprocess.run(
        [str(interpreter), "-c", _LIST, *modules],
        cwd=directory,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=120,
    )
    found: dict[str, list[str]] = json.loads(done.stdout.splitlines()[-1])
    if LENT in found:
        found[LENT] = _on_threads(found[LENT])
    return found


def _on_threads(tests: list[str]) -> list[str]:
    return [test for test in tests if "Process" not in test and "process_pool" not in test]


def lent_by(interpreter: Path) -> Path | None:
    """A folder with a copy of the interpreter's ``test_concurrent_futures``, for another one; None if it has none."""
    code = "import os, test; print(os.path.dirname(test.__file__))"
    done = subprocess.run([str(interpreter), "-c", code], stdout=subprocess.PIPE, text=True, check=True, timeout=60)
    source = Path(done.stdout.strip()) / BORROWED
    if not source.is_dir():
        return None
    folder = ENVIRONMENTS / "borrowed"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder / BORROWED, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def list_borrowed(interpreter: Path, folder: Path) -> list[str]:
    """The test methods in what was lent that this interpreter can import."""
    modules = tuple(f"{BORROWED}.{path.stem}" for path in sorted((folder / BORROWED).glob("test_*.py")))
    return _on_threads([test for tests in list_tests(interpreter, modules, folder).values() for test in tests])


def command_of(interpreter: Path, test: str) -> tuple[str, ...]:
    """What runs one test method alone."""
    return (str(interpreter), "-m", "unittest", "-v", test)
