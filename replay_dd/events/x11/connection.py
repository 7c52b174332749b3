"""A connection to an X display: the one place that knows python-xlib.

Rules of this module:

* python-xlib is imported when it is first needed, so that everything else works without it.
* The server may be grabbed by a program (menus do that); a connection that was made before goes on working.
* What python-xlib raises when a display dies becomes a :class:`DisplayLostError`.

Known traps: PyAutoGUI brings a package ``python3-xlib`` of 2014, which overwrites python-xlib; the RandR extension of
python-xlib 0.33 overwrites the classes of the core errors 0 to 2.
"""

from __future__ import annotations

import contextlib
import functools
import os
import socket
import struct
import threading
import traceback
from collections.abc import Callable, Iterator
from typing import Any

from replay_dd.errors.machine import (
    DisplayLostError,
    ExtensionMissingError,
    NoDisplayError,
    PackageShadowedError,
    SoftwareMissingError,
)

# Codes of the X protocol (X Window System Protocol, version 11, section 8 and appendix B).
KEY_PRESS, KEY_RELEASE, BUTTON_PRESS, BUTTON_RELEASE, MOTION_NOTIFY = 2, 3, 4, 5, 6
_CLIENT_MESSAGE, _MAPPING_NOTIFY = 33, 34
_MAPPING_KEYBOARD, _MAPPING_POINTER = 1, 2
_STRUCTURE_NOTIFY_MASK = 1 << 17
_SUBSTRUCTURE_NOTIFY_MASK = 1 << 19
_OLDEST_XLIB = (0, 33)


def load_xlib() -> Any:
    """The package ``Xlib``, if it is the right one.

    Raises:
        SoftwareMissingError: there is none.
        PackageShadowedError: it is another package of that name.
    """
    try:
        import Xlib
        import Xlib.display
        import Xlib.error
        import Xlib.X
        import Xlib.XK
    except ImportError as error:
        raise SoftwareMissingError(
            f"GUI sessions need the package python-xlib: {error}.", "Install it: `pip install 'replay-dd[gui]'`."
        ) from error
    version = tuple(getattr(Xlib, "__version__", (0, 0)))
    if version < _OLDEST_XLIB:
        shown = ".".join(map(str, version))
        raise PackageShadowedError(
            f"The package Xlib in {Xlib.__file__} is version {shown}, and 0.33 or newer is needed. "
            "Another package (python3-xlib, which PyAutoGUI asks for) has taken its place.",
            "Put the right one in its place: `pip install --force-reinstall --no-deps 'python-xlib>=0.33'`.",
        )
    _give_cookies()
    return Xlib


# What clients of displays of ours have to know, by the names of the displays: a protocol and its data.
_COOKIES: dict[str, tuple[bytes, bytes]] = {}


def know_cookie(display: str, protocol: bytes, cookie: bytes) -> None:
    """Use a cookie for connections to a display, whatever XAUTHORITY says: that belongs to the user's own display."""
    _COOKIES[display] = (protocol, cookie)


def forget_cookie(display: str) -> None:
    """A display is no more."""
    _COOKIES.pop(display, None)


@functools.cache
def _give_cookies() -> None:
    """Have python-xlib ask us first: it has no way to be told a cookie but a variable of the whole process."""
    from Xlib.support import connect

    ask, reach = connect.get_auth, connect.get_socket

    def get_socket(*address: Any) -> Any:
        try:
            _OPENED.socket = reach(*address)
        except Exception as error:
            _close_unconnected(error)
            raise
        return _OPENED.socket

    connect.get_auth = lambda socket, name, *rest: _COOKIES.get(name) or ask(socket, name, *rest)
    connect.get_socket = get_socket


# The socket that python-xlib opened last in this thread: it leaves it open where the server refuses the connection.
_OPENED = threading.local()


def _close_unconnected(error: BaseException | None) -> None:
    """Close the sockets with which python-xlib has reached nobody: only the frames of its errors have them."""
    while error is not None:
        for frame, _ in traceback.walk_tb(error.__traceback__):
            for value in frame.f_locals.values():
                if isinstance(value, socket.socket):
                    value.close()
        error = error.__context__


def _close_refused() -> None:
    opened = getattr(_OPENED, "socket", None)
    if opened is not None:
        opened.close()


