"""What the actions of a session are done to, as Tk tells it."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_dd.cli.show_session import show_session
from replay_dd.events.model import EndingKind, GuiProgram, Session
from replay_dd.events.run import Conditions, run_session
from replay_dd.events.x11.display import PrivateDisplay
from replay_dd.events.x11.widgets import answer_in, in_words, programs_in
from tests.x11.acts import click, key, motion
from tests.x11.conftest import SCREEN
from tests.x11.test_toolkits import TOOLKITS, python_with

pytestmark = pytest.mark.once

PROGRAM = """
import tkinter
from tkinter import ttk
root = tkinter.Tk()
root.geometry("400x300+0+0")
def put(widget, row):
    widget.place(x=0, y=40 * row, width=200, height=40)
    return widget
put(tkinter.Button(root, text="Save all"), 0)
put(tkinter.Listbox(root), 1).insert("end", "tea")
put(ttk.Treeview(root, show="tree"), 2).insert("", "end", text="beet")
put(tkinter.Canvas(root), 3).create_oval(0, 0, 90, 40, fill="red", tags="ball")
put(tkinter.OptionMenu(root, tkinter.StringVar(root, "box"), "box"), 4)
put(ttk.Notebook(root), 5).add(tkinter.Frame(root), text="Ship")
put(tkinter.Entry(root), 6).focus_set()
table = ttk.Treeview(root, columns=("kind", "price"), show="headings")
table.heading("price", text="Price")
table.column("kind", width=100)
table.place(x=200, y=0, width=200, height=200)
root.mainloop()
"""


def test_widgets_of_tk_are_named() -> None:
    python = python_with(TOOLKITS["Tk"][1])
    if python is None:
        pytest.skip("NO TK: names of widgets are not tried (on Debian: apt install python3-tk)")
    session = Session(GuiProgram((python, "-c", PROGRAM), str(Path.cwd()), here=True), SCREEN)
    places = (
        (20, 20),
        (10, 45),
        (50, 90),
        (40, 140),
        (20, 180),
        (15, 212),
        (15, 212),
        (20, 260),
        (350, 10),
        (250, 10),
        (300, 250),
    )
    actions = (motion(20, 20), *(click(*place) for place in places), key("a"))
    with PrivateDisplay(SCREEN, "") as display:
        done = run_session(session, actions, display, Conditions(), want_targets=True)
    assert done.ending.kind is EndingKind.OPEN, done.ending
    assert done.targets == (
        *("", 'button "Save all"', 'row "tea" of listbox .!listbox', 'row "beet" of treeview .!treeview'),
        *('item "ball" of canvas .!canvas', 'menubutton "box"', 'menu entry "box"', 'tab "Ship"', "entry .!entry"),
        *('heading "Price"', "treeview .!treeview2", "", "treeview .!treeview2"),
    )


def test_the_pictures_of_a_session_come_with_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    python = python_with(TOOLKITS["Tk"][1])
    if python is None:
        pytest.skip("NO TK: names of widgets are not tried (on Debian: apt install python3-tk)")
    program = GuiProgram((python, "-c", PROGRAM), str(Path.cwd()), here=True)
    session = Session(program, SCREEN, window_manager="", actions=(click(20, 20), click(20, 180)))
    show_session(session, tmp_path / "session.log", as_json=False, pictures=tmp_path / "pictures")
    shown = capsys.readouterr().out
    assert '(button "Save all")' in shown
    assert '(menubutton "box")' in shown
    show_session(session, tmp_path / "session.log", as_json=False, pictures=None)
    assert 'button "Save all"' not in capsys.readouterr().out


@pytest.mark.parametrize(
    "told, words",
    [
        ("", ""),
        ("Frame\n.!frame\n", ""),
        ("Entry\n.!entry\n", "entry .!entry"),
        ("TButton\n.b\nOK", 'button "OK"'),
        ("Text\n.t\n", "text .t"),
        ("Label\n.l\ntwo\n lines " + 40 * "x", f'label "two lines {29 * "x"}…"'),
    ],
)
def test_widgets_in_words(told: str, words: str) -> None:
    assert in_words(told) == words


def test_programs_that_take_scripts() -> None:
    assert programs_in(b"600001 tk\x00a0000f my tool\x00rubbish\x00") == [(0x600001, b"tk"), (0xA0000F, b"my tool")]


def test_only_the_answer_to_the_question_counts() -> None:
    late = b"\0r\0-s 1\0-r of an earlier question\0"
    assert answer_in(late, 2) is None
    assert answer_in(late + b"\0r\0-s 2\0-r Button\n.b\nOK\0", 2) == "Button\n.b\nOK"
    assert answer_in(late + b"\0r\0-s 2\0-c 1\0-r no such widget\0", 2) == ""
