"""Key symbols by their names, and the keys that make them on a display.

Names are those of the X Window System without ``XK_``; symbols without a name are written as ``0x`` and hexadecimal
digits. A symbol that no key of the display makes gets a spare key.
"""

from __future__ import annotations

import contextlib
import functools
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

from replay_dd.errors.user import NoSuchKeyError
from replay_dd.events.x11.connection import Connection, load_xlib

_GROUPS = (
    *("miscellany", "latin1", "latin2", "latin3", "latin4", "greek", "cyrillic", "technical", "special", "publishing"),
    *("arabic", "hebrew", "thai", "korean", "apl", "katakana", "xkb", "xf86", "xk3270"),
)
_UNICODE, _PAST_UNICODE = 0x01000000, 0x02000000
# Character sets come first, keys without a character from here on (keysymdef.h).
_FIRST_WITHOUT_CHARACTER = 0xFD00
_KEYPAD = range(0xFFAA, 0xFFBE)
_RULES = "_XKB_RULES_NAMES"
_LIMIT_S = 30
# Names of layouts are names of files, and those in a log may lead anywhere.
_PLAIN_NAMES = re.compile(r"[\w,:()+-]*(?:;[\w,:()+-]*){0,2}", re.ASCII)
# Symbols have 29 bits (X Window System Protocol, appendix A).
_HEXADECIMAL = re.compile(r"0x[01]?[0-9a-f]{1,7}")
# Nobody holds more keys at once.
_MOST_HELD = 10


@functools.cache
def _tables() -> tuple[dict[str, int], dict[int, str]]:
    import importlib

    load_xlib()
    numbers: dict[str, int] = {}
    for group in _GROUPS:
        module = importlib.import_module(f"Xlib.keysymdef.{group}")
        for name, value in vars(module).items():
            if name.startswith("XK_") and isinstance(value, int):
                numbers.setdefault(name[3:], value)
    names: dict[int, str] = {}
    for name, value in numbers.items():
        names.setdefault(value, name)
    return numbers, names


def symbol_number(name: str) -> int:
    """The number of a key symbol; 0 for one that does not exist."""
    if name.startswith("0x"):
        return int(name, 16) if _HEXADECIMAL.fullmatch(name) else 0
    numbers = _tables()[0]
    if name in numbers:
        return numbers[name]
    if len(name) == 1:
        return ord(name) if ord(name) < 0x100 else _UNICODE + ord(name)
    return 0


def symbol_name(number: int) -> str:
    """The name of a key symbol."""
    return _tables()[1].get(number) or f"0x{number:x}"


def is_character(name: str) -> bool:
    """Whether a key symbol stands for something that is typed, in any alphabet."""
    number = symbol_number(name)
    return 0x20 <= number < _FIRST_WITHOUT_CHARACTER or _UNICODE <= number < _PAST_UNICODE or number in _KEYPAD


def keyboard_of(connection: Connection) -> str:
    """Layout, variant and options of a display's keyboard, such as ``"de,nodeadkeys,"``; empty where not known."""
    with connection.watched():
        found = connection.root.get_full_property(connection.atom(_RULES), 0)
    if found is None:
        return ""
    value = found.value if isinstance(found.value, bytes) else str(found.value).encode()
    parts = value.decode("latin-1").split("\0")
    # Rules, model, layout, variant, options; several layouts (groups) are divided by commas, and the first one counts.
    layout, variant, options = (part.split(",") for part in [*parts, "", "", "", "", ""][2:5])
    return ";".join([layout[0], variant[0], ",".join(options)])


def use_keyboard(connection: Connection, environment: Mapping[str, str], wanted: str) -> None:
    """Give a private display a keyboard as :func:`keyboard_of` tells it, if it has another one."""
    program = shutil.which("setxkbmap")
    if program is None or not _PLAIN_NAMES.fullmatch(wanted) or keyboard_of(connection) == wanted:
        return
    layout, variant, options = [*wanted.split(";"), "", "", ""][:3]
    arguments = [program, "-layout", layout or "us", "-variant", variant, "-option", "", "-option", options]
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        subprocess.run(
            arguments, env=dict(environment), stdin=subprocess.DEVNULL, capture_output=True, timeout=_LIMIT_S
        )


class Keyboard:
    """Which key makes which symbol on a display.

    Args:
        connection: to the display.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        display = connection.display
        self._first = display.display.info.min_keycode
        self._last = display.display.info.max_keycode
        with connection.watched():
            self._mapping: list[list[int]] = [
                list(row) for row in display.get_keyboard_mapping(self._first, self._last - self._first + 1)
            ]
        self._keys: dict[int, int] = {}
        # The first level only: a key that makes the symbol together with Shift would make another one alone.
        for offset, row in enumerate(self._mapping):
            if row and row[0]:
                self._keys.setdefault(row[0], self._first + offset)
        self._spare = [self._first + offset for offset, row in enumerate(self._mapping) if not any(row)]
        self._bound: list[int] = []

    def key_for(self, name: str) -> int:
        """The key code for a symbol, which a spare key gets if no other makes it.

        Raises:
            NoSuchKeyError: there is no such symbol, or no spare key.
        """
        number = symbol_number(name)
        if number == 0:
            raise NoSuchKeyError(
                f"There is no key symbol `{name}`.", "Correct the name in the log, such as `eacute` or `Return`."
            )
        if number not in self._keys:
            self._bind(name, number)
        return self._keys[number]

    def learn(self, first: int, rows: Sequence[Sequence[int]]) -> None:
        """Note that keys, from a key code on, make other symbols."""
        for keycode, row in enumerate(rows, first):
            if self._first <= keycode <= self._last:
                self._mapping[keycode - self._first] = list(row)

    def symbol_at(self, keycode: int, level: int) -> str:
        """The name of the symbol that a key makes at a level (0: alone, 1: with Shift); empty for none."""
        offset = keycode - self._first
        if not 0 <= offset < len(self._mapping):
            return ""
        row = self._mapping[offset]
        number = row[level] if level < len(row) else 0
        if not number:
            number = row[0] if row else 0
        return symbol_name(number) if number else ""

    def _bind(self, name: str, number: int) -> None:
        if self._spare:
            keycode = self._spare.pop()
        elif len(self._bound) > _MOST_HELD:
            # The one that was given a symbol first; it is not held any more.
            keycode = self._bound.pop(0)
            self._keys = {symbol: key for symbol, key in self._keys.items() if key != keycode}
        else:
            raise NoSuchKeyError(
                f"No key of the display makes `{name}`, and none is free for it.",
                "Record the session with a keyboard layout that has the key, or remove the action from the log.",
            )
        self._bound.append(keycode)
        row: list[Any] = [number, number]
        with self._connection.watched():
            self._connection.display.change_keyboard_mapping(keycode, [row])
            self._connection.display.sync()
        self._keys[number] = keycode
