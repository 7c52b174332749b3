"""A place to run the command in, and logs of a race."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.forked import CommandServer
from tests.cli.tool import RACE, TOOL, Workshop, make_workshop


@pytest.fixture(scope="session")
def commands() -> Iterator[CommandServer]:
    """What runs commands without their imports."""
    server = CommandServer(TOOL)
    yield server
    server.close()


@pytest.fixture
def shop(tmp_path: Path, commands: CommandServer) -> Workshop:
    """An empty working directory."""
    return make_workshop(tmp_path, commands)


@pytest.fixture(scope="session")
def race(tmp_path_factory: pytest.TempPathFactory, commands: CommandServer) -> Workshop:
    """A working directory with a race, the logs of a hunt for it (in ``found``), and a log of its default schedule.

    Shared by the tests: none may change a file in it.
    """
    shop = make_workshop(tmp_path_factory.mktemp("race"), commands)
    shop.write(RACE)
    hunted = shop.run("hunt", "-o", "found", "--jobs", "2", *shop.program())
    assert hunted.status == 0, hunted.stderr
    recorded = shop.run("record", "-o", "default.log", *shop.program())
    assert recorded.status == 0, recorded.stderr
    return shop
