"""Checks whether GUI sessions can be recorded and replayed on this machine."""

from __future__ import annotations

import importlib.util
import os
import shutil
from dataclasses import dataclass

from replay_dd.errors import ReplayDDError
from replay_dd.events.model import Screen
from replay_dd.events.x11.connection import load_xlib
from replay_dd.events.x11.display import PrivateDisplay, choose_window_manager


@dataclass(frozen=True)
class Finding:
    """The result of one check.

    Attributes:
        what: what was checked.
        works: whether it is present and works.
        needed: whether it is required.
        told: what was found.
        remedy: how to fix it.
    """

    what: str
    works: bool
    needed: bool
    told: str
    remedy: str = ""


def examine() -> list[Finding]:
    """Check everything that GUI sessions need, or can use."""
    findings = [_xlib()]
    manager = choose_window_manager(None)
    findings.append(
        Finding(
            *(
                "window manager",
                bool(manager),
                False,
                manager or "none installed: windows have no frames and no focus",
            ),
            "apt-get install openbox",
        )
    )
    if findings[0].works:
        findings += _private_display(manager)
    findings += [
        _program("gdb", "backtraces of crashes", "gdb"),
        _program("setxkbmap", "other keyboards", "x11-xkb-utils"),
    ]
    findings.append(_pyautogui())
    findings.append(_own_display())
    return findings


def _xlib() -> Finding:
    try:
        xlib = load_xlib()
    except ReplayDDError as error:
        return Finding("python-xlib", False, True, error.message, error.hint)
    version = ".".join(map(str, xlib.__version__))
    return Finding("python-xlib", True, True, f"{version} in {os.path.dirname(xlib.__file__)}")


def _private_display(manager: str) -> list[Finding]:
    found = []
    try:
        with PrivateDisplay(Screen(320, 240), manager) as display:
            found.append(Finding("private display", True, True, f"Xvfb, with {manager or 'no window manager'}"))
            for extension, purpose in (("XTEST", "to play"), ("RECORD", "to record")):
                try:
                    display.connection.require(extension)
                    found.append(Finding(extension, True, True, purpose))
                except ReplayDDError as error:
                    found.append(Finding(extension, False, True, error.message, error.hint))
    except ReplayDDError as error:
        found.append(Finding("private display", False, True, error.message, error.hint))
    return found


def _program(name: str, purpose: str, package: str) -> Finding:
    path = shutil.which(name)
    return Finding(
        name, path is not None, False, f"{path or 'not installed'} ({purpose})", f"apt-get install {package}"
    )


def _pyautogui() -> Finding:
    installed = importlib.util.find_spec("pyautogui") is not None
    told = "for `--player pyautogui`" if installed else "not installed (for `--player pyautogui`)"
    remedy = (
        "pip install 'replay-dd[pyautogui]', then pip install --force-reinstall --no-deps 'python-xlib>=0.33': "
        "PyAutoGUI installs an old package under the same name"
    )
    return Finding("PyAutoGUI", installed, False, told, remedy)


def _own_display() -> Finding:
    name = os.environ.get("DISPLAY")
    if os.environ.get("WAYLAND_DISPLAY"):
        told = f"Wayland{f', with X11 programs on {name}' if name else ''}: only programs that use X11 can be recorded"
        return Finding("your display", bool(name), False, told, "Record with `--display new`.")
    return Finding("your display", bool(name), False, name or "none", "Record with `--display new`.")
