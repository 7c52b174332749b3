"""Which windows of a display are a program's."""

from __future__ import annotations

import pytest
from Xlib import X, Xatom

from replay_dd.events.model import Rectangle
from replay_dd.events.x11.display import PrivateDisplay
from replay_dd.events.x11.windows import focused_window, open_menus

pytestmark = pytest.mark.once


def test_a_window_outside_of_the_screen_has_the_keyboard_for_nobody(display: PrivateDisplay) -> None:
    """A window manager gives it to one of its own while it decides which window is next."""
    connection = display.connection
    own = connection.root.create_window(-100, -100, 1, 1, 0, X.CopyFromParent, override_redirect=True)
    own.map()
    own.set_input_focus(X.RevertToPointerRoot, X.CurrentTime)
    connection.display.sync()
    assert focused_window(connection) is None
    own.configure(x=100, y=100)
    connection.display.sync()
    found = focused_window(connection)
    assert found is not None
    assert (found.area.x_px, found.area.y_px) == (100, 100)


@pytest.mark.parametrize(
    "kind, is_menu",
    [("", True), ("_NET_WM_WINDOW_TYPE_POPUP_MENU", True), ("_NET_WM_WINDOW_TYPE_TOOLTIP", False)],
)
def test_a_menu_is_open_where_a_window_takes_the_keyboard_without_having_it(
    kind: str, is_menu: bool, display: PrivateDisplay
) -> None:
    connection = display.connection
    assert open_menus(connection) == ()
    menu = connection.root.create_window(10, 10, 50, 50, 0, X.CopyFromParent, override_redirect=True)
    if kind:
        menu.change_property(connection.atom("_NET_WM_WINDOW_TYPE"), Xatom.ATOM, 32, [connection.atom(kind)])
    menu.map()
    connection.display.sync()
    assert open_menus(connection) == ((Rectangle(10, 10, 50, 50),) if is_menu else ())
    menu.unmap()
    connection.display.sync()
    assert open_menus(connection) == ()
