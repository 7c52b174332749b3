"""The commands for sessions with windows, from outside: what they print, refuse, and leave behind."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from replay_dd.events.log import SessionWriter, read_session, write_session
from replay_dd.events.model import Ending, EndingKind, Pace
from tests.cli.tool import Workshop, make_workshop
from tests.x11.acts import click, key, motion
from tests.x11.conftest import PROGRAM, numbers_without_server, session_of

CRASHING = ("--", sys.executable, str(PROGRAM), "in order=key:a+key:z")
ACTIONS = (motion(400, 300), key("a"), click(), key("b"), key("z"), key("c"))


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Workshop]:
    made = make_workshop(tmp_path / "shop")
    yield made
    made.check_clean()


def write_failing(shop: Workshop, name: str = "session.log") -> Path:
    ending = Ending(EndingKind.SIGNAL, "killed by SIGSEGV", "signal SIGSEGV", signal=11)
    path = shop.folder / name
    write_session(session_of("in order=key:a+key:z", actions=ACTIONS, ending=ending), path)
    return path


def test_events_replay_and_show(shop: Workshop) -> None:
    write_failing(shop)
    done = shop.run("events", "session.log", "--jobs", "2", "--pictures", "film", "--json")
    assert done.status == 0, done.stderr
    answer = json.loads(done.stdout)
    assert [action["words"] for action in answer["answer"]["actions"]] == ["press a", "press z"]
    assert answer["answer"]["ending"]["kind"] == "signal"
    assert sorted(path.name for path in (shop.folder / "film").iterdir())[0] == "001-after.png"
    again = shop.run("replay", "minimal.log")
    assert (again.status, "outcome: killed by SIGSEGV" in again.stdout) == (1, True), again.stderr
    shown = shop.run("show", "minimal.log")
    assert "press a" in shown.stdout
    assert "killed by SIGSEGV" in shown.stdout
    both = shop.run("show", "--json", "--pictures", "pictures", "session.log")
    assert both.status == 0, both.stderr
    assert json.loads(both.stdout)["ending"]["kind"] == "signal"
    assert len(list((shop.folder / "pictures").iterdir())) >= len(json.loads(both.stdout)["actions"]) - 1


def test_monkey_command(shop: Workshop) -> None:
    done = shop.run(
        *("monkey", "-o", "the session.log", "--runs", "2", "--jobs", "1", "--actions", "60", "--seed", "1"),
        *("--", sys.executable, str(PROGRAM), "button:3=crash"),
    )
    assert done.status == 0, done.stderr
    assert "Next: replay-dd events 'the session.log'\n" in done.stdout
    assert [path.name for path in shop.folder.iterdir()] == ["the session.log"]
    nothing = shop.run("monkey", "-o", "n.log", "--runs", "1", "--actions", "3", "--", sys.executable, str(PROGRAM), "")
    assert nothing.status == 1
    assert "not a proof" in nothing.stdout


def test_the_pace_of_the_log_is_kept(shop: Workshop) -> None:
    actions = (key("b"), replace(key("c"), time_ms=1500))
    slow = session_of("", actions=actions, pace=Pace.RECORDED)
    write_session(slow, shop.folder / "slow.log")
    for options, waits in (((), True), (("--pace", "fast"), False)):
        done = shop.run("replay", "slow.log", *options)
        assert done.status == 0, done.stderr
        taken = float(done.stdout.split("2 of 2 actions in ")[1].split(" s")[0])
        assert taken >= 1.5 or not waits


def test_bad_input(shop: Workshop) -> None:
    shop.run("events", "nothing.log").refused(5, "log-unreadable")
    shop.write("{}", "other.log")
    shop.run("events", "other.log").refused(5, "not-a-log")
    write_failing(shop)
    shop.run("schedules", "session.log", "session.log").refused(5, "not-a-log")
    shop.run("monkey", "-o", "m.log", "--", "no-such-program").refused(2, "program-not-found")
    for command in (("monkey",), ("record", "--gui")):
        shop.run(*command, "-o", "m.log", "--", "python", "missing.py").refused(2, "program-not-found")
    shop.run("monkey", "-o", "m.log", "--screen", "big", *CRASHING).refused(2, "usage")
    shop.run("monkey", "-o", "m.log", "--screen", "800x40000", *CRASHING).refused(2, "usage")
    shop.run("monkey", "-o", "m.log", "--wm", "no-such-manager", *CRASHING).refused(2, "window-manager")
    shop.run("record", "-o", "r.log", "--no-text", *CRASHING).refused(2, "usage")
    shop.run("record", "--gui", "--display", ":4242", "-o", "r.log", *CRASHING).refused(2, "no-display")
    never = ("--", sys.executable, str(PROGRAM), "none=none")
    shop.run("monkey", "-o", "m.log", "--runs", "1", "--start-limit", "0.3", *never).refused(3, "no-window")
    told = shop.run("monkey", "-o", "m.log", "--runs", "2", "--", "true").refused(3, "no-window")
    assert "opened no window, and ended with exit status 0" in told
    broken = "import sys; sys.exit('no such setting')"
    told = shop.run("monkey", "-o", "m.log", "--", sys.executable, "-c", broken).refused(3, "does-not-pass")
    assert "fails before any input: ended with exit status 1 (no such setting)" in told
    quick = ("--display", "new", "--", sys.executable, "-c", "import sys; sys.exit('no such setting')")
    told = shop.run("record", "--gui", "-o", "r.log", *quick).refused(3, "no-window")
    assert "ending: ended with exit status 1 (no such setting)" in told
    with SessionWriter(shop.folder / "going-on.log", session_of("", events=())):
        shop.run("events", "going-on.log").refused(5, "log-unfinished")
    assert not list(shop.folder.glob(".*"))


def test_a_program_that_was_changed(shop: Workshop) -> None:
    path = write_failing(shop)
    digest = {"files": {str(PROGRAM): "0" * 32}}
    lines = path.read_text().splitlines()
    program = json.loads(lines[1])
    program["program"].update(digest)
    path.write_text("\n".join([lines[0], json.dumps(program), *lines[2:]]) + "\n")
    shop.run("events", "--yes", "session.log").refused(2, "program-changed")
    shop.run("replay", "--yes", "session.log").refused(130, "program-changed")
    assert shop.run("replay", "--yes", "--accept-changes", "session.log").status == 1


def test_without_xvfb_and_without_python_xlib(shop: Workshop) -> None:
    write_failing(shop)
    bare = shop.folder.parent / "bin"
    bare.mkdir()
    for name in ("python", "python3"):
        (bare / name).symlink_to(sys.executable)
    shop.variables["PATH"] = str(bare)
    shop.run("replay", "--wm", "none", "session.log").refused(130, "software-missing")
    del shop.variables["PATH"]
    other = shop.folder.parent / "other" / "Xlib"
    other.mkdir(parents=True)
    for name in ("X", "XK", "display", "error"):
        (other / f"{name}.py").write_text("")
    (other / "__init__.py").write_text("__version__ = (0, 15)\n")
    shop.variables["PYTHONPATH"] = str(other.parent)
    message = shop.run("replay", "session.log").refused(130, "package-shadowed")
    assert "0.15" in message
    doctor = shop.run("doctor")
    assert doctor.status == 1
    assert "MISSING  python-xlib" in doctor.stdout
    (other / "display.py").write_text("raise ImportError('nothing here')\n")
    shop.run("replay", "session.log").refused(130, "software-missing")


def test_doctor(shop: Workshop) -> None:
    done = shop.run("doctor")
    assert done.status == 0, done.stdout
    for what in ("python-xlib", "private display", "XTEST", "RECORD"):
        assert f"ok       {what}" in done.stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_behind_whatever_ends_the_command(shop: Workshop, number: int) -> None:
    before = numbers_without_server()
    process = shop.start("monkey", "-o", "m.log", "--actions", "100000", "--", sys.executable, str(PROGRAM), "")
    until = time.monotonic() + 120
    try:
        while not any("window_program" in told and "monkey" not in told for told in shop.processes()) or not list(
            shop.folder.glob(".m.log.*")
        ):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < until
            time.sleep(0.02)
        process.send_signal(number)
        process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()
    # After SIGKILL it is the guard that cleans up.
    while (shop.processes() or list(shop.temporary.iterdir())) and time.monotonic() < until:
        time.sleep(0.02)
    shop.check_clean()
    while (left := numbers_without_server() - before) and time.monotonic() < until:
        time.sleep(0.02)
    assert not left
    assert process.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -9}[signal.Signals(number)]


@pytest.mark.skipif(shutil.which("xdotool") is None, reason="xdotool is not installed")
def test_record_on_a_private_display(shop: Workshop) -> None:
    process = shop.start(
        "record", "--gui", "--display", "new", "-o", "s.log", "--", sys.executable, str(PROGRAM), "key:q=exit0"
    )
    assert process.stderr is not None
    told = next(line for line in process.stderr if "DISPLAY=" in line)
    environment = {**os.environ, **dict(word.split("=", 1) for word in shlex.split(told) if "=" in word)}
    subprocess.run(
        ["xdotool", "mousemove", "400", "300", "click", "1", "type", "abc"], env=environment, check=True, timeout=60
    )
    subprocess.run(["xdotool", "key", "q"], env=environment, check=True, timeout=60)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 0, said
    assert "same windows, same ending" in said
    assert len(read_session(shop.folder / "s.log").events) >= 9
    assert shop.run("replay", "s.log").status == 0
