"""Generated scripts do what the actions say, and nothing else, whatever a session holds."""

from __future__ import annotations

import ast
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replay_dd.events.model import Action, ActionKind, GuiProgram, Input, InputKind, Rectangle, Screen, Session, Window
from replay_dd.report.scripts import scripts_for
from replay_dd.trust.printable import printable
from tests.events.sessions import TEXTS, sessions
from tests.trust.test_quoting import EVIL

AREA = Rectangle(0, 0, 9, 9)
EVIL_TEXTS = st.sampled_from(EVIL) | TEXTS
KEYS = st.sampled_from(["a", "Return", "Shift_L", "exec", "type", "-h"]) | EVIL_TEXTS
INPUTS = st.builds(Input, st.sampled_from(InputKind), st.integers(-9, 99), st.integers(-9, 99), st.integers(0, 9), KEYS)
ACTIONS = st.lists(
    st.builds(
        Action,
        st.sampled_from(ActionKind),
        st.lists(INPUTS, max_size=4).map(tuple),
        window=st.just(0),
        text=EVIL_TEXTS,
        modifiers=st.lists(EVIL_TEXTS, max_size=2).map(tuple),
    ),
    max_size=3,
)


@st.composite
def evil_sessions(draw: st.DrawFn) -> Session:
    session = draw(sessions())
    window = Window(0, draw(EVIL_TEXTS), draw(EVIL_TEXTS), draw(EVIL_TEXTS), AREA, AREA)
    command = tuple(draw(st.lists(EVIL_TEXTS, min_size=1, max_size=4)))
    return replace(
        session,
        program=GuiProgram(command, "/", {}),
        windows=(window,),
        actions=tuple(draw(ACTIONS)),
        events=(),
        window_manager=draw(EVIL_TEXTS),
    )


def tree(text: str) -> ast.Module:
    parsed = ast.parse(text.encode())
    assert parsed.body, text
    return parsed


def shape(text: str) -> list[str]:
    """What a Python script does, without the values that it does it with."""
    found = []
    for node in ast.walk(tree(text)):
        if isinstance(node, ast.Call):
            found.append(f"{ast.unparse(node.func)} {len(node.args)}")
        elif isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.Attribute | ast.Name):
            found.append(ast.unparse(node).splitlines()[0])
    return sorted(found)


def harmless(session: Session) -> Session:
    """The same with harmless texts."""
    actions = [
        replace(action, text="x", modifiers=(), inputs=tuple(replace(one, key="a") for one in action.inputs))
        for action in session.actions
    ]
    window = replace(session.windows[0], title="x")
    return replace(
        session, program=GuiProgram(("x",), "/"), actions=tuple(actions), windows=(window,), window_manager="x"
    )


@settings(max_examples=60)
@given(evil_sessions(), EVIL_TEXTS)
def test_python_scripts(session: Session, failure: str) -> None:
    plain = scripts_for(harmless(session), harmless(session).actions, "x")
    for script, other in zip(scripts_for(session, session.actions, failure)[:2], plain[:2], strict=True):
        assert printable(script.text, keep="\n") == script.text
        assert shape(script.text) == shape(other.text)
        calls = [node for node in ast.walk(tree(script.text)) if isinstance(node, ast.Call)]
        (started,) = [ast.literal_eval(call.args[0]) for call in calls if ast.unparse(call.func) == "subprocess.Popen"]
        assert tuple(started) == session.program.command


def test_a_click_where_the_pointer_is_moves_nothing() -> None:
    at, away = Input(InputKind.MOVE, 5, 7), Input(InputKind.MOVE, 6, 7)
    click = (Input(InputKind.BUTTON_PRESS, 5, 7, 1), Input(InputKind.BUTTON_RELEASE, 5, 7, 1))
    actions = [
        Action(ActionKind.CLICK, (at, *click)),
        Action(ActionKind.CLICK, (at, *click)),
        Action(ActionKind.MOTION, (at,)),
        Action(ActionKind.CLICK, (away, *click)),
    ]
    session = Session(GuiProgram(("program",), "/"), Screen(99, 99))
    for script, call in zip(scripts_for(session, actions, "x"), ("move(", "moveTo(", "mousemove "), strict=True):
        moves = [
            line.partition(call)[2] for line in script.text.splitlines() if f"{call}5" in line or f"{call}6" in line
        ]
        assert [text[0] for text in moves] == ["5", "5", "6"], script.file_name


STUB = '#!/bin/sh\nfor word in "$@"; do printf "%s\\0" "$word"; done >> "$SEEN/${0##*/}"\n'


@pytest.fixture(scope="module")
def stubs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stubs")
    for name in ("xdotool", "sleep", "touch", "program"):
        (folder / name).write_text(STUB)
        (folder / name).chmod(0o755)
    return folder


@settings(max_examples=40)
@given(evil_sessions(), EVIL_TEXTS)
def test_the_shell_script(
    stubs: Path, tmp_path_factory: pytest.TempPathFactory, session: Session, failure: str
) -> None:
    seen = tmp_path_factory.mktemp("seen")
    command = ("program", *(word for word in session.program.command if "\0" not in word))
    session = replace(session, program=replace(session.program, command=command))
    text = scripts_for(session, session.actions, failure)[2].text
    assert printable(text, keep="\n\t") == text
    done = subprocess.run(
        ["/bin/sh"],
        input=text.encode(),
        cwd=seen,
        env={"PATH": str(stubs), "SEEN": str(seen)},
        capture_output=True,
        timeout=60,
    )
    assert done.stderr == b"", text
    assert {path.name for path in seen.iterdir()} <= {"xdotool", "sleep", "program"}, text
    assert (seen / "sleep").read_bytes().split(b"\0")[:-1] == [b"2.0", *[b"0.5"] * len(session.actions)]
    there = seen / "program"
    given_words = there.read_bytes().split(b"\0")[:-1] if there.exists() else []
    assert given_words == [os.fsencode(word) for word in command[1:]]
    words = (seen / "xdotool").read_bytes().split(b"\0") if (seen / "xdotool").exists() else []
    assert not {b"exec", b"type", b"-h"} & set(words)
