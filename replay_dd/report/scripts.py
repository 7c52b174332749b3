"""Scripts that replay a session without replay-dd, for bug reports: for python-xlib, PyAutoGUI and xdotool.

Rules of this module:

* They are generated from the inputs of the actions, so they do what our player does, in the same order.
* They cannot know when the program is idle, so they pause after each action; the pause is a variable at the top.
* They start the program themselves. Positions are screen coordinates, so the display must have the size of the session
  and the same window manager. A comment at the top says how to make one.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from replay_dd.events.describe import describe_action
from replay_dd.events.model import Action, ActionKind, Input, InputKind, Session
from replay_dd.report.filmstrip import Script

_START_S = 2.0
_PAUSE_S = 0.5
_BUTTONS = {1: "left", 2: "middle", 3: "right"}
# PyAutoGUI's key names that are not the lower-case key symbol.
_PYAUTOGUI_KEYS = {
    "Return": "enter",
    "Prior": "pageup",
    "Next": "pagedown",
    "Page_Up": "pageup",
    "Page_Down": "pagedown",
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
    "grave": "`", "minus": "-", "equal": "=", "bracketleft": "[", "bracketright": "]", "backslash": "\\",
    "semicolon": ";", "apostrophe": "'", "comma": ",", "period": ".", "slash": "/", "less": "<", "plus": "+",
    "numbersign": "#", "asterisk": "*",
}  # fmt: skip


def scripts_for(session: Session, actions: Sequence[Action], failure: str) -> tuple[Script, ...]:
    """The scripts that play these actions.

    Args:
        session: provides the program, the screen and the window manager.
        actions: what to play.
        failure: the resulting failure, for the comment at the top.
    """
    actions = _without_idle_moves(actions)
    return (
        Script("Python, with python-xlib", "replay_xlib.py", _lines(_xlib(session, actions, failure))),
        Script("Python, with PyAutoGUI", "replay_pyautogui.py", _lines(_pyautogui(session, actions, failure))),
        Script("Shell, with xdotool", "replay_xdotool.sh", _lines(_xdotool(session, actions, failure))),
    )


def _without_idle_moves(actions: Sequence[Action]) -> tuple[Action, ...]:
    """The actions as our player plays them: clicking where the pointer already is moves nothing, as for a person."""
    pointer: tuple[int, int] | None = None
    played = []
    for action in actions:
        kept = []
        for item in action.inputs:
            if item.kind is InputKind.MOVE:
                if (item.x_px, item.y_px) == pointer and action.kind is not ActionKind.MOTION:
                    continue
                pointer = (item.x_px, item.y_px)
            kept.append(item)
        played.append(replace(action, inputs=tuple(kept)))
    return tuple(played)


def _lines(lines: Iterator[str]) -> str:
    return "\n".join(lines) + "\n"


def _about(session: Session, failure: str, file_name: str, interpreter: str) -> Iterator[str]:
    screen = session.screen
    size = f"{screen.width_px}x{screen.height_px}"
    yield f"Play a session to {shlex.join(session.program.command)}, after which: {_one_line(failure)}"
    yield ""
    yield f"It needs a display of {size} pixels" + (
        f", with the window manager {session.window_manager}:" if session.window_manager else ":"
    )
    yield f"    Xvfb :77 -screen 0 {size}x{screen.depth_bits} & export DISPLAY=:77"
    manager = f"{session.window_manager} & " if session.window_manager else ""
    yield f"    {manager}{interpreter} {file_name}"


def _one_line(text: str) -> str:
    return " ".join(text.split()).replace('"""', "'''").replace("\\", "/")


def _python_start(
    session: Session, play: Callable[[Action], Iterator[str]], actions: Sequence[Action]
) -> Iterator[str]:
    yield f"program = subprocess.Popen({json.dumps(list(session.program.command))})"
    yield "time.sleep(START_S)"
    yield ""
    for number, action in enumerate(actions, 1):
        yield f"# {number}. {_one_line(describe_action(action, session))}"
        yield from play(action)
        yield "time.sleep(PAUSE_S)"
        yield ""
    yield 'print("the program", "still runs" if program.poll() is None else f"ended with {program.returncode}")'


