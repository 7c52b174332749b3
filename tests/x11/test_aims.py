"""Which window an event was for where the event itself opens or closes one."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from recorders.x11_aims import Aims
from replay_dd.events.model import InputKind, Rectangle, Window
from replay_dd.events.x11.stream import RawEvent

pytestmark = pytest.mark.once

AREA = Rectangle(0, 0, 100, 100)
MAIN, MENU, DIALOG = (Window(0, "", "", title, AREA, AREA) for title in ("Main", "Menu", "Dialog"))
PRESS = RawEvent(InputKind.BUTTON_PRESS, 0, 10, 10, 3, 0)
ELSEWHERE = RawEvent(InputKind.BUTTON_PRESS, 0, 50, 50, 3, 0)
KEY = RawEvent(InputKind.KEY_PRESS, 0, 10, 10, 40, 0)


class Desk:
    """What is on the screen at the moment."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.under_pointer: Window | None = MAIN
        self.with_keyboard: Window | None = MAIN
        self.changed = False
        self._named: list[Window] = []
        connection = SimpleNamespace(bad_resource=(), has_changed_windows=lambda: self.changed)
        gone = SimpleNamespace(took_it=lambda kind: False)
        monkeypatch.setattr("recorders.x11_aims.window_at", lambda *place: self.under_pointer)
        monkeypatch.setattr("recorders.x11_aims.focused_window", lambda *accept: self.with_keyboard)
        self.now_ms = 0
        self.receiver: Window | None = None
        self.aims = Aims(
            *(
                cast(Any, connection),
                cast(Any, gone),
                None,
                self._number,
                lambda: self.now_ms,
                lambda raw: self.receiver,
            )
        )

    def _number(self, window: Window) -> int:
        self._named.append(window)
        return len(self._named) - 1

    def given(self, raw: RawEvent, receiver: Window) -> Window | None:
        """The window of an event of which the server tells whom it was given to."""
        self.receiver = receiver
        return self.window_of(raw._replace(receiver=(1,)))

    def window_of(self, raw: RawEvent, at_ms: int | None = None) -> Window | None:
        self.now_ms += 1
        number = self.aims.window_of(raw._replace(server_ms=self.now_ms if at_ms is None else at_ms))
        return None if number is None else self._named[number]

    def put(self, window: Window) -> None:
        """A window opens under the pointer, and has the keyboard."""
        self.under_pointer = self.with_keyboard = window
        self.changed = True

    def settle(self) -> None:
        """The recorder learns about the windows, and then nothing happens."""
        self.notice()
        self.now_ms += 1
        self.aims.rest()

    def notice(self) -> None:
        """The recorder learns about the windows."""
        self.now_ms += 1
        self.changed = False
        self.aims.windows_changed()


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Desk:
    desk = Desk(monkeypatch)
    desk.window_of(PRESS)
    desk.settle()
    return desk


def test_a_press_that_opens_a_menu_was_for_what_it_hides(desk: Desk) -> None:
    desk.put(MENU)
    assert desk.window_of(PRESS) == MAIN
    desk.settle()
    assert desk.window_of(PRESS) == MENU
    desk.put(MAIN)
    assert desk.window_of(PRESS) == MENU, "it has closed the menu"


def test_a_key_that_opens_a_dialog_was_for_the_window_before(desk: Desk) -> None:
    desk.put(DIALOG)
    assert desk.window_of(KEY) == MAIN
    desk.settle()
    assert desk.window_of(KEY) == DIALOG


def test_events_that_are_looked_at_late_are_of_their_time(desk: Desk) -> None:
    before = desk.now_ms
    desk.put(DIALOG)
    desk.notice()
    assert desk.window_of(KEY) == DIALOG, "it came after the dialog"
    assert desk.window_of(KEY, before) == desk.window_of(PRESS, before) == MAIN
    desk.settle()
    assert desk.window_of(KEY, before) == desk.window_of(PRESS, before) == MAIN


def test_where_nobody_has_looked_what_is_there_now_counts(desk: Desk) -> None:
    desk.put(MENU)
    assert desk.window_of(ELSEWHERE) == MENU


def test_a_window_that_gets_the_keyboard_late_has_it(desk: Desk) -> None:
    desk.under_pointer, desk.changed = DIALOG, True
    desk.settle()
    desk.with_keyboard = DIALOG
    assert desk.window_of(KEY) == DIALOG


def test_whom_the_server_gave_a_press_to_decides(desk: Desk) -> None:
    assert desk.given(ELSEWHERE, MENU) == MENU, "it has closed the menu, and nobody had looked before"
    assert desk.given(KEY, DIALOG) == DIALOG
    desk.put(MENU)
    assert desk.given(ELSEWHERE, MAIN) == MAIN, "it has opened the menu"


def test_a_press_beside_a_menu_that_takes_all_presses_was_for_what_is_there(desk: Desk) -> None:
    menu = replace(MENU, area=Rectangle(60, 60, 40, 40), override_redirect=True)
    assert desk.given(PRESS, menu) == MAIN
    assert desk.given(ELSEWHERE._replace(x_px=70, y_px=70), menu) == menu
    assert desk.given(KEY, menu) == MAIN, "it may be a list of completions, and pass keys on"


def test_the_part_that_was_seen_is_kept(desk: Desk) -> None:
    desk.under_pointer = part = replace(MAIN, part=Rectangle(5, 5, 9, 9), path=(2,))
    assert desk.given(PRESS, MAIN) == part
    assert desk.given(PRESS, replace(MAIN, area=Rectangle(0, 5, 100, 100))) == part, "it has moved"
    assert desk.given(PRESS, replace(MAIN, override_redirect=True)) != part
