"""What the tests of every room share."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def project() -> Path:
    """The folder with tests, demos and documents: the checkout, or the copy of it that `make test` makes."""
    return PROJECT


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker in item.iter_markers("needs_python"):
        wanted = tuple(int(part) for part in str(marker.args[0]).split("."))
        if sys.version_info < wanted:
            pytest.skip(f"needs Python {marker.args[0]} or newer")
