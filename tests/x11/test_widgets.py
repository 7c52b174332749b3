"""What the actions of a session are done to, as Tk tells it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from recorders.x11_verify import verify_session
from replay_dd.cli.show_session import show_session
from replay_dd.events.model import (
    Action,
    ActionKind,
    Ending,
    EndingKind,
    GuiProgram,
    Input,
    InputKind,
    Rectangle,
    Session,
    Target,
    Window,
    WindowChange,
)
from replay_dd.events.run import Conditions, run_session
from replay_dd.events.x11.display import PrivateDisplay
from replay_dd.events.x11.tk_send import answer_in, programs_in
from replay_dd.events.x11.widgets import in_words
from tests.x11.acts import click, key, motion
from tests.x11.conftest import SCREEN
from tests.x11.test_toolkits import TOOLKITS, python_with

pytestmark = pytest.mark.once

SOMEWHERE = Rectangle(0, 0, 400, 300)
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


FORM = """
import tkinter
from tkinter import ttk
root = tkinter.Tk()
root.geometry("700x400+0+0")
def put(widget, x, y, width, height=20):
    widget.place(x=x, y=y, width=width, height=height)
    return widget
put(tkinter.Label(root, text="Name:"), 0, 0, 60)
put(tkinter.Entry(root, textvariable=tkinter.StringVar(root, "Ann")), 70, 0, 100)
put(tkinter.Label(root, text="Age"), 180, 0, 40)
put(ttk.Spinbox(root), 225, 0, 50)
put(tkinter.Entry(root), 290, 0, 60)
put(ttk.Label(root, text="Notes"), 0, 40, 60)
put(tkinter.Text(root), 0, 60, 200, 60)
put(ttk.Combobox(put(ttk.Labelframe(root, text="Shipping"), 250, 40, 200, 100)), 10, 20, 80)
put(tkinter.Label(root, text="Drinks"), 0, 140, 60, 60)
put(tkinter.Listbox(root), 70, 140, 80, 60).insert("end", "tea")
put(tkinter.Scale(root, label="Volume", orient="horizontal"), 250, 160, 150, 60)
put(ttk.Entry(root), 500, 300, 50)
put(tkinter.Label(root, text="Size"), 0, 220, 60)
put(tkinter.Entry(root), 70, 220, 60)
put(ttk.Treeview(root, show="tree"), 0, 250, 100, 60)
root.mainloop()
"""


def test_widgets_without_a_text_have_that_of_their_label() -> None:
    python = python_with(TOOLKITS["Tk"][1])
    if python is None:
        pytest.skip("NO TK: names of widgets are not tried (on Debian: apt install python3-tk)")
    session = Session(GuiProgram((python, "-c", FORM), str(Path.cwd()), here=True), SCREEN)
    named = {
        (100, 10): 'entry "Name"',
        (240, 10): 'spinbox "Age"',
        (320, 10): "entry .!entry2",  # between it and the label is what that is for
        (100, 90): 'text "Notes"',
        (300, 90): 'combobox "Shipping"',
        (100, 150): 'row "tea" of listbox "Drinks"',
        (300, 200): 'scale "Volume"',
        (520, 310): "entry .!entry3",
        (20, 280): "treeview .!treeview",  # what is above it is the label of the entry
    }
    with PrivateDisplay(SCREEN, "") as display:
        done = run_session(session, [click(*place) for place in named], display, Conditions(), want_targets=True)
    assert done.targets == tuple(named.values())


KEYS = """
import tkinter
from tkinter import ttk
root = tkinter.Tk()
root.geometry("400x300+0+0")
bar = tkinter.Menu(root)
root.config(menu=bar)
edit = tkinter.Menu(bar, tearoff=False)
bar.add_cascade(label="Edit", menu=edit, underline=0)
for name in ("Cut", "Paste"):
    edit.add_command(label=name)
