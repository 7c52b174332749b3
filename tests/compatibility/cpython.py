"""CPython's own tests, from the ``test`` package of an interpreter: which there are, and how one is run."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

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

_LIST = """
import json, sys, unittest
def ids(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from ids(test)
        else:
            yield test.id()
found = {}
for name in sys.argv[1:]:
    names = list(ids(unittest.defaultTestLoader.loadTestsFromName(name)))
    found[name] = [] if any("_FailedTest" in name for name in names) else names
print(json.dumps(found))
"""


def list_tests(interpreter: Path, modules: tuple[str, ...] = MODULES) -> dict[str, list[str]]:
    """The test methods of each module, by the names that ``python -m unittest`` takes; none where a module is missing.

    Of ``test_concurrent_futures``, what runs on thread pools: processes are out of the scheduler's reach.
    """
    done = subprocess.run(
        [str(interpreter), "-c", _LIST, *modules], stdout=subprocess.PIPE, text=True, check=True, timeout=120
    )
    found: dict[str, list[str]] = json.loads(done.stdout.splitlines()[-1])
    name = "test.test_concurrent_futures"
    if name in found:
        found[name] = [test for test in found[name] if "Process" not in test and "process_pool" not in test]
    return found


def command_of(interpreter: Path, test: str) -> tuple[str, ...]:
    """What runs one test method alone."""
    return (str(interpreter), "-m", "unittest", "-v", test)
