"""Which window an event was for.

Rules of this module:

* The recorder looks at an event some hundredths of a second after it has come, and later on a busy machine. A press
  that opens a menu or a dialog, or closes one, has done so by then, and what is under the pointer has changed.
* To whom the server gave a press is in its own stream, and decides where that is known. A program may take all presses
  for a while, as menus do: what is pressed beside its window was still meant for what is there, and keys, which it may
  pass on (as a list of completions does), for the window with the keyboard.
* Where it is not known, what was under a resting pointer counts: the recorder also looks while nothing is going on.
"""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from recorders.x11_gone import GoneWindows
from replay_dd.events.model import InputKind, Window
from replay_dd.events.relocate import same_kind
from replay_dd.events.x11.connection import Connection
from replay_dd.events.x11.stream import RawEvent
from replay_dd.events.x11.windows import Accept, focused_window, window_at

# A window is looked for anew at most so often while the pointer only moves.
_LOOK_S = 0.1
_MOST_RESTS = 8
KEYS = (InputKind.KEY_PRESS, InputKind.KEY_RELEASE)


@dataclass(frozen=True)
class _Rest:
    """What there was while nothing was going on, and by when it had been looked at."""

    server_ms: int
    place: tuple[int, int]
    under_pointer: Window | None
    with_keyboard: Window | None


class Aims:
    """Finds the windows of events.

    Args:
        connection: to the display; it must watch windows.
        gone: knows the windows that have gone.
        accept: says whether a window counts; all do where it is None.
        number: numbers a window.
        clock_ms: tells the time of the display's server.
        received: the program's window that the server gave a press to; None if it is not known.
    """

    def __init__(
        self,
        connection: Connection,
        gone: GoneWindows,
        accept: Accept | None,
        number: Callable[[Window], int],
        clock_ms: Callable[[], int],
        received: Callable[[RawEvent], Window | None],
    ) -> None:
        self._connection = connection
        self._gone = gone
        self._accept = accept
        self._number = number
        self._clock_ms = clock_ms
        self._received = received
        self._rests: deque[_Rest] = deque(maxlen=_MOST_RESTS)
        self._noticed_ms = -1
        self._place: tuple[int, int] | None = None
        self._disturbed = False
        self._last_look = 0.0
        self._last_window: int | None = None

    def window_of(self, raw: RawEvent) -> int | None:
        """The number of the window that an event was for; None for the background."""
        now = time.monotonic()
        self._disturbed, self._place = True, (raw.x_px, raw.y_px)
        if raw.kind is InputKind.MOVE and now - self._last_look < _LOOK_S:
            return self._last_window
        self._last_look = now
        is_key = raw.kind in KEYS
        seen = self._before(raw, is_key) or self._now(is_key, self._place)
        given = self._received(raw) if raw.receiver else None
        if given is not None and _may_be_for(given, raw, is_key) and not _is_part_of(seen, given):
            seen = given
        if seen is None and self._gone.took_it(raw.kind):
            stood = self._gone.at(raw.x_px, raw.y_px)
            return self._last_window if stood is None or (is_key and self._last_window is not None) else stood
        self._last_window = None if seen is None else self._number(seen)
        return self._last_window

    def windows_changed(self) -> None:
        """Windows have come, gone or moved."""
        self._disturbed = True
        self._noticed_ms = self._clock_ms()

    def rest(self) -> None:
        """Look what there is while nothing is going on, if anything has happened since this was last done."""
        if self._disturbed and self._place is not None:
            self._disturbed = False
            seen = self._at(self._place), self._focused()
            self._rests.append(_Rest(self._clock_ms(), self._place, *seen))

    def _before(self, raw: RawEvent, is_key: bool) -> Window | None:
        """What an event was for if windows have come or gone since, perhaps because of it; else None."""
        if raw.server_ms > self._noticed_ms and not self._connection.has_changed_windows():
            return None
        rest = next((rest for rest in reversed(self._rests) if rest.server_ms <= raw.server_ms), None)
        if rest is None:
            return None
        if is_key and rest.with_keyboard is not None:
            return rest.with_keyboard
        return rest.under_pointer if (raw.x_px, raw.y_px) == rest.place else None

    def _now(self, is_key: bool, place: tuple[int, int]) -> Window | None:
        return (self._focused() if is_key else None) or self._at(place)

    def _focused(self) -> Window | None:
        with contextlib.suppress(*self._connection.bad_resource):
            return focused_window(self._connection, self._accept)
        return None

    def _at(self, place: tuple[int, int]) -> Window | None:
        with contextlib.suppress(*self._connection.bad_resource):
            return window_at(self._connection, *place, self._accept)
        return None


def _may_be_for(window: Window, raw: RawEvent, is_key: bool) -> bool:
    """Whether a press was for the window that it was given to, which may have taken all of them for itself."""
    return not window.override_redirect if is_key else window.area.contains(raw.x_px, raw.y_px)


def _is_part_of(seen: Window | None, window: Window) -> bool:
    """Whether what was seen is a window, or a part of it; its place may have changed meanwhile."""
    return seen is not None and same_kind(seen, window) and seen.title == window.title
