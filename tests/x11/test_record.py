"""Recording a live session that xdotool types, on a private and on a borrowed display, and playing it again."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import struct
import subprocess
import threading
from pathlib import Path
from unittest.mock import ANY

import pytest

from recorders.x11 import Recording, X11Recorder
from replay_dd.errors.machine import ExtensionMissingError, NoDisplayError
from replay_dd.errors.user import ProgramNotFoundError
from replay_dd.events.actions import actions_of
from replay_dd.events.describe import describe_action
from replay_dd.events.log import read_session
from replay_dd.events.model import ActionKind, Ending, EndingKind, GuiProgram, InputKind, Pace
from replay_dd.events.run import Conditions, run_session
from replay_dd.events.x11.connection import Connection
from replay_dd.events.x11.display import PrivateDisplay
from tests.x11.conftest import SCREEN, session_of

pytestmark = pytest.mark.skipif(shutil.which("xdotool") is None, reason="xdotool is not installed")

TYPED = (
    *("mousemove", "300", "250", "sleep", "0.2", "mousemove", "400", "300", "sleep", "0.4"),
    *("type", "--delay", "30", "Hi 5"),
)
REST = ("key", "alt+p", "click", "3", "sleep", "0.7", "mousedown", "1", "mousemove", "420", "330", "mouseup", "1")
QUICK = Conditions(hang_limit_s=0.5, patience_s=0.5)


def record(
    behaviour: str,
    tmp_path: Path,
    *,
    display: str = "new",
    mask: bool = False,
    last: str = "F1",
    end: int = signal.SIGINT,
    first: tuple[str, ...] = TYPED,
) -> Recording:
    """Record what xdotool does; it ends with Ctrl-C, unless the program ends by itself."""

    def person(name: str, authority: Path | None) -> None:
        variables = {**os.environ, "DISPLAY": name, **({"XAUTHORITY": str(authority)} if authority else {})}
        for step in (first, REST, ("sleep", "0.3", "key", last, "sleep", "0.3")):
            subprocess.run(["xdotool", *step], env=variables, check=False, timeout=60)
        if not behaviour or "rename" in behaviour:
            os.kill(os.getpid(), end)

    helper: list[threading.Thread] = []

    def ready(name: str, authority: Path | None) -> None:
        helper.append(threading.Thread(target=person, args=(name, authority)))
        helper[0].start()

    program: GuiProgram = session_of(behaviour).program
    try:
        return X11Recorder().record(
            *(program, tmp_path / "session.log"),
            display=display,
            screen=SCREEN,
            mask_text=mask,
            conditions=QUICK,
            on_ready=ready,
            verify=not mask,
        )
    finally:
        for thread in helper:
            thread.join()


def test_ctrl_c_while_a_session_is_checked_keeps_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("recorders.x11.verify_session", interrupted)
    made = record("key:F1=exit3", tmp_path)
    assert (made.interrupted, made.differences, made.session.verified) == (True, (), None)
    again = read_session(tmp_path / "session.log")
    assert (again.events, again.ending, again.verified) == (made.session.events, made.session.ending, None)


def test_what_a_person_did_is_recorded_and_verified(tmp_path: Path) -> None:
    made = record("", tmp_path)
    session = made.session
    told = [describe_action(action, session) for action in actions_of(session)]
    assert "type 'Hi 5' in \"First\"" in told
    assert 'press Alt+p in "First"' in told
    assert 'press F1 in "First"' in told
    kinds = [action.kind for action in actions_of(session)]
    assert ActionKind.CLICK in kinds
    assert ActionKind.DRAG in kinds
    assert ActionKind.MOTION in kinds
    assert session.ending is not None
    assert session.ending.kind is EndingKind.OPEN
    assert (made.differences, session.verified, session.pace) == ((), True, Pace.FAST)
    assert read_session(tmp_path / "session.log") == session
    assert [session.windows[change.window].title for change in session.changes] == ["First"]
    presses = [event for event in session.events if event.key == "h"]
    assert "Shift" in presses[0].modifiers
    assert presses[0].symbol == "H"


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGHUP])
def test_other_signals_end_a_recording_as_ctrl_c_does(tmp_path: Path, end: int) -> None:
    before = signal.signal(end, signal.SIG_DFL)  # the tests may have been started with it ignored, as by nohup
    try:
        made = record("", tmp_path, end=end)
        assert signal.getsignal(end) == signal.SIG_DFL
    finally:
        signal.signal(end, before)
    assert made.session.ending is not None
    assert (made.session.ending.kind, made.session.verified) == (EndingKind.OPEN, True)
    assert read_session(tmp_path / "session.log") == made.session


def test_a_recording_ends_after_its_time(tmp_path: Path) -> None:
    made = X11Recorder().record(
        *(session_of("").program, tmp_path / "session.log"),
        display="new",
        screen=SCREEN,
        conditions=QUICK,
        limit_s=0.2,
    )
    assert made.session.ending is not None
    assert (made.session.ending.kind, made.session.verified) == (EndingKind.OPEN, True)


@pytest.mark.once
def test_the_click_that_ends_the_program_names_its_window(tmp_path: Path) -> None:
    """The window has gone before the program has, and before anybody looks whose click it was."""
    made = record("button:2=leave", tmp_path, first=("mousemove", "310", "260", "click", "2"))
    told = [describe_action(action, made.session) for action in actions_of(made.session)]
    (words,) = (words for words in told if words.startswith("middle-click"))
    assert words.endswith(' in "First"')


def test_a_window_with_another_title_at_the_end(tmp_path: Path) -> None:
    made = record("key:5=rename", tmp_path)
    assert made.differences == ()
    told = [(made.session.windows[change.window].title, change.appeared) for change in made.session.changes]
    assert told == [("First", True), ("First", False), ("*First", True)]


def test_titles_with_paths_are_the_same_in_each_copy(tmp_path: Path) -> None:
    made = record("key:5=name folder,named=rename", tmp_path)
    assert (made.differences, made.session.verified) == ((), True)
    assert made.session.windows[-1].title == f"{Path(__file__).parent}/notes.txt"


def test_characters_that_no_key_makes_are_recorded_and_played(tmp_path: Path) -> None:
    """xdotool gives a spare key each of these symbols, and takes it away again at once."""
    made = record("", tmp_path, first=("type", "--delay", "30", "né€ы"))
    typed = [event.symbol for event in made.session.events if event.kind is InputKind.KEY_PRESS][:4]
    assert typed == ["n", "eacute", "0x10020ac", "0x100044b"]
    assert made.unknown_keys == ()
    with PrivateDisplay(SCREEN, made.session.window_manager) as display:
        output = run_session(made.session, actions_of(made.session), display, QUICK).ending.output.split()
    assert [line for line in output if line.startswith("key:")][:4] == ["key:n", "key:eacute", "key:", "key:"]


def test_characters_that_no_key_makes_are_masked(tmp_path: Path) -> None:
    made = record("", tmp_path, first=("type", "--delay", "30", "né€ы"), mask=True)
    typed = [event.symbol for event in made.session.events if event.kind is InputKind.KEY_PRESS][:4]
    assert typed == ["x"] * 4


def test_a_key_without_a_symbol_is_told(tmp_path: Path) -> None:
    made = record("", tmp_path, first=("key", "248"))
    assert made.unknown_keys == (248,)
    assert all(event.key for event in made.session.events if event.kind is InputKind.KEY_PRESS)
    assert made.session.verified


def test_a_crash_is_recorded_and_shows_again(tmp_path: Path) -> None:
    made = record("key:F1=crash", tmp_path)
    assert made.session.ending is not None
    assert made.session.ending.kind is EndingKind.SIGNAL
    assert made.session.verified
    assert read_session(tmp_path / "session.log") == made.session


def test_on_a_display_of_the_user(display: PrivateDisplay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XAUTHORITY", str(display.authority))
    made = record("key:F1=exit0", tmp_path, display=display.name)
    assert made.session.ending is not None
    assert made.session.ending.kind is EndingKind.EXIT
    assert made.session.verified
    assert made.session.window_manager == display.window_manager
    assert (made.session.screen.width_px, made.session.screen.height_px) == (800, 600)
    assert display.alive


# python-xlib leaves the socket open with which it was refused.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_on_a_display_that_wants_a_cookie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    home.mkdir()
    cookie, host, name = bytes(range(16)), socket.gethostname().encode(), b"MIT-MAGIC-COOKIE-1"
    # X11 authorization file: family 256 (local), then address, display, name and data, each with its length.
    counted = b"".join(struct.pack(">H", len(part)) + part for part in (host, b"", name, cookie))
    (home / ".Xauthority").write_bytes(struct.pack(">H", 256) + counted)
    reading, writing = os.pipe()
    command = ["Xvfb", "-displayfd", str(writing), "-auth", str(home / ".Xauthority"), "-screen", "0", "800x600x24"]
    with subprocess.Popen(command, pass_fds=(writing,), stderr=subprocess.DEVNULL) as server:
        try:
            os.close(writing)
            with open(reading) as answer:
                display = f":{answer.readline().strip()}"
            monkeypatch.delenv("XAUTHORITY", raising=False)
            monkeypatch.setenv("HOME", str(tmp_path / "elsewhere"))
            with pytest.raises(NoDisplayError):
                record("", tmp_path, display=display)
            monkeypatch.setenv("HOME", str(home))
            # The program finds the cookie, although it has another HOME; without it, it would end with an error.
            assert record("start=exit0", tmp_path, display=display).session.ending == Ending(
                EndingKind.EXIT, "ended with exit status 0", status=0, actions=ANY, time_ms=ANY, output=ANY
            )
        finally:
            server.terminate()


def test_typed_text_can_be_masked(tmp_path: Path) -> None:
    made = record("", tmp_path, mask=True)
    text = (tmp_path / "session.log").read_text()
    assert made.session.masked
    told = [describe_action(action, made.session) for action in actions_of(made.session)]
    assert "type 'xxxx' in \"First\"" in told
    assert 'press Alt+p in "First"' in told
    assert '"symbol": "H"' not in text
    assert '"key": "5"' not in text


# python-xlib leaves the sockets open with which it tried.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_program_that_cannot_be_started_leaves_the_log_that_was_there(tmp_path: Path) -> None:
    log = tmp_path / "session.log"
    log.write_text("kept")
    program = GuiProgram(("no-such-program",), str(tmp_path))
    with pytest.raises(ProgramNotFoundError):
        X11Recorder().record(program, log, display="new", screen=SCREEN)
    assert log.read_text() == "kept"


def test_no_display(tmp_path: Path) -> None:
    with pytest.raises(NoDisplayError):
        record("", tmp_path, display=":4242")


def test_no_display_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    with pytest.raises(NoDisplayError, match="DISPLAY is not set"):
        Connection()


def test_a_program_that_hangs_when_its_recording_is_ended_has_failed(tmp_path: Path) -> None:
    made = record("key:F1=hang,rename=no", tmp_path)
    assert made.session.ending is not None
    assert made.session.ending.kind is EndingKind.HANG
    assert made.session.verified


def test_a_failure_some_time_after_the_last_action_is_waited_for_at_the_fastest_pace(tmp_path: Path) -> None:
    made = record("key:F1=later", tmp_path)
    assert made.session.ending is not None
    assert made.session.ending.kind is EndingKind.SIGNAL
    assert (made.session.pace, made.session.verified) == (Pace.FAST, True)
    assert 0 < made.session.playback.linger_s < 10
    assert read_session(tmp_path / "session.log") == made.session


def test_an_extension_that_is_not_there(display: PrivateDisplay) -> None:
    connection = Connection(display.name)
    try:
        with pytest.raises(ExtensionMissingError):
            connection.require("NO-SUCH-EXTENSION")
    finally:
        connection.close()
