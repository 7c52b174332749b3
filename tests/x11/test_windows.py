"""Which windows of a display are a program's."""

from __future__ import annotations

import pytest
from Xlib import X

from replay_dd.events.x11.display import PrivateDisplay
from replay_dd.events.x11.windows import focused_window

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
