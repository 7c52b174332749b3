"""The scripts for bug reports do the same to a program as our own player."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from replay_dd.events.model import Action, ActionKind, Input, InputKind
from replay_dd.events.run import Conditions, run_session
from replay_dd.events.x11.display import PrivateDisplay
from replay_dd.report.filmstrip import Script
from replay_dd.report.scripts import scripts_for
from tests.x11.acts import click, key, motion
from tests.x11.conftest import session_of

pytestmark = pytest.mark.once

CHORD = Action(
    ActionKind.CHORD,
    tuple(
        Input(kind, key=name)
        for kind, name in [
            (InputKind.KEY_PRESS, "Control_L"),
            (InputKind.KEY_PRESS, "minus"),
            (InputKind.KEY_RELEASE, "minus"),
            (InputKind.KEY_RELEASE, "Control_L"),
        ]
    ),
    text="Ctrl+minus",
)
ACTIONS = (motion(400, 300), key("a"), click(), CHORD, key("Return"))


def script_named(part: str, output: Path) -> Script:
    session = session_of("")
    # What the program sees goes to a file: a script leaves the program's standard output alone.
    command = ("sh", "-c", f'exec "$@" > {output}', "sh", *session.program.command)
    session = replace(session, program=replace(session.program, command=command))
    found = [script for script in scripts_for(session, ACTIONS, 'it "ended"\nbadly \\ so') if part in script.file_name]
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize("tool", ["xlib", "pyautogui", "xdotool"])
def test_a_script_does_the_same_as_our_player(display: PrivateDisplay, tmp_path: Path, tool: str) -> None:
    if tool == "xdotool" and shutil.which("xdotool") is None:
        pytest.skip("NO XDOTOOL: its script is not run (on Debian: apt install xdotool)")
    if tool == "pyautogui" and importlib.util.find_spec("pyautogui") is None:
        pytest.skip("NO PYAUTOGUI: its script is not run")
    seen = tmp_path / "seen.txt"
    script = script_named(tool, seen)
    path = tmp_path / script.file_name
    text = re.sub(r"(?m)^PAUSE_S( ?= ?)0.5", r"PAUSE_S\g<1>0.3", script.text)
    path.write_text(text, encoding="utf-8")
    runner = "sh" if path.suffix == ".sh" else sys.executable
    needed = {"DISPLAY": display.name, "XAUTHORITY": str(display.authority), "XDG_SESSION_TYPE": "x11"}
    variables = {**os.environ, **needed}
    # A file, not a pipe: the program outlives the script and would keep a pipe open.
    with (tmp_path / "said.txt").open("w+") as output:
        process = subprocess.Popen(
            [runner, str(path)], env=variables, stdout=output, stderr=output, start_new_session=True
        )
        try:
            process.wait(timeout=120)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        output.seek(0)
        said = output.read()
    assert "still runs" in said, said
    by_script = seen.read_text().split()
    with PrivateDisplay(session_of("").screen, session_of("").window_manager) as other:
        by_player = run_session(session_of(""), ACTIONS, other, Conditions()).ending.output.split()
    if tool == "pyautogui":
        # It moves the pointer before each press of a button, also where the pointer is already.
        by_script, by_player = ([event for event in seen if event != "motion"] for seen in (by_script, by_player))
    assert by_script == by_player
    assert "key:Control_L" in by_script or "key:minus" in by_script