edit.add_separator()
more = tkinter.Menu(edit, tearoff=False)
more.add_command(label="Deep", state="disabled")
edit.add_cascade(label="More", menu=more)
ttk.Label(root, text="Colour").place(x=0, y=0, width=60)
colours = ttk.Combobox(root, values=("red", "green"))
colours.place(x=70, y=0, width=100)
drinks = tkinter.Listbox(root)
drinks.place(x=0, y=40, width=100, height=60)
drinks.insert("end", "tea", "coffee")
tree = ttk.Treeview(root, show="tree")
tree.place(x=0, y=120, width=100, height=100)
tree.insert("", "end", text="beet")
colours.focus_set()
root.mainloop()
"""


def test_keys_are_for_what_is_lit_and_for_the_row_with_the_frame() -> None:
    python = python_with(TOOLKITS["Tk"][1])
    if python is None:
        pytest.skip("NO TK: names of widgets are not tried (on Debian: apt install python3-tk)")
    session = Session(GuiProgram((python, "-c", KEYS), str(Path.cwd()), here=True), SCREEN)
    menu = Action(
        ActionKind.CHORD,
        (
            *(Input(InputKind.KEY_PRESS, key=name) for name in ("Alt_L", "e")),
            *(Input(InputKind.KEY_RELEASE, key=name) for name in ("e", "Alt_L")),
        ),
    )
    steps = (
        (motion(300, 250), ""),
        (menu, 'combobox "Colour"'),
        (key("Down"), 'menu entry "Cut"'),
        (key("Down"), 'menu entry "Paste"'),
        (replace(key("Up"), kind=ActionKind.TEXT, text="m"), 'menu "Edit"'),
        (replace(key("Down"), kind=ActionKind.TEXT, text=" "), 'menu entry "Paste"'),
        (key("Right"), 'menu entry "More"'),
        (key("Escape"), 'menu "More"'),  # nothing in it can be lit
        (key("Escape"), 'menu entry "More"'),
        (key("Down"), 'combobox "Colour"'),
        (key("Down"), 'row "red" of combobox "Colour"'),
        (key("Return"), 'row "green" of combobox "Colour"'),
        (key("Tab"), 'combobox "Colour"'),
        (key("Down"), 'row "coffee" of listbox .!listbox'),
        (key("Tab"), 'row "coffee" of listbox .!listbox'),
        (key("space"), "treeview .!treeview"),
        (click(60, 160), 'row "beet" of treeview .!treeview'),
        (key("space"), 'row "beet" of treeview .!treeview'),
    )
    with PrivateDisplay(SCREEN, "") as display:
        done = run_session(session, [step for step, _ in steps], display, Conditions(), want_targets=True)
    assert done.targets == tuple(words for _, words in steps)


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


def test_a_recorded_session_is_named_as_soon_as_it_is_checked() -> None:
    python = python_with(TOOLKITS["Tk"][1])
    if python is None:
        pytest.skip("NO TK: names of widgets are not tried (on Debian: apt install python3-tk)")
    program = GuiProgram((python, "-c", PROGRAM), str(Path.cwd()), here=True)
    ending = Ending(EndingKind.OPEN, "still running at the end")
    appeared = WindowChange(0, 0, True)
    windows = (Window(0, "", "", "tk", SOMEWHERE, SOMEWHERE),)
    actions = (click(20, 20), replace(click(20, 260), time_ms=900))
    session = Session(program, SCREEN, windows=windows, actions=actions, changes=(appeared,), ending=ending)
    found = verify_session(session, Conditions())
    assert found.targets == (
        Target(0, ActionKind.CLICK, 'button "Save all"'),
        Target(900, ActionKind.CLICK, "entry .!entry"),
    )
    masked = verify_session(replace(session, masked=True), Conditions())
    assert (masked.differences, masked.targets) == (found.differences, ())


@pytest.mark.parametrize(
    "told, words",
    [
        ("", ""),
        ("Frame\n.!frame\n", ""),
        ("Entry\n.!entry\n\n", "entry .!entry"),
        ("Entry\n.!entry\nFirst name:\n", 'entry "First name"'),
        ("TButton\n.b\nSize\nOK", 'button "OK"'),
        ("Listbox\n.l\nDrinks\ntea", 'row "tea" of listbox "Drinks"'),
        ("Text\n.t\n\n", "text .t"),
        ("Label\n.l\n\ntwo\n lines " + 40 * "x", f'label "two lines {29 * "x"}…"'),
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
