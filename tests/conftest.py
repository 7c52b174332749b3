"""What the tests of every room share."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

PROJECT = Path(__file__).resolve().parent.parent

# Named here, since hypothesis would choose another profile where the variable CI is set: the same examples everywhere,
# every time, and no verdict that depends on how busy the machine is.
settings.register_profile(
    "replay-dd", derandomize=True, database=None, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("replay-dd")

# A shell starts jobs in the background with Ctrl-C ignored, and programs that are started from there ignore it, too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def project() -> Path:
    """The folder with tests, demos and documents: the checkout, or the copy of it that `make test` makes."""
    return PROJECT


# Set for the tests of all Pythons but the first.
TESTED_UNDER = "REPLAY_DD_TESTED_UNDER"


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("once") is not None and (version := os.environ.get(TESTED_UNDER)):
        pytest.skip(f"takes long, does not hang on the version of Python, and is done under {version}")
    for marker in item.iter_markers("needs_python"):
        wanted = tuple(int(part) for part in str(marker.args[0]).split("."))
        if sys.version_info < wanted:
            pytest.skip(f"needs Python {marker.args[0]} or newer")
