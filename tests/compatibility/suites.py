"""Packages from the index under their own tests: which have tests with threads, and how one is run.

Rules of this module:

* Nothing of a package is kept here. Its source archive, which holds its tests, is fetched when it is needed.
* Every package has an environment of its own, with what its tests ask for and nothing else.
* Which tests start threads is found out by running them all once, without replay-dd. Only those are judged: in the
  others no schedule has a say.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.compatibility.packages import ENVIRONMENTS
from tests.compatibility.results import OWN_TESTS

SOURCES = ENVIRONMENTS / "sources"
_NOTER = Path(__file__).resolve().parent / "note_threads.py"
_LIMIT_S = 600
# Settings of a package's own (coverage, reports) are none of ours, and a cache would be shared between runs. Captured
# text stays in the process: files that are open before the first thread forbid forking there.
_OPTIONS = ("-q", "-o", "addopts=", "-p", "no:cacheprovider", "--capture=sys")


@dataclass(frozen=True)
class Suite:
    """The tests of a package.

    Attributes:
        requirement: the package, with its version.
        tests: where they are, in its source archive.
        needs: what they need beside it and pytest.
        options: more options for pytest.
    """

    requirement: str
    tests: tuple[str, ...] = ("tests",)
    needs: tuple[str, ...] = ()
    options: tuple[str, ...] = ()

    @property
    def package(self) -> str:
        return self.requirement.partition("==")[0]

    @property
    def title(self) -> str:
        """What the suite is called in results and tables."""
        return self.requirement + OWN_TESTS


_ASYNC = ("pytest-asyncio",)

SUITES = (
    # Its other tests need services (databases, brokers) or other event loops.
    Suite(
        "apscheduler==3.11.3",
        ("tests/test_executors.py", "tests/test_schedulers.py"),
        ("anyio", "pytz", "tornado", "twisted", "gevent", "pytest-timeout"),
    ),
    Suite("asgiref==3.13.0", needs=_ASYNC),
    Suite("cachetools==8.0.0"),
    Suite("diskcache==5.6.3", ("tests/test_core.py", "tests/test_fanout.py", "tests/test_recipes.py")),
    # The other one is about processes.
    Suite("fasteners==0.20", ("tests/test_lock.py", "tests/test_decorators.py"), ("more_itertools", "diskcache")),
    Suite("huey==3.5.4", ("huey/tests/test_consumer.py", "huey/tests/test_helpers.py", "huey/tests/test_stats.py")),
    Suite("janus==2.0.0", needs=_ASYNC, options=("--ignore=tests/test_benchmarks.py",)),
    Suite(
        "prometheus_client==0.26.0", ("tests/test_core.py", "tests/test_exposition.py", "tests/test_graphite_bridge.py")
    ),
    Suite("pykka==4.5.0", needs=("pytest-mock",)),
    Suite(
        "urllib3==2.8.0",
        ("test/with_dummyserver/test_socketlevel.py", "test/test_wait.py"),
        (
            *("anyio[trio]", "h2", "httpx", "hypercorn", "pysocks", "pytest-socket", "pytest-timeout", "quart"),
            *("quart-trio", "trio", "trustme", "idna", "cryptography", "pyopenssl"),
        ),
    ),
    Suite("waitress==3.0.2", options=("--ignore=tests/test_functional.py",)),
    Suite("watchdog==7.1.0", needs=("pytest-timeout", "flaky", "PyYAML")),
)


def environment_for(suite: Suite, base: Path, version: str) -> Path:
    """The interpreter of an environment with a package and what its tests need, made if it is not there yet.

    Raises:
        subprocess.CalledProcessError: they cannot be installed here.
    """
    requirements = [suite.requirement, "pytest>=8.3,<10", *suite.needs]
    stamp = hashlib.sha256(f"{base} {requirements}".encode()).hexdigest()
    folder = ENVIRONMENTS / f"suites-{version}" / suite.package
    made_of = folder / "made-of"
    python = folder / "bin" / "python"
    if not (made_of.is_file() and made_of.read_text() == stamp):
        print(f"installing what the tests of {suite.package} need for Python {version}", file=sys.stderr)
        subprocess.run([str(base), "-m", "venv", "--clear", "--without-pip", str(folder)], check=True)
        pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
        subprocess.run([*pip, "install", "-qq", *requirements], check=True)
        made_of.write_text(stamp)
    return python


def source_of(suite: Suite) -> Path:
    """The folder with the source archive of a package, fetched and unpacked if it is not there yet.

    Raises:
        subprocess.CalledProcessError: it cannot be fetched.
        FileNotFoundError: its tests are not in it.
    """
    folder = SOURCES / suite.requirement
    if not folder.is_dir():
        archives = SOURCES / "archives" / suite.requirement
        shutil.rmtree(archives, ignore_errors=True)
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "-qq", "--no-deps"]
        subprocess.run([*pip, "--no-binary", ":all:", "-d", str(archives), suite.requirement], check=True)
        unpacked = archives / "unpacked"
        with tarfile.open(next(archives.glob("*.tar.gz"))) as archive:
            archive.extractall(unpacked, filter="data")
        next(unpacked.iterdir()).rename(folder)
        shutil.rmtree(archives)
    for tests in suite.tests:
        if not (folder / tests).exists():
            raise FileNotFoundError(folder / tests)
    return folder


def threaded_tests(suite: Suite, python: Path) -> list[str]:
    """The tests of a package that start threads and pass, by the names that pytest takes; found once."""
    source = source_of(suite)
    stamp = hashlib.sha256(f"{suite} {_NOTER.read_text()}".encode()).hexdigest()[:16]
    found = python.parent.parent / f"threaded-{stamp}.json"
    if not found.is_file():
        print(f"looking for tests of {suite.package} that start threads", file=sys.stderr)
        # Outside of this project, whose settings pytest would find.
        with tempfile.TemporaryDirectory(prefix="replay-dd-suite-") as folder:
            work, noted = Path(folder) / "work", Path(folder) / "noted"
            shutil.copytree(source, work)
            command = [str(python), str(_NOTER), str(noted), *_OPTIONS, *suite.options, *suite.tests]
            quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            subprocess.run(command, cwd=work, check=False, timeout=_LIMIT_S, **quiet)
            shutil.copy(noted, found)
    names: list[str] = json.loads(found.read_text())
    return names


def command_of(suite: Suite, python: Path, test: str) -> tuple[str, ...]:
    """What runs one test alone, in a copy of the package's source."""
    return (str(python), "-m", "pytest", *_OPTIONS, *suite.options, test)
