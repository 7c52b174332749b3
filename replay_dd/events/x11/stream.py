"""All input events of a display as they happen: the extension RECORD.

Rules of this module:

* RECORD needs two connections: one waits for events and does nothing else, the other one controls it.
* Events are taken in the order of the server, with its times; nothing is looked up here, so that none is lost.
* A client that types what no key makes (xdotool, input methods) gives a spare key that symbol, and takes it away at
  once. So changes of the keyboard are taken in the same order: the keyboard as it is later tells nothing about them.
"""

from __future__ import annotations

import contextlib
import queue
import struct
import threading
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from replay_dd.events.model import InputKind
from replay_dd.events.x11.connection import Connection

_FROM_SERVER, _FROM_CLIENT = 0, 1
_CHANGE_KEYBOARD_MAPPING = 100
_REQUEST_HEAD = struct.Struct("=BBHBBxx")
_KINDS = {
    2: InputKind.KEY_PRESS,
    3: InputKind.KEY_RELEASE,
    4: InputKind.BUTTON_PRESS,
    5: InputKind.BUTTON_RELEASE,
    6: InputKind.MOVE,
}
_EVENT_BYTES = 32
_END_LIMIT_S = 5.0


class RawEvent(NamedTuple):
    """An event as the server tells it."""

    kind: InputKind
    server_ms: int
    x_px: int
    y_px: int
    detail: int
    state: int


class KeyboardChange(NamedTuple):
    """A client gives keys other symbols (ChangeKeyboardMapping).

    Attributes:
        first: the first key code.
        rows: the numbers of the key symbols of each key, level by level.
    """

    first: int
    rows: tuple[tuple[int, ...], ...]


class InputStream:
    """The input events of a display from now on.

    Args:
        control: a connection to the display.

    Raises:
        ExtensionMissingError: the display has no RECORD.
    """

    def __init__(self, control: Connection) -> None:
        control.require("RECORD")
        from Xlib.ext import record

        self._control = control
        self._data = Connection(control.name)
        # Not a `SimpleQueue`: in Python 3.11, a signal at the end of its time-out can make it wait for ever.
        self._events: queue.Queue[RawEvent | KeyboardChange] = queue.Queue()
        self._begun = threading.Event()
        self.first_ms = 0
        self._first_s = 0.0
        # A dictionary for each range of protocol elements: one request, and events of devices, from KeyPress to
        # MotionNotify.
        nothing = (0, 0)
        wanted = {
            "core_requests": (_CHANGE_KEYBOARD_MAPPING, _CHANGE_KEYBOARD_MAPPING),
            "core_replies": nothing,
            "ext_requests": (0, 0, 0, 0),
            "ext_replies": (0, 0, 0, 0),
            "delivered_events": nothing,
            "device_events": (min(_KINDS), max(_KINDS)),
            "errors": nothing,
            "client_started": False,
            "client_died": False,
        }
        with self._data.watched():
            self._context = self._data.display.record_create_context(0, [record.AllClients], [wanted])
            self._data.sync()
        self._thread = threading.Thread(target=self._listen, name="replay-dd-record", daemon=True)
        self._thread.start()
        self._begun.wait(_END_LIMIT_S)

    def taken(self, limit_s: float) -> list[RawEvent | KeyboardChange]:
        """What happened since this was last asked; waits for the first event, but not longer than the limit."""
        events: list[RawEvent | KeyboardChange] = []
        with contextlib.suppress(queue.Empty):
            events.append(self._events.get(timeout=limit_s))
            while True:
                events.append(self._events.get_nowait())
        return events

    def clock_ms(self) -> int:
        """The time of the server, or a little less: of its clock is known what it told at the start."""
        return self.first_ms + int((time.monotonic() - self._first_s) * 1000)

    def close(self) -> None:
        """Stop listening. What has happened until now can still be taken."""
        with contextlib.suppress(Exception):
            self._control.display.record_disable_context(self._context)
            self._control.display.sync()
        self._thread.join(_END_LIMIT_S)
        self._data.close()

    def _listen(self) -> None:
        with contextlib.suppress(Exception):  # the display has gone; whoever asks for more is told elsewhere
            self._data.display.record_enable_context(self._context, self._receive)
        self._begun.set()

    def _receive(self, reply: Any) -> None:
        if not self._begun.is_set():
            self.first_ms, self._first_s = reply.server_time, time.monotonic()
            self._begun.set()
        if reply.client_swapped:
            return
        if reply.category == _FROM_CLIENT:
            for change in keyboard_changes(reply.data):
                self._events.put(change)
        if reply.category != _FROM_SERVER:
            return
        from Xlib.protocol import rq

        data = reply.data
        while len(data) >= _EVENT_BYTES:
            event, data = rq.EventField(None).parse_binary_value(data, self._data.display.display, None, None)
            kind = _KINDS.get(event.type)
            if kind is not None:
                self._events.put(RawEvent(kind, event.time, event.root_x, event.root_y, event.detail, event.state))


def keyboard_changes(data: bytes) -> Iterator[KeyboardChange]:
    """The changes of the keyboard in recorded requests (X11 protocol, encoding of ChangeKeyboardMapping)."""
    while len(data) >= _REQUEST_HEAD.size:
        opcode, keys, words, first, levels = _REQUEST_HEAD.unpack_from(data)
        if opcode == _CHANGE_KEYBOARD_MAPPING and len(data) >= _REQUEST_HEAD.size + 4 * keys * levels:
            symbols = struct.unpack_from(f"={keys * levels}I", data, _REQUEST_HEAD.size)
            yield KeyboardChange(first, tuple(symbols[key * levels : (key + 1) * levels] for key in range(keys)))
        data = data[max(4 * words, _REQUEST_HEAD.size) :]
