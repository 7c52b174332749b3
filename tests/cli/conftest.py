"""A place to run the command in, and logs of a race."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.tool import RACE, Workshop, make_workshop


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    """An empty working directory."""
    return make_workshop(tmp_path)


@pytest.fixture(scope="session")
def race(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    """A working directory with a race, the logs of a hunt for it (in ``found``), and a log of its default schedule.

    Shared by the tests: none may change a file in it.
    """
    shop = make_workshop(tmp_path_factory.mktemp("race"))
    shop.write(RACE)
    hunted = shop.run("hunt", "-o", "found", "--jobs", "2", *shop.program())
    assert hunted.status == 0, hunted.stderr
    recorded = shop.run("record", "-o", "default.log", *shop.program())
    assert recorded.status == 0, recorded.stderr
    return shop
