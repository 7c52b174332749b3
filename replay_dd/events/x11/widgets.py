"""What Tk calls the widgets of a program: it can be asked, over the display, without the program's help.

Rules of this module:

* Programs of Tk (tkinter, wish) evaluate scripts that other clients of their display send them (the command ``send``
  of Tk; its protocol is told in ``unix/tkUnixSend.c`` of Tk's sources), if these know the display's cookie. A program
  says on the root window which windows take such scripts; others are not asked anything.
* The script only asks. It calls nothing of the program's own, and is sent only when the program is idle.
* A program that does not answer once is not asked again.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any

from replay_dd.events.model import Action, ActionKind
from replay_dd.events.x11.connection import Connection

_LIMIT_S = 2.0
_TICK_S = 0.001
_STRING = 31  # the predefined atom of texts (X Window System Protocol, appendix B)
_APPEND = 2
_LONGEST_TEXT = 40
# Class, path and text of the widget at a place of the screen, or of the one with the keyboard.
_SCRIPT = """apply {{x y} {
    set w [expr {$x eq "" ? [focus] : [winfo containing $x $y]}]
    if {$w eq "" || $w eq [winfo toplevel $w] && [winfo class $w] ne "Menu"} {return}
    set text ""
    set class [winfo class $w]
    if {$x ne ""} {
        set x [expr {$x - [winfo rootx $w]}]
        set y [expr {$y - [winfo rooty $w]}]
        catch {
            switch [winfo class $w] {
                Menu {set text [$w entrycget @$x,$y -label]}
                Listbox {set text [$w get [$w nearest $y]]}
                Treeview {
                    if {[$w identify region $x $y] eq "heading"} {
                        set text [$w heading [$w identify column $x $y] -text]
                        if {$text ne ""} {set class Heading}
                    } else {
                        set row [$w identify row $x $y]
                        set text [$w item $row -text]
                        if {$text eq ""} {set text [lindex [$w item $row -values] 0]}
                    }
                }
                TNotebook {set text [$w tab @$x,$y -text]}
                Canvas {
                    set x [$w canvasx $x]
                    set y [$w canvasy $y]
                    set item [lindex [$w find overlapping $x $y $x $y] end]
                    set text [lsearch -all -inline -not -exact [$w gettags $item] current]
                    if {$text eq ""} {set text [$w type $item]}
                }
            }
        }
    }
    if {$text eq ""} {catch {set text [$w cget -text]}}
    join [list $class $w $text] "\\n"
}} """
# Parts of widgets: what they are called, and whether the widget is named, too.
_PARTS = {
    "Menu": ("menu entry", False),
    "TNotebook": ("tab", False),
    "Listbox": ("row", True),
    "Treeview": ("row", True),
    "Heading": ("heading", False),
    "Canvas": ("item", True),
}
_CONTAINERS = ("Frame", "TFrame")


class TkWidgets:
    """The widgets of the Tk programs on a display.

    Args:
        connection: to the display.
        over: tells that the program has ended.
    """

    def __init__(self, connection: Connection, over: Callable[[], bool]) -> None:
        self._connection = connection
        self._over = over
        self._own: Any = None
        self._questions = 0
        self._silent = False

    def name(self, action: Action) -> str:
        """What an action is going to be done to, such as ``button "Save"``; empty if that is not known."""
        if action.kind is ActionKind.MOTION or self._silent:
            return ""
        x_px, y_px = action.start or ("{}", "{}")
        script = f"{_SCRIPT}{x_px} {y_px}".encode()
        with self._connection.watched():
            for window, name in self._programs():
                with contextlib.suppress(*self._connection.bad_resource):
                    window.get_geometry()  # it may have gone
                    told = in_words(self._ask(window, name, script))
                    if told:
                        return told
        return ""

    def _programs(self) -> list[tuple[Any, bytes]]:
        """The windows that take scripts, and the names of the programs that they belong to."""
        found = self._connection.root.get_full_property(self._connection.atom("InterpRegistry"), 0)
        value = found.value if found is not None else b""
        display = self._connection.display
        return [
            (display.create_resource_object("window", number), name)
            for number, name in programs_in(value if isinstance(value, bytes) else str(value).encode())
        ]

    def _ask(self, window: Any, name: bytes, script: bytes) -> str:
        if self._own is None:
            # Answers come to a window of the one who asks. It is never shown.
            self._own = self._connection.root.create_window(-1, -1, 1, 1, 0, 0)
        self._questions += 1
        comm = self._connection.atom("Comm")
        asked = b"\0c\0-n %b\0-r %x %d\0-s %b\0" % (name, self._own.id, self._questions, script)
        window.change_property(comm, _STRING, 8, asked, mode=_APPEND)
        self._connection.sync()
        until = time.monotonic() + _LIMIT_S
        while not self._over():
            answers = self._own.get_full_property(comm, 0)
            told = None if answers is None else answer_in(bytes(answers.value), self._questions)
            if told is not None:
                return told
            if time.monotonic() > until:
                self._silent = True
                break
            time.sleep(_TICK_S)
        return ""


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


def in_words(told: str) -> str:
    """A widget as a person would name it.

    Args:
        told: its class, its path and the text at that place, on lines of their own.
    """
    kind, _, rest = told.partition("\n")
    path, _, text = rest.partition("\n")
    text = " ".join(text.split())
    if len(text) > _LONGEST_TEXT:
        text = f"{text[: _LONGEST_TEXT - 1]}…"
    if not path or kind in _CONTAINERS:
        return ""
    # Classes of themed widgets have a T before their names: TButton.
    plain = (kind[1:] if kind[0] == "T" and kind[1:2].isupper() else kind).lower()
    if not text:
        return f"{plain} {path}"
    part, with_widget = _PARTS.get(kind, (plain, False))
    return f'{part} "{text}" of {plain} {path}' if with_widget else f'{part} "{text}"'
