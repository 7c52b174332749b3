"""Programs of each toolkit: recorded, replayed to the same end, and a hang and a crash of each recognised."""

from __future__ import annotations

import _thread
import functools
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from recorders.x11 import X11Recorder
from replay_dd.events.actions import actions_of
from replay_dd.events.model import ActionKind, EndingKind, GuiProgram, Session
from replay_dd.events.run import Conditions, run_session
from replay_dd.events.x11.display import PrivateDisplay, choose_window_manager
from tests.x11.acts import key, motion
from tests.x11.conftest import SCREEN

pytestmark = pytest.mark.once

PROGRAM = Path(__file__).with_name("toolkit_program.py")
# How a Python shows that it has a toolkit, and the Debian package that brings it.
TOOLKITS = {
    "Qt 5": ("PyQt5", "import PyQt5.QtWidgets", "python3-pyqt5"),
    "Qt 6": ("PyQt6", "import PyQt6.QtWidgets", "python3-pyqt6"),
    "GTK 3": ("3.0", "import gi; gi.require_version('Gtk', '3.0')", "python3-gi gir1.2-gtk-3.0"),
    "GTK 4": ("4.0", "import gi; gi.require_version('Gtk', '4.0')", "python3-gi gir1.2-gtk-4.0"),
    "Tk": ("tk", "import tkinter", "python3-tk"),
    "Xt": ("xt", "import ctypes; ctypes.CDLL('libXt.so.6'); ctypes.CDLL('libXaw.so.7')", "libxaw7"),
}
IN_HASTE = Conditions(hang_limit_s=1.0)


@functools.cache
def python_with(check: str) -> str | None:
    """A Python that has a toolkit: packages of the system are there for the system's own only."""
    for python in (sys.executable, "/usr/bin/python3"):
        if shutil.which(python) and subprocess.run([python, "-c", check], capture_output=True).returncode == 0:
            return python
    return None


@pytest.fixture(params=TOOLKITS)
def editor(request: pytest.FixtureRequest) -> GuiProgram:
    argument, check, package = TOOLKITS[request.param]
    python = python_with(check)
    if python is None:
        pytest.skip(f"NO {request.param.upper()}: programs of it are not tried (on Debian: apt install {package})")
    return GuiProgram((python, str(PROGRAM), argument), str(PROGRAM.parent))


def record(program: GuiProgram, log: Path, *steps: str, ends: bool = False) -> tuple[Session, tuple[str, ...]]:
    """Record what xdotool does; it ends with Ctrl-C, unless the program ends by itself."""
    helper: list[threading.Thread] = []

    def person(name: str, authority: Path | None) -> None:
        variables = {**os.environ, "DISPLAY": name, **({"XAUTHORITY": str(authority)} if authority else {})}
        for step in steps:
            subprocess.run(["xdotool", *step.split()], env=variables, check=False, timeout=60)
        if not ends:
            _thread.interrupt_main()

    def ready(name: str, authority: Path | None) -> None:
        helper.append(threading.Thread(target=person, args=(name, authority)))
        helper[0].start()

    try:
        made = X11Recorder().record(program, log, display="new", screen=SCREEN, on_ready=ready)
    finally:
        for thread in helper:
            thread.join()
    return made.session, made.differences


@pytest.mark.skipif(shutil.which("xdotool") is None, reason="xdotool is not installed")
def test_a_session_is_replayed_to_the_same_end(editor: GuiProgram, tmp_path: Path) -> None:
    session, differences = record(
        editor, tmp_path / "session.log", "mousemove 300 250 mousemove 400 300", "type --delay 20 Hello", "sleep 0.3"
    )
    assert session.ending is not None
    assert session.ending.kind is EndingKind.OPEN, session.ending
    assert session.ending.output.split("\n")[-2:] == ["text Hello", ""]
    assert [action.text for action in actions_of(session) if action.kind is ActionKind.TEXT] == ["Hello"]
    assert (differences, session.verified) == ((), True)
    with PrivateDisplay(SCREEN, session.window_manager) as display:
        again = run_session(session, actions_of(session), display, Conditions(pace=session.pace))
    assert again.ending.kind is EndingKind.OPEN, again.ending
    assert again.ending.output.endswith("\ntext Hello\n")


@pytest.mark.parametrize(
    "word, kind, text",
    [
        ("loop", EndingKind.HANG, "did not respond"),
        ("lock", EndingKind.HANG, "did not respond"),
        ("error", EndingKind.EXCEPTION, "LookupError: no such word in changed"),
        ("crash", EndingKind.SIGNAL, "killed by SIGSEGV in .*ctypes"),
    ],
)
def test_failures(display: PrivateDisplay, editor: GuiProgram, word: str, kind: EndingKind, text: str) -> None:
    session = Session(editor, SCREEN, choose_window_manager(None))
    actions = (motion(400, 300), *map(key, word))
    ending = run_session(session, actions, display, IN_HASTE).ending
    assert (ending.kind, ending.actions) == (kind, len(actions)), ending
    assert ending.signature
    assert re.search(text, ending.text), ending.text
