"""Questions to programs of Tk, which take scripts from other clients of their display.

Rules of this module:

* Programs of Tk (tkinter, wish) evaluate scripts that other clients of their display send them (the command ``send``
  of Tk; its protocol is told in ``unix/tkUnixSend.c`` of Tk's sources), if these know the display's cookie. A program
  says on the root window which windows take such scripts; others are not asked anything.
* A program takes a script when it comes to its event loop, in the order of its events.
"""

from __future__ import annotations

import contextlib
from typing import Any

from replay_dd.events.x11.connection import Connection

_STRING = 31  # the predefined atom of texts (X Window System Protocol, appendix B)
_APPEND = 2


class TkSend:
    """The programs of Tk on a display.

    Args:
        connection: to the display.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._own: Any = None
        self._questions = 0

    def programs(self) -> list[tuple[Any, bytes]]:
        """The windows that take scripts, and the names of the programs that they belong to."""
        found = self._connection.root.get_full_property(self._connection.atom("InterpRegistry"), 0)
        value = found.value if found is not None else b""
        display = self._connection.display
        there = []
        for number, name in programs_in(value if isinstance(value, bytes) else str(value).encode()):
            window = display.create_resource_object("window", number)
            with contextlib.suppress(*self._connection.bad_resource):
                window.get_geometry()  # it may have gone
                there.append((window, name))
        return there

    def ask(self, window: Any, name: bytes, script: bytes) -> int:
        """Send a script; return the number of the question, by which :meth:`answer` knows it."""
        if self._own is None:
            # Answers come to a window of the one who asks. It is never shown.
            self._own = self._connection.root.create_window(-1, -1, 1, 1, 0, 0)
        self._questions += 1
        asked = b"\0c\0-n %b\0-r %x %d\0-s %b\0" % (name, self._own.id, self._questions, script)
        window.change_property(self._connection.atom("Comm"), _STRING, 8, asked, mode=_APPEND)
        self._connection.sync()
        return self._questions

    def answer(self, question: int) -> str | None:
        """What the script came to; empty if it was an error, None as long as there is no answer."""
        answers = self._own.get_full_property(self._connection.atom("Comm"), 0)
        return None if answers is None else answer_in(bytes(answers.value), question)


def programs_in(registry: bytes) -> list[tuple[int, bytes]]:
    """The windows and names of programs in the property InterpRegistry."""
    found = []
    for entry in registry.split(b"\0"):
        number, _, name = entry.partition(b" ")
        with contextlib.suppress(ValueError):
            found.append((int(number, 16), name))
    return found


def answer_in(data: bytes, question: int) -> str | None:
    """The answer to a question in the property Comm; empty if it was an error, None if it is not there."""
    for answer in data.split(b"\0r\0")[1:]:
        fields = answer.split(b"\0")
        if b"-s %d" % question in fields:
            failed = any(field.startswith(b"-c ") for field in fields)
            result = next((field[3:] for field in fields if field.startswith(b"-r ")), b"")
            return "" if failed else result.decode(errors="replace")
    return None
