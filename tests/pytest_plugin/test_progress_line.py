"""How far a hunt has come, at the end of the line that pytest writes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from _pytest.terminal import TerminalReporter

from replay_dd.pytest_plugin import progress_line
from replay_dd.pytest_plugin.progress_line import NOWHERE, ProgressLine, room_of, terminal_for_progress

PTY = {"TERM": "xterm"}


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    """Two ends of a pipe: what is drawn, and where."""
    ends = os.pipe()
    yield ends
    for end in ends:
        os.close(end)


def line_at(descriptor: int) -> ProgressLine:
    """One on which no thread tells the time."""
    line = ProgressLine(NOWHERE)
    line._descriptor = descriptor
    return line


def drawn_in(terminal: tuple[int, int], room: int) -> bytes:
    """What is drawn in so many columns: something short, something longer, and the end."""
    line = line_at(terminal[1])
    line.show("not begun")
    line.begin(room)
    line.show("run 1")
    line.show("run 1 of 1,000,000")
    line.end()
    line.show("over")
    os.write(terminal[1], b"|")
    return os.read(terminal[0], 1000)


@pytest.mark.once
@pytest.mark.parametrize(
    ("room", "shown"),
    [
        (0, b""),
        (10, b"\x1b[K"),
        (11, b" run 1, 0 s\x1b[K\x1b[11D\x1b[K"),
        (22, b" replay-dd: run 1, 0 s\x1b[K\x1b[22D\x1b[K"),
        (24, b" replay-dd: run 1, 0 s\x1b[K\x1b[22D run 1 of 1,000,000, 0 s\x1b[K\x1b[24D\x1b[K"),
    ],
)
def test_progress_fits_into_the_line_and_is_wiped_out(
    room: int, shown: bytes, terminal: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress_line, "monotonic", lambda: 5.0)
    assert drawn_in(terminal, room) == shown + b"|"


@pytest.mark.once
def test_the_time_goes_on_while_nothing_else_is_told(
    terminal: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    times = iter((5.0, 6.0, 68.0))
    monkeypatch.setattr(progress_line, "monotonic", lambda: next(times))
    line = line_at(terminal[1])
    line.show_time()
    line.begin(80)
    line.show_time()
    line.show("run 1")
    line.show_time()
    line.end()
    line.show_time()
    drawn = os.read(terminal[0], 1000)
    assert re.findall(rb"run 1, [0-9]+ s", drawn) == [b"run 1, 1 s", b"run 1, 63 s"]
    assert drawn.endswith(b"D\x1b[K")


@pytest.mark.once
def test_a_terminal_that_is_gone_ends_no_hunt() -> None:
    reads, writes = os.pipe()
    os.close(reads)
    line = line_at(writes)
    line.begin(80)
    line.show("run 1")
    os.close(writes)
    line.show("run 2")
    line.end()


@pytest.mark.once
@pytest.mark.parametrize(
    ("verbosity", "capture", "environment", "is_terminal", "shows"),
    [
        (0, "fd", PTY, True, True),
        (1, "fd", PTY, True, True),
        (0, "fd", PTY, False, False),
        (-1, "fd", PTY, True, False),
        (0, "no", PTY, True, False),
        (0, "fd", {}, True, False),
        (0, "fd", {"TERM": "dumb"}, True, False),
        (0, "fd", PTY | {"CI": "true"}, True, False),
        (0, "fd", PTY | {"CI": ""}, True, True),
        (0, "fd", PTY | {"REPLAY_DD_PROGRESS": "0"}, True, False),
    ],
)
def test_progress_is_shown_to_who_sits_at_a_terminal(
    verbosity: int,
    capture: str,
    environment: dict[str, str],
    is_terminal: bool,
    shows: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config: Any = SimpleNamespace(get_verbosity=lambda: verbosity, getoption={"capture": capture}.get)
    monkeypatch.setattr(os, "isatty", lambda _: is_terminal)
    monkeypatch.setattr(os, "dup", lambda descriptor: descriptor + 10)
    assert terminal_for_progress(config, environment) == (11 if shows else NOWHERE)


@pytest.mark.once
@pytest.mark.parametrize(("written", "room"), [("", 79), ("test_it.py ..", 66), ("x" * 79, 0), ("x" * 90, 69)])
def test_the_room_is_what_is_left_of_the_line(
    written: str, room: int, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    class Other(TerminalReporter):
        """As of a plugin that draws the whole screen."""

    with (tmp_path / "terminal").open("w") as file:
        for kind, expected in ((TerminalReporter, room), (Other, 0)):
            reporter = kind(pytestconfig, file)
            writer = reporter._tw
            writer.fullwidth = 80
            reporter.write(written)
            plugins = SimpleNamespace(getplugin={"terminalreporter": reporter}.get)
            config: Any = SimpleNamespace(pluginmanager=plugins, get_terminal_writer=lambda writer=writer: writer)
            assert room_of(config) == expected
