"""What the tests of every room share."""

from __future__ import annotations

import faulthandler
import os
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from replay_dd.experiment.guard_process import MARKER
from tools import slow_tests
from tools.watched_run import STACKS

PROJECT = Path(__file__).resolve().parent.parent
# Set for the tests of all Pythons but the first.
TESTED_UNDER = "REPLAY_DD_TESTED_UNDER"
GRACE_S = 10.0  # for programs that are just ending


def first_or_other(first: int, other: int) -> int:
    """How often something is repeated: under the first Python, and under the others, for what depends on the Python."""
    return other if os.environ.get(TESTED_UNDER) else first


# Named here, since hypothesis would choose another profile where the variable CI is set: the same examples everywhere,
# every time, and no verdict that depends on how busy the machine is.
settings.register_profile(
    "replay-dd",
    max_examples=first_or_other(100, 30),
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("replay-dd")

# A shell starts jobs in the background with Ctrl-C ignored, and programs that are started from there ignore it, too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Where `make test` looks when the tests hang.
if stacks := os.environ.get(STACKS):
    descriptor = os.open(Path(stacks) / str(os.getpid()), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    faulthandler.register(signal.SIGQUIT, descriptor, all_threads=True)


@pytest.fixture(scope="session")
def project() -> Path:
    """The folder with tests, demos and documents: the checkout, or the copy of it that `make test` makes."""
    return PROJECT


@pytest.fixture(scope="session", autouse=True)
def state(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What the tests record must not fill the user's list of known recordings; what they print must not vary."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))
    # How many of these lines there are depends on how busy the machine is.
    os.environ["REPLAY_DD_PROGRESS"] = "0"


@pytest.fixture(scope="session", autouse=True)
def temporary(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where this process and what it starts put temporary files: other workers must not be suspected of them."""
    folder = tmp_path_factory.mktemp("t", numbered=False)  # the paths of sockets in it must be short
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(folder))
        patch.setattr(tempfile, "tempdir", None)
        yield folder


@pytest.fixture(scope="module", autouse=True)
def nothing_left(temporary: Path) -> Iterator[None]:
    """The tests of a file leave no temporary file behind.

    What this process removes when it ends may stay, and `make test` looks at that: its workplace, and the folder of
    :mod:`multiprocessing`.
    """

    def there() -> set[Path]:
        paths = temporary.iterdir()
        return {path for path in paths if not path.name.startswith("pymp-") and not (path / MARKER).exists()}

    before = there()
    yield
    until = time.monotonic() + GRACE_S
    while (left := there() - before) and time.monotonic() < until:
        time.sleep(0.05)
    assert not left


@pytest.fixture
def unused_port() -> int:
    """Not one of those that the system gives to whoever asks for any."""
    for port in range(20_000 + os.getpid() % 10_000, 32_768):
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        return port
    raise AssertionError("no port is free")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--quick", action="store_true", help="leave out slow tests and whole rooms (see tools/slow_tests.py)"
    )
    parser.addoption(
        "--thorough", metavar="ROOM", action="append", default=[], help="with --quick: but not of this room"
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Neither rooms that are left out nor files whose tests are all done under the first Python are even imported.

    Only the first Python has what those rooms need.
    """
    if config.getoption("--quick") and collection_path.parent == PROJECT / "tests":
        return collection_path.name in slow_tests.ROOMS_LEFT_OUT or None
    return (bool(os.environ.get(TESTED_UNDER)) and is_done_once(collection_path)) or None


def is_done_once(path: Path) -> bool:
    """Whether this is a file of tests that are all marked ``once``."""
    return path.suffix == ".py" and path.is_file() and "\npytestmark = pytest.mark.once\n" in path.read_text("utf-8")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--quick"):
        return
    slow = slow_tests.listed()
    thorough = config.getoption("--thorough")
    left_out = {item for item in items if is_left_out_by_quick(item, slow, thorough)}
    config.hook.pytest_deselected(items=[item for item in items if item in left_out])
    items[:] = [item for item in items if item not in left_out]


def is_left_out_by_quick(item: pytest.Item, slow: Collection[str], thorough: Collection[str]) -> bool:
    room = item.path.relative_to(PROJECT / "tests").parts[0]
    return room in slow_tests.ROOMS_LEFT_OUT or (room not in thorough and item.name.partition("[")[0] in slow)


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("once") is not None and (version := os.environ.get(TESTED_UNDER)):
        pytest.skip(f"takes long, does not depend on the version of Python, and is done under {version}")
    for marker in item.iter_markers("needs_python"):
        wanted = tuple(int(part) for part in str(marker.args[0]).split("."))
        if sys.version_info < wanted:
            pytest.skip(f"needs Python {marker.args[0]} or newer")