class Connection:
    """A connection to a display.

    Args:
        name: such as ``":99"``; None for the one that DISPLAY names.

    Raises:
        NoDisplayError: it cannot be reached.
        SoftwareMissingError, PackageShadowedError: python-xlib cannot be used.
    """

    def __init__(self, name: str | None = None) -> None:
        xlib = load_xlib()
        self._lost: tuple[type[BaseException], ...] = (xlib.error.ConnectionClosedError, OSError, struct.error)
        self.bad_resource: tuple[type[BaseException], ...] = (xlib.error.XError,)
        try:
            self.display = xlib.display.Display(name)
        except (xlib.error.DisplayError, OSError, ValueError) as error:
            _close_refused()
            if not (name or os.environ.get("DISPLAY")):
                raise NoDisplayError("There is no display: the variable DISPLAY is not set.") from error
            shown = name or "that DISPLAY names"
            raise NoDisplayError(f"The display {shown} cannot be reached: {str(error).strip() or error!r}.") from error
        finally:
            _OPENED.socket = None
        self.display.display.error_classes = dict(xlib.error.xerror_class)
        # An error that nobody waits for (a window that has gone meanwhile) is no news.
        self.display.set_error_handler(lambda error, request: None)
        self.name = name or str(self.display.get_display_name())
        self.screen = self.display.screen()
        self.root = self.screen.root
        self._atoms: dict[str, int] = {}
        self._changed = False
        self._keyboard_changed = False
        self._questions = 0
        self.answers: set[int] = set()
        # Editors show paths in titles, and a program that works in a copy of a folder shows another path each time.
        self.original_path: Callable[[str], str] = str

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the screen in pixels."""
        return self.screen.width_in_pixels, self.screen.height_in_pixels

    def close(self) -> None:
        """End the connection."""
        with contextlib.suppress(Exception):
            self.display.close()

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Turn the loss of the display into an error of ours.

        Raises:
            DisplayLostError: the display has gone.
        """
        try:
            yield
        except self._lost as error:
            raise DisplayLostError(f"The display {self.name} went away: {error}.") from error

    def require(self, extension: str) -> None:
        """Check that the display has an extension.

        Raises:
            ExtensionMissingError: it has not.
        """
        with self.watched():
            if not self.display.has_extension(extension) or self.display.query_extension(extension) is None:
                raise ExtensionMissingError(f"The display {self.name} has no extension {extension}.")

    def sync(self) -> None:
        """Wait until the server has done all that was asked of it."""
        with self.watched():
            self.display.sync()

    def atom(self, name: str) -> int:
        """The number that the display has for a name."""
        if name not in self._atoms:
            self._atoms[name] = self.display.intern_atom(name)
        return self._atoms[name]

    # -- input ---------------------------------------------------------------------------------------------------------

    def use_xtest(self) -> None:
        """Prepare for input, also while another client has grabbed the server.

        Raises:
            ExtensionMissingError: the display has no XTEST.
        """
        self.require("XTEST")
        with self.watched():
            self.display.xtest_grab_control(True)

    def fake(self, kind: int, detail: int = 0, x_px: int = 0, y_px: int = 0) -> None:
        """Ask for one input event. It is sent with the next :meth:`sync`. A request has 16 bits for each position."""
        x_px, y_px = (max(-0x8000, min(0x7FFF, number)) for number in (x_px, y_px))
        with self.watched():
            self.display.xtest_fake_input(kind, detail, x=x_px, y=y_px)

    # -- news ----------------------------------------------------------------------------------------------------------

    def watch_windows(self) -> None:
        """Have :meth:`windows_changed` tell about top windows, and :attr:`answers` about questions."""
        with self.watched():
            # Answers come to the root window. Qt sends them to whoever wants to know about its structure, not about
            # that of what is in it as the Extended Window Manager Hints have it.
            self.root.change_attributes(event_mask=_STRUCTURE_NOTIFY_MASK | _SUBSTRUCTURE_NOTIFY_MASK)
            self.display.sync()

    def windows_changed(self) -> bool:
        """Whether top windows appeared, went or moved since this was last asked."""
        changed = self.has_changed_windows()
        self._changed = False
        return changed

    def has_changed_windows(self) -> bool:
        """What :meth:`windows_changed` will tell."""
        self.take_news()
        return self._changed

    def keyboard_changed(self) -> bool:
        """Whether keys got other symbols since this was last asked."""
        self.take_news()
        changed, self._keyboard_changed = self._keyboard_changed, False
        return changed

    def take_news(self) -> None:
        """Take what the display has told: changes of windows, and answers to questions."""
        with self.watched():
            while self.display.pending_events():
                event = self.display.next_event()
                if event.type & 0x7F == _MAPPING_NOTIFY:
                    self._keyboard_changed = self._keyboard_changed or event.request == _MAPPING_KEYBOARD
                elif event.type & 0x7F != _CLIENT_MESSAGE:
                    self._changed = True
                elif event.client_type == self.atom("WM_PROTOCOLS") and event.data[0] == 32:
                    kind, number = event.data[1][:2]
                    if kind == self.atom("_NET_WM_PING"):
                        self.answers.add(number)

    # -- questions -----------------------------------------------------------------------------------------------------

    def next_question(self) -> int:
        """A number for a question, which its answers name."""
        self._questions += 1
        return self._questions

    def ask(self, window: Any, number: int) -> bool:
        """Ask a window whether its program answers; False where it does not say that it would.

        An answer comes to the root window, and to us if we watch windows.
        """
        protocols = window.get_full_property(self.atom("WM_PROTOCOLS"), 0)
        ping = self.atom("_NET_WM_PING")
        if protocols is None or ping not in protocols.value:
            return False
        data = (32, [ping, number, window.id, 0, 0])
        message = load_xlib().protocol.event.ClientMessage(
            window=window, client_type=self.atom("WM_PROTOCOLS"), data=data
        )
        window.send_event(message)
        return True

    def nudge(self, window: Any) -> None:
        """Send a window an event that each program gets now and then, and that asks nothing of it.

        It says that the mapping of the pointer's buttons has changed, which it has not.
        """
        event = load_xlib().protocol.event.MappingNotify(request=_MAPPING_POINTER, first_keycode=0, count=0)
        window.send_event(event)
