"""The process in which PyAutoGUI plays: it does what it reads, one JSON object in each line. Run by its path."""

from __future__ import annotations

import json
import sys
from typing import Any

# PyAutoGUI's names of keys, where they are not the key symbol in lower case.
KEY_NAMES = {
    "Return": "enter",
    "Escape": "escape",
    "BackSpace": "backspace",
    "Prior": "pageup",
    "Next": "pagedown",
    "Control_L": "ctrlleft",
    "Control_R": "ctrlright",
    "Shift_L": "shiftleft",
    "Shift_R": "shiftright",
    "Alt_L": "altleft",
    "Alt_R": "altright",
    "Super_L": "winleft",
    "Super_R": "winright",
    "Menu": "apps",
    "Caps_Lock": "capslock",
    "Num_Lock": "numlock",
    "Scroll_Lock": "scrolllock",
    "Print": "printscreen",
}


def main() -> None:
    """Do inputs until the pipe ends."""
    try:
        import pyautogui
    except BaseException as error:  # it may call sys.exit while it is imported
        print(f"{type(error).__name__}: {error}".replace("\n", " "), flush=True)
        return
    # Its functions for scripts pause, move the pointer once more, and stop in the corners of the screen; what lies
    # below them has the same names on all systems.
    system = pyautogui.platformModule
    buttons = {1: "left", 2: "middle", 3: "right", 4: 4, 5: 5, 6: 6, 7: 7}
    print("ready", flush=True)
    x, y = system._position()
    unknown = ""
    for line in sys.stdin:
        item = json.loads(line)
        kind = item["kind"]
        if kind == "flush":
            print(f"no key {unknown}" if unknown else "done", flush=True)
        elif kind == "move":
            x, y = item.get("x_px", 0), item.get("y_px", 0)
            system._moveTo(x, y)
        elif kind in ("button-press", "button-release"):
            button = buttons.get(item["button"], item["button"])
            (system._mouseDown if kind == "button-press" else system._mouseUp)(x, y, button)
        elif (key := name_of(system, item["key"])) is None:
            unknown = item["key"]
        else:
            (system._keyDown if kind == "key-press" else system._keyUp)(key)


def name_of(system: Any, symbol: str) -> str | None:
    """PyAutoGUI's name for a key symbol; None where it has none."""
    known = system.keyboardMapping
    name = KEY_NAMES.get(symbol, symbol.lower() if len(symbol) > 1 else symbol)
    if known.get(name) is not None:
        return name
    # PyAutoGUI names other keys by their characters, and finds these by the symbol's own name.
    from Xlib import XK

    number = XK.string_to_keysym(symbol)
    if 0x20 <= number < 0x7F and known.get(chr(number)) is not None:
        return chr(number)
    return None


if __name__ == "__main__":
    main()
