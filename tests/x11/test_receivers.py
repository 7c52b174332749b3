"""Whom the server gave a press to."""

from __future__ import annotations

import struct
import time

import pytest

from replay_dd.events.model import InputKind
from replay_dd.events.x11.connection import Connection
from replay_dd.events.x11.display import PrivateDisplay
from replay_dd.events.x11.receivers import CREATE_WINDOW, REPARENT_WINDOW, FamilyTree
from replay_dd.events.x11.stream import InputStream, News, RawEvent, WindowShown
from tests.x11.conftest import SCREEN

pytestmark = pytest.mark.once
_MAP_WINDOW = 8
_BUTTON_PRESS_MASK = 1 << 2


def request(opcode: int, window: int, parent: int, more: int = 0) -> bytes:
    return struct.pack("=BxHII", opcode, 3 + more, window, parent) + bytes(4 * more)


def test_families_are_learnt_from_requests() -> None:
    families = FamilyTree()
    families.learn(request(CREATE_WINDOW, 20, 10, 5) + request(_MAP_WINDOW, 99, 98) + request(CREATE_WINDOW, 30, 20))
    assert (families.of(30), families.of(10), families.of(99)) == ((30, 20, 10), (10,), (99,))
    families.learn(request(REPARENT_WINDOW, 20, 11, 1))
    assert families.of(30) == (30, 20, 11)
    families.learn(request(CREATE_WINDOW, 30, 12)[:-1])
    assert families.of(30) == (30, 20, 11), "only half of a request"
    families.learn(request(CREATE_WINDOW, 11, 30))
    assert len(families.of(30)) == 50, "a circle"


def taken(stream: InputStream, count: int) -> list[News]:
    """So much of what has happened, within some time."""
    found: list[News] = []
    until = time.monotonic() + 10
    while len(found) < count and time.monotonic() < until:
        found += stream.taken(0.05)
    return found


def test_a_press_comes_with_the_window_that_it_was_given_to() -> None:
    with PrivateDisplay(SCREEN, "") as display:
        stream = InputStream(display.connection)
        program = Connection(display.name)
        try:
            outer = program.root.create_window(100, 100, 200, 200, 0, program.screen.root_depth)
            inner = outer.create_window(50, 50, 20, 20, 0, 0, event_mask=_BUTTON_PRESS_MASK)
            inner.map()
            outer.map()
            program.sync()
            display.connection.use_xtest()
            for place in ((155, 155), (20, 20)):
                display.connection.fake(6, 0, *place)
                display.connection.fake(4, 1)
                display.connection.sync()
                outer.destroy()  # by the program, on the press: nothing can be asked about it afterwards
                program.sync()
                display.connection.fake(5, 1)
                display.connection.sync()
            found = taken(stream, 6)
        finally:
            stream.close()
            program.close()
    inputs = [news for news in found if isinstance(news, RawEvent)]
    assert [news.kind for news in inputs] == 2 * [InputKind.MOVE, InputKind.BUTTON_PRESS, InputKind.BUTTON_RELEASE]
    root = inputs[1].receiver[-1]
    assert [news.receiver for news in inputs] == [(), (inner.id, outer.id, root), (), (), (), ()]


def test_windows_that_come_are_told_at_once() -> None:
    with PrivateDisplay(SCREEN, "") as display:
        display.connection.watch_windows()
        stream = InputStream(display.connection)
        try:
            window = display.connection.root.create_window(0, 0, 9, 9, 0, 0)
            window.map()
            display.connection.sync()
            assert WindowShown(window.id) in taken(stream, 1)
        finally:
            stream.close()


def test_the_last_press_is_not_kept_back_for_ever() -> None:
    with PrivateDisplay(SCREEN, "") as display:
        stream = InputStream(display.connection)
        display.connection.use_xtest()
        display.connection.fake(4, 1)
        display.connection.sync()
        stream.close()
        assert [news.kind for news in taken(stream, 1) if isinstance(news, RawEvent)] == [InputKind.BUTTON_PRESS]
