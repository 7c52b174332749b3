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
from replay_dd.events.model import Action, ActionKind, EndingKind, GuiProgram, Input, InputKind, Session
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


DRAGGED = """
import gi
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
from gi.repository import Gdk
window = Gtk.Window()
window.move(0, 0)
label = Gtk.EventBox(width_request=300, height_request=200)
window.add(label)
kinds = [Gtk.TargetEntry.new("ROW", Gtk.TargetFlags.SAME_APP, 0)]
label.drag_source_set(Gdk.ModifierType.BUTTON1_MASK, kinds, Gdk.DragAction.MOVE)
label.connect("drag-data-get", lambda widget, context, data, *rest: data.set(data.get_target(), 8, b"it"))
label.drag_dest_set(Gtk.DestDefaults.ALL, kinds, Gdk.DragAction.MOVE)
label.connect("drag-data-received", lambda *rest: print("dropped", flush=True))
window.show_all()
Gtk.main()
"""


def test_what_is_dragged_is_dropped() -> None:
    """GTK keeps moves back until it draws next, and looks idle until then."""
    python = python_with(TOOLKITS["GTK 3"][1])
    if python is None:
        pytest.skip("NO GTK 3: dragging is not tried (on Debian: apt install python3-gi gir1.2-gtk-3.0)")
    session = Session(GuiProgram((python, "-c", DRAGGED), str(Path.cwd()), here=True), SCREEN)
    inputs = (
        Input(InputKind.MOVE, 50, 100),
        Input(InputKind.BUTTON_PRESS, button=1),
        *(Input(InputKind.MOVE, place, 100) for place in (80, 120)),
        Input(InputKind.BUTTON_RELEASE, button=1),
    )
    drag = Action(ActionKind.DRAG, inputs)
    with PrivateDisplay(SCREEN, "") as display:
        done = run_session(session, 4 * [drag], display, Conditions())
    assert done.ending.output.split("\n").count("dropped") == 4, done.ending
