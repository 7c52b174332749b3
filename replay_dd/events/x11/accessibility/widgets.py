"""What GTK, wxGTK and Qt call the widgets of a program, when they tell it on a bus of this run's own.

Rules of this module:

* A program is asked when it is idle, and calls nothing of its own for it but what it does for a screen reader.
* A program on a bus runs other code than without one. So this is done in runs of its own, which decide nothing.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from replay_dd.events.model import Action, ActionKind
from replay_dd.events.naming import chooses_by_letter, window_of
from replay_dd.events.x11.accessibility.bus import AccessibilityBus
from replay_dd.events.x11.accessibility.pointed import in_words, opened, widget_at
from replay_dd.events.x11.accessibility.tree import LIMIT_S, labels_of, read
from replay_dd.events.x11.connection import Connection
from replay_dd.events.x11.windows import open_menus

# Libraries of the toolkits that tell of their widgets.
_TOOLKITS = (b"/libgtk-3.so", b"/libgtk-4.so", b"/libQt5Gui.so", b"/libQt6Gui.so")

_STRING = 31  # the predefined atom of texts (X Window System Protocol, appendix B)


def can_tell(processes: Iterable[int]) -> bool:
    """Whether one of these processes uses a toolkit that tells of its widgets."""
    for process in processes:
        with contextlib.suppress(OSError):
            maps = Path(f"/proc/{process}/maps").read_bytes()
            if any(name in maps for name in _TOOLKITS):
                return True
    return False


def announced_bus(connection: Connection) -> AccessibilityBus:
    """A bus that the display tells of, too: Qt 5 sometimes forgets what it has heard of the bus of the desktop."""
    bus = AccessibilityBus()
    with connection.watched():
        connection.root.change_property(connection.atom("AT_SPI_BUS"), _STRING, 8, bus.address.encode())
        connection.sync()
    return bus


class ToldWidgets:
    """The widgets of the programs on a bus.

    Args:
        connection: to the display.
        bus: where the programs are.
    """

    def __init__(self, connection: Connection, bus: AccessibilityBus) -> None:
        self._connection = connection
        self._bus = bus
        self._waited = False

    def name(self, action: Action) -> str:
        """What an action is going to be done to, such as ``button "Save"``; empty if that is not known."""
        if action.kind is ActionKind.MOTION:
            return ""
        window = window_of(action, self._connection)
        if window is None:
            return ""
        if not self._waited:
            self._waited = True
            self._bus.wait(LIMIT_S)
        for program in self._bus.programs:
            widgets = read(program, action.start)
            found = widget_at(widgets, window, action.start, open_menus(self._connection))
            if found is None:
                continue
            told = opened(widgets, found) if chooses_by_letter(action) else ""
            told = told or in_words(widgets, found, partial(labels_of, program))
            if told:
                return told
        return ""
