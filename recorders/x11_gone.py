"""Windows that are gone when the recorder looks whom an event was for.

A click that ends a program takes its window away. The recorder looks at an event some hundredths of a second after it
has come, or later on a busy machine: when the window has gone, and perhaps before the program has.
"""

from __future__ import annotations

import threading
import time

from replay_dd.events.model import InputKind, Rectangle
from replay_dd.events.x11.display import BorrowedDisplay, Display
from replay_dd.events.x11.program import RunningProgram
from replay_dd.events.x11.windows import top_windows

# How long a program that an event ends takes to be gone; and if it has no window any more, on a display of its own.
_AT_ITS_END_S = 0.1
_WITHOUT_WINDOWS_S = 5.0


class GoneWindows:
    """Where each window of a program was seen last.

    Args:
        program: the program.
        display: where its windows are.
        ended: set when the recording ends.
    """

    def __init__(self, program: RunningProgram, display: Display, ended: threading.Event) -> None:
        self._program = program
        self._display = display
        self._ended = ended
        self._areas: dict[int, Rectangle] = {}

    def note(self, number: int, area: Rectangle) -> None:
        """Note where a window is; those that are noted later stand above it, or are there for longer."""
        self._areas.pop(number, None)
        self._areas[number] = area

    def at(self, x_px: int, y_px: int) -> int | None:
        """The number of the window that was at this place of the screen last; None if there was none."""
        return next((number for number, area in reversed(self._areas.items()) if area.contains(x_px, y_px)), None)

    def took_it(self, kind: InputKind) -> bool:
        """Whether an event was for no window because the program ends, by that event or by one just before it.

        Args:
            kind: what the event is; a motion ends no program.
        """
        if kind is InputKind.MOVE:
            return self._program.ending() is not None
        until = time.monotonic() + _WITHOUT_WINDOWS_S
        while self._program.wait_for_end(_AT_ITS_END_S) is None:
            waits = self._areas and not isinstance(self._display, BorrowedDisplay) and not self._ended.is_set()
            if not waits or top_windows(self._display.connection) or time.monotonic() > until:
                return False
        return True
