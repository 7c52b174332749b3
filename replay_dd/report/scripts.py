"""Scripts that replay a session without replay-dd, for bug reports: for python-xlib, PyAutoGUI and xdotool.

Rules of this module:

* They are generated from the inputs of the actions, so they do what our player does, in the same order.
* They cannot know when the program is idle, so they pause after each action; the pause is a variable at the top.
* Every value in them goes through :mod:`replay_dd.trust.quoting`: sessions come from strangers, too.
* They start the program themselves. Positions are screen coordinates, so the display must have the size of the session
  and the same window manager. A comment at the top says how to make one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from replay_dd.events.describe import describe_action
from replay_dd.events.model import Action, ActionKind, Input, InputKind, Session
from replay_dd.events.x11.keys import symbol_number
from replay_dd.events.x11.pyautogui_process import KEY_NAMES
from replay_dd.report.filmstrip import Script
from replay_dd.trust.quoting import comment, python_literal, shell_command, shell_word

_START_S = 2.0
_PAUSE_S = 0.5
_BUTTONS = {1: "left", 2: "middle", 3: "right"}
# A script does not ask the display for the character of a key, as the player does.
_PYAUTOGUI_KEYS = {
    **KEY_NAMES,
    "Page_Up": "pageup",
    "Page_Down": "pagedown",
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
    """Comments at the top; the first two lines are fixed, as Python looks there for an encoding."""
    screen = session.screen
    size = f"{screen.width_px}x{screen.height_px}"
    manager = session.window_manager
    yield "# Made by replay-dd."
    yield "#"
    yield comment(f"Plays a session to {shell_command(session.program.command)}, after which: {_one_line(failure)}")
    yield "#"
    yield comment(f"It needs a display of {size} pixels{f', with the window manager {manager}' if manager else ''}:")
    yield comment(f"    Xvfb :77 -screen 0 {size}x{screen.depth_bits} & export DISPLAY=:77")
    started = f"{shell_word(manager)} & " if manager else ""
    yield comment(f"    {started}{interpreter} {file_name}")


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _python_start(
    session: Session, play: Callable[[Action], Iterator[str]], actions: Sequence[Action]
) -> Iterator[str]:
    yield f"program = subprocess.Popen({python_literal(session.program.command)})"
    yield "time.sleep(START_S)"
    yield ""
    for number, action in enumerate(actions, 1):
        yield comment(f"{number}. {_one_line(describe_action(action, session))}")
        yield from play(action)
        yield "time.sleep(PAUSE_S)"
        yield ""
    yield 'print("the program", "still runs" if program.poll() is None else f"ended with {program.returncode}")'


def _xlib(session: Session, actions: Sequence[Action], failure: str) -> Iterator[str]:
    yield from _about(session, failure, "replay_xlib.py", "python3")
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
            return f"key_down({python_literal(item.key)})"
        case InputKind.KEY_RELEASE:
            return f"key_up({python_literal(item.key)})"


def _pyautogui(session: Session, actions: Sequence[Action], failure: str) -> Iterator[str]:
    yield from _about(session, failure, "replay_pyautogui.py", "python3")
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
            return f"pyautogui.mouseDown(button={python_literal(button)})"
        case InputKind.BUTTON_RELEASE:
            return f"pyautogui.mouseUp(button={python_literal(button)})"
        case InputKind.KEY_PRESS:
            return f"pyautogui.keyDown({python_literal(key)})"
        case InputKind.KEY_RELEASE:
            return f"pyautogui.keyUp({python_literal(key)})"


def _xdotool(session: Session, actions: Sequence[Action], failure: str) -> Iterator[str]:
    yield "#!/bin/sh"
    yield from _about(session, failure, "replay_xdotool.sh", "sh")
    yield ""
    yield f"START_S={_START_S} # for the program to be ready"
    yield f"PAUSE_S={_PAUSE_S} # after each action"
    yield ""
    # Only `exec` takes any word for the name of a program: others are keywords, functions or parts of the shell.
    yield f"(exec {shell_command(session.program.command)}) &"
    yield "program=$!"
    yield 'sleep "$START_S"'
    yield ""
    for number, action in enumerate(actions, 1):
        yield comment(f"{number}. {_one_line(describe_action(action, session))}")
        if words := [_xdotool_words(item) for item in action.inputs if _is_known(item)]:
            yield "xdotool " + " ".join(words)
        yield 'sleep "$PAUSE_S"'
        yield ""
    yield 'if kill -0 "$program" 2>/dev/null; then'
    yield '    echo "the program still runs"'
    yield "else"
    yield '    wait "$program"'
    yield '    echo "the program ended with status $?"'
    yield "fi"


def _is_known(item: Input) -> bool:
    """Whether it is about a key that exists, or about none; what is not a key, xdotool takes for its next command."""
    return item.kind not in (InputKind.KEY_PRESS, InputKind.KEY_RELEASE) or symbol_number(item.key) != 0


def _xdotool_words(item: Input) -> str:
    match item.kind:
        case InputKind.MOVE:
            return f"mousemove {item.x_px} {item.y_px}"
        case InputKind.BUTTON_PRESS:
            return f"mousedown {item.button}"
        case InputKind.BUTTON_RELEASE:
            return f"mouseup {item.button}"
        case InputKind.KEY_PRESS:
            return f"keydown {shell_word(item.key)}"
        case InputKind.KEY_RELEASE:
            return f"keyup {shell_word(item.key)}"
