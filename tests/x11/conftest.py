"""These tests need Xvfb and a window manager; where they are not installed, that is said and the tests are skipped."""

from __future__ import annotations

import os
import shutil
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from replay_dd.events.model import GuiProgram, Screen, Session
from replay_dd.events.x11.display import PrivateDisplay, choose_window_manager
from replay_dd.experiment.process import no_leftovers

PROGRAM = Path(__file__).with_name("window_program.py")
SCREEN = Screen(800, 600)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if shutil.which("Xvfb") is None:
        skip = pytest.mark.skip(reason="Xvfb is not installed (Debian package xvfb)")
        for item in items:
            if Path(__file__).parent in item.path.parents:
                item.add_marker(skip)


def session_of(behaviour: str, **fields: object) -> Session:
    """A session with the program of the tests."""
    program = GuiProgram((sys.executable, str(PROGRAM), behaviour), str(PROGRAM.parent))
    return Session(program, SCREEN, window_manager=choose_window_manager(None), **fields)  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def nothing_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No folder and no lock of a display outlives a test, and no process that it started."""
    temporary = tmp_path / "private"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    with no_leftovers():
        yield
    assert list(temporary.iterdir()) == []
    mark = f"TMPDIR={temporary}".encode()
    for process in Path("/proc").iterdir():
        if process.name.isdigit() and int(process.name) != os.getpid():
            try:
                environment = (process / "environ").read_bytes()
            except OSError:
                continue
            assert mark not in environment, (process / "cmdline").read_bytes()


@pytest.fixture
def display() -> Iterator[PrivateDisplay]:
    """A private display with a window manager."""
    with PrivateDisplay(SCREEN, choose_window_manager(None)) as made:
        yield made
    assert made.number not in numbers_without_server()


def numbers_without_server() -> set[int]:
    """The numbers of displays of which a socket is left that nobody answers."""
    found = set()
    for address in Path("/tmp/.X11-unix").glob("X*"):
        with socket.socket(socket.AF_UNIX) as probe:
            try:
                probe.connect(str(address))
            except ConnectionRefusedError:
                found.add(int(address.name[1:]))
            except OSError:
                continue  # it has just gone
    return found
