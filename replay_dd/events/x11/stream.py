"""All input events of a display as they happen: the extension RECORD.

Rules of this module:

* RECORD needs two connections: one waits for events and does nothing else, the other one controls it.
* Events are taken in the order of the server, with its times; nothing is looked up here, so that none is lost.
* A client that types what no key makes (xdotool, input methods) gives a spare key that symbol, and takes it away at
  once. So changes of the keyboard are taken in the same order: the keyboard as it is later tells nothing about them.
* Whom the server gave a press to follows the press in the stream. So a press is kept back until that is known, or
  something else has happened, or nothing more comes: not everything is given to somebody.
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
from replay_dd.events.x11.receivers import CREATE_WINDOW, REPARENT_WINDOW, FamilyTree

_FROM_SERVER, _FROM_CLIENT = 0, 1
_CHANGE_KEYBOARD_MAPPING = 100
_REQUEST_HEAD = struct.Struct("=BBHBBxx")
_MAP_NOTIFY = 19
# X11 protocol, encoding of the events: type, detail, time, and the window that an input event is given to; and the
# window that has come.
_GIVEN, _SHOWN = struct.Struct("=BB2xI4xI"), struct.Struct("=8xI")
_KINDS = {
    2: InputKind.KEY_PRESS,
    3: InputKind.KEY_RELEASE,
    4: InputKind.BUTTON_PRESS,
    5: InputKind.BUTTON_RELEASE,
    6: InputKind.MOVE,
}
_PRESSES = (InputKind.KEY_PRESS, InputKind.BUTTON_PRESS)
_EVENT_BYTES = 32
_END_LIMIT_S = 5.0


class RawEvent(NamedTuple):
    """An event as the server tells it.

    Attributes:
        kind: what it is.
        server_ms: when it was, by the server's clock.
        x_px: where the pointer was.
        y_px: where the pointer was.
        detail: the button, or the key code.
        state: the modifiers and buttons that were held.
        receiver: of a press, the window that it was given to, and what that is in, from the innermost on; empty where
            nobody got it, or the server does not tell.
    """

    kind: InputKind
    server_ms: int
    x_px: int
    y_px: int
    detail: int
    state: int
    receiver: tuple[int, ...] = ()


class KeyboardChange(NamedTuple):
    """A client gives keys other symbols (ChangeKeyboardMapping).

    Attributes:
        first: the first key code.
        rows: the numbers of the key symbols of each key, level by level.
    """

    first: int
    rows: tuple[tuple[int, ...], ...]


class WindowShown(NamedTuple):
    """A window has come."""

    window: int


News = RawEvent | KeyboardChange | WindowShown


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
        self._events: queue.Queue[News] = queue.Queue()
        self._families = FamilyTree()
        self._kept_back: RawEvent | None = None
        self._kept_since = 0.0
        self._lock = threading.Lock()
        self._begun = threading.Event()
        self.first_ms = 0
        self._first_s = 0.0
        # A dictionary for each range of protocol elements.
        wanted = [
            _range("device_events", min(_KINDS), max(_KINDS)),
            _range("delivered_events", 2, 5),
            _range("delivered_events", _MAP_NOTIFY),
            *(_range("core_requests", code) for code in (CREATE_WINDOW, REPARENT_WINDOW, _CHANGE_KEYBOARD_MAPPING)),
        ]
        with self._data.watched():
            self._context = self._data.display.record_create_context(0, [record.AllClients], wanted)
            self._data.sync()
        self._thread = threading.Thread(target=self._listen, name="replay-dd-record", daemon=True)
        self._thread.start()
        self._begun.wait(_END_LIMIT_S)

    def taken(self, limit_s: float) -> list[News]:
        """What happened since this was last asked; waits for the first event, but not longer than the limit."""
        events: list[News] = []
        with contextlib.suppress(queue.Empty):
            events.append(self._events.get(timeout=limit_s))
            while True:
                events.append(self._events.get_nowait())
        if not events:
            self._let_go(kept_for_s=limit_s)
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
        self._let_go()

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
            self._families.learn(reply.data)
            for change in keyboard_changes(reply.data):
                self._put(change)
        elif reply.category == _FROM_SERVER:
            # Events of devices belong to no client.
            take = self._take_given if reply.id_base else self._take_input
            for start in range(0, len(reply.data) - _EVENT_BYTES + 1, _EVENT_BYTES):
                take(reply.data[start : start + _EVENT_BYTES])

    def _take_input(self, data: bytes) -> None:
        from Xlib.protocol import rq

        event, _ = rq.EventField(None).parse_binary_value(data, self._data.display.display, None, None)
        kind = _KINDS.get(event.type)
        if kind is not None:
            self._put(RawEvent(kind, event.time, event.root_x, event.root_y, event.detail, event.state))

    def _take_given(self, data: bytes) -> None:
        """A client was told that a window has come, or given a press that was told just before."""
        kind, detail, time_ms, window = _GIVEN.unpack_from(data)
        if kind & 0x7F == _MAP_NOTIFY:
            self._put(WindowShown(*_SHOWN.unpack_from(data)))
            return
        with self._lock:
            press, given = self._kept_back, (_KINDS[kind & 0x7F], detail, time_ms)
            if press is not None and (press.kind, press.detail, press.server_ms) == given:
                self._kept_back = None
                self._events.put(press._replace(receiver=self._families.of(window)))

    def _put(self, news: News) -> None:
        self._let_go()
        if isinstance(news, RawEvent) and news.kind in _PRESSES:
            with self._lock:
                self._kept_back, self._kept_since = news, time.monotonic()
        else:
            self._events.put(news)

    def _let_go(self, kept_for_s: float = 0.0) -> None:
        """A press that was kept back is for nobody, as far as one can know."""
        with self._lock:
            if self._kept_back is not None and time.monotonic() - self._kept_since >= kept_for_s:
                self._events.put(self._kept_back)
                self._kept_back = None


def _range(what: str, first: int, last: int | None = None) -> dict[str, Any]:
    """A range of protocol elements to record, and nothing else."""
    core = ("core_requests", "core_replies", "delivered_events", "device_events", "errors")
    nothing: dict[str, Any] = dict.fromkeys(core, (0, 0)) | {"ext_requests": (0, 0, 0, 0), "ext_replies": (0, 0, 0, 0)}
    return nothing | {"client_started": False, "client_died": False, what: (first, first if last is None else last)}


def keyboard_changes(data: bytes) -> Iterator[KeyboardChange]:
    """The changes of the keyboard in recorded requests (X11 protocol, encoding of ChangeKeyboardMapping)."""
    while len(data) >= _REQUEST_HEAD.size:
        opcode, keys, words, first, levels = _REQUEST_HEAD.unpack_from(data)
        if opcode == _CHANGE_KEYBOARD_MAPPING and len(data) >= _REQUEST_HEAD.size + 4 * keys * levels:
            symbols = struct.unpack_from(f"={keys * levels}I", data, _REQUEST_HEAD.size)
            yield KeyboardChange(first, tuple(symbols[key * levels : (key + 1) * levels] for key in range(keys)))
        data = data[max(4 * words, _REQUEST_HEAD.size) :]
