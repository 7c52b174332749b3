"""What a program changes in its working folder or its HOME reaches neither the original nor another run."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from recorders.monkey import MonkeyRecorder
from replay_dd.errors.user import FolderTooLargeError, ProgramNotFoundError
from replay_dd.events.isolate import Plan, isolate_events
from replay_dd.events.model import EndingKind, GuiProgram, Session
from replay_dd.events.run import Conditions, run_session
from replay_dd.events.x11 import program as running
from replay_dd.events.x11.display import PrivateDisplay, choose_window_manager
from tests.experiment.test_working_copy import listing
from tests.x11.acts import click, key
from tests.x11.conftest import PROGRAM, SCREEN

pytestmark = pytest.mark.once

# Each run appends to a note, by a relative and by an absolute path, and in HOME, and fails where it finds two lines.
SCRIPT = f"""
import os, runpy, sys
for path in ("notes.txt", sys.argv.pop(1), os.path.expanduser("~/.app/settings")):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "a+") as file:
        file.write("line\\n")
        file.seek(0)
        if len(file.readlines()) > int(os.environ.get("MOST", 2)):
            os._exit(9)
os.remove("old.txt")
open("new.txt", "w").close()
sys.argv[0] = {str(PROGRAM)!r}
runpy.run_path({str(PROGRAM)!r}, run_name="__main__")
"""
QUICK = Conditions(hang_limit_s=0.5, patience_s=0.5)


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """A working folder and a HOME, below a folder that nothing may change."""
    made = tmp_path / "world"
    for folder in ("project", "home/.app"):
        (made / folder).mkdir(parents=True)
    (made / "project" / "program.py").write_text(SCRIPT)
    for name in ("project/notes.txt", "project/more.txt", "home/.app/settings"):
        (made / name).write_text("line\n")
    (made / "project" / "old.txt").touch()
    return made


def session_in(world: Path, *, here: bool = False) -> Session:
    folder = world / "project"
    command = (sys.executable, "program.py", str(folder / "more.txt"), "key:a=crash")
    program = GuiProgram(command, str(folder), here=here, home=str(world / "home"))
    return Session(program, SCREEN, choose_window_manager(None), actions=(click(), key("a"), key("b")))


def test_a_search_changes_nothing_outside(world: Path) -> None:
    before = listing(world)
    found = isolate_events(session_in(world), Plan(jobs=2, conditions=QUICK))
    assert found.minimal.actions == (key("a"),)
    assert found.isolation.baseline.rate.steady, "each run starts from the same files"
    assert listing(world) == before


def test_a_monkey_changes_nothing_outside(world: Path, tmp_path: Path) -> None:
    before = listing(world)
    session = replace(session_in(world), actions=())
    MonkeyRecorder().record(session, tmp_path / "monkey.log", seed=1, actions=3, conditions=QUICK)
    assert listing(world) == before


def test_here_it_works_in_the_folder_itself(world: Path, display: PrivateDisplay) -> None:
    home = listing(world / "home")
    session = replace(session_in(world, here=True), actions=(click(),))
    assert run_session(session, session.actions, display, QUICK).ending.kind is EndingKind.OPEN
    assert (world / "project" / "notes.txt").read_text() == "line\nline\n"
    assert not (world / "project" / "old.txt").exists()
    assert listing(world / "home") == home


def test_an_oracle_looks_into_the_copy(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(world / "project")
    session = replace(session_in(world), actions=(click(), key("b")))
    for command in ("test ! -e new.txt", 'test ! -e "$REPLAY_DD_FOLDER/new.txt"'):
        with PrivateDisplay(SCREEN, "") as display:
            done = run_session(session, session.actions, display, replace(QUICK, oracle=command))
        assert done.ending.kind is EndingKind.ORACLE


def test_folders_that_cannot_be_copied(world: Path, display: PrivateDisplay, monkeypatch: pytest.MonkeyPatch) -> None:
    session = session_in(world)
    without_home = replace(session, program=replace(session.program, home=str(world / "nowhere")))
    with pytest.raises(ProgramNotFoundError, match="nowhere"):
        run_session(without_home, session.actions, display, QUICK)
    monkeypatch.setattr(running, "MOST_BYTES", 10)
    with pytest.raises(FolderTooLargeError, match="most of it in program"):
        run_session(replace(session, program=replace(session.program, home="")), session.actions, display, QUICK)