def _xlib(session: Session, actions: Sequence[Action], failure: str) -> Iterator[str]:
    yield '"""' + "\n".join(_about(session, failure, "replay_xlib.py", "python3"))
    yield '"""'
    yield ""
    yield "import subprocess"
    yield "import time"
    yield ""
    yield "from Xlib import XK, X, display"
    yield "from Xlib.ext import xtest"
    yield ""
    yield f"START_S = {_START_S}  # for the program to be ready"
    yield f"PAUSE_S = {_PAUSE_S}  # after each action"
    yield ""
    yield "connection = display.Display()"
    yield ""
    yield ""
    yield "def move(x, y):"
    yield "    xtest.fake_input(connection, X.MotionNotify, x=x, y=y)"
    yield "    connection.sync()"
    yield ""
    yield ""
    yield "def press(button, kind=X.ButtonPress):"
    yield "    xtest.fake_input(connection, kind, button)"
    yield "    connection.sync()"
    yield ""
    yield ""
    yield "def release(button):"
    yield "    press(button, X.ButtonRelease)"
    yield ""
    yield ""
    yield "def key_down(name, kind=X.KeyPress):"
    yield "    xtest.fake_input(connection, kind, connection.keysym_to_keycode(XK.string_to_keysym(name)))"
    yield "    connection.sync()"
    yield ""
    yield ""
    yield "def key_up(name):"
    yield "    key_down(name, X.KeyRelease)"
    yield ""
    yield ""
    yield from _python_start(session, lambda action: (_xlib_call(item) for item in action.inputs), actions)


def _xlib_call(item: Input) -> str:
    match item.kind:
        case InputKind.MOVE:
            return f"move({item.x_px}, {item.y_px})"
        case InputKind.BUTTON_PRESS:
            return f"press({item.button})"
        case InputKind.BUTTON_RELEASE:
            return f"release({item.button})"
        case InputKind.KEY_PRESS:
            return f"key_down({json.dumps(item.key)})"
        case InputKind.KEY_RELEASE:
            return f"key_up({json.dumps(item.key)})"


def _pyautogui(session: Session, actions: Sequence[Action], failure: str) -> Iterator[str]:
    yield '"""' + "\n".join(_about(session, failure, "replay_pyautogui.py", "python3"))
    yield '"""'
    yield ""
    yield "import subprocess"
    yield "import time"
    yield ""
    yield "import pyautogui"
    yield ""
    yield f"START_S = {_START_S}  # for the program to be ready"
    yield f"PAUSE_S = {_PAUSE_S}  # after each action"
    yield "pyautogui.PAUSE = 0.02  # after each single input"
    yield "pyautogui.FAILSAFE = False  # the session may go to the corner of the screen"
    yield ""
    yield from _python_start(session, lambda action: (_pyautogui_call(item) for item in action.inputs), actions)


def _pyautogui_call(item: Input) -> str:
    button: str | int = _BUTTONS.get(item.button, item.button)
    key = _PYAUTOGUI_KEYS.get(item.key, item.key.lower() if len(item.key) > 1 else item.key)
    match item.kind:
        case InputKind.MOVE:
            return f"pyautogui.moveTo({item.x_px}, {item.y_px})"
        case InputKind.BUTTON_PRESS:
            return f"pyautogui.mouseDown(button={json.dumps(button)})"
        case InputKind.BUTTON_RELEASE:
            return f"pyautogui.mouseUp(button={json.dumps(button)})"
        case InputKind.KEY_PRESS:
            return f"pyautogui.keyDown({json.dumps(key)})"
        case InputKind.KEY_RELEASE:
            return f"pyautogui.keyUp({json.dumps(key)})"


def _xdotool(session: Session, actions: Sequence[Action], failure: str) -> Iterator[str]:
    yield "#!/bin/sh"
    for line in _about(session, failure, "replay_xdotool.sh", "sh"):
        yield f"# {line}".rstrip()
    yield ""
    yield f"START_S={_START_S} # for the program to be ready"
    yield f"PAUSE_S={_PAUSE_S} # after each action"
    yield ""
    yield f"{shlex.join(session.program.command)} &"
    yield "program=$!"
    yield 'sleep "$START_S"'
    yield ""
    for number, action in enumerate(actions, 1):
        yield f"# {number}. {_one_line(describe_action(action, session))}"
        if action.inputs:
            yield "xdotool " + " ".join(_xdotool_words(item) for item in action.inputs)
        yield 'sleep "$PAUSE_S"'
        yield ""
    yield 'if kill -0 "$program" 2>/dev/null; then'
    yield '    echo "the program still runs"'
    yield "else"
    yield '    wait "$program"'
    yield '    echo "the program ended with status $?"'
    yield "fi"


def _xdotool_words(item: Input) -> str:
    match item.kind:
        case InputKind.MOVE:
            return f"mousemove {item.x_px} {item.y_px}"
        case InputKind.BUTTON_PRESS:
            return f"mousedown {item.button}"
        case InputKind.BUTTON_RELEASE:
            return f"mouseup {item.button}"
        case InputKind.KEY_PRESS:
            return f"keydown {shlex.quote(item.key)}"
        case InputKind.KEY_RELEASE:
            return f"keyup {shlex.quote(item.key)}"
