"""The session log: it survives a round trip, a truncated one is still useful, and damage has its own error."""

from __future__ import annotations

import json
import re
import shutil
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replay_dd.errors import EXIT_LOG
from replay_dd.errors.user import (
    LogCutOffError,
    LogEditedError,
    LogEmptyError,
    LogError,
    LogVersionError,
    NotALogError,
    OutputError,
)
from replay_dd.events.actions import actions_of
from replay_dd.events.log import FORMAT, VERSION, SessionWriter, read_session, write_session
from replay_dd.events.model import (
    ActionKind,
    Ending,
    EndingKind,
    Event,
    GuiProgram,
    InputKind,
    Pace,
    Rectangle,
    Screen,
    Session,
    Target,
    Window,
    WindowChange,
)
from replay_dd.logfile import format_of, is_held
from replay_dd.trust.known_logs import digest_of, is_known
from tests.events.sessions import sessions

AREA = Rectangle(10, 20, 300, 200)
SESSION = Session(
    GuiProgram(("prog", "--option"), "work"),
    Screen(1024, 768),
    windows=(Window(0, "prog", "Prog", "A title", AREA, AREA),),
    events=(
        Event(InputKind.MOVE, 5, 50, 60, window=0),
        Event(InputKind.KEY_PRESS, 9, 50, 60, key="a", symbol="A", modifiers=("Shift",), window=0),
    ),
    changes=(WindowChange(1, 0, True),),
    ending=Ending(EndingKind.SIGNAL, "killed by SIGSEGV", "signal 11", signal=11),
)


def test_the_smallest_numbers_are_read(tmp_path: Path) -> None:
    session = replace(
        SESSION,
        screen=Screen(1, 1, 1),
        events=(Event(InputKind.MOVE, 0, 0, 0),),
        changes=(WindowChange(0, 0, True),),
        ending=Ending(EndingKind.OPEN, "still running at the end", actions=0, time_ms=0),
    )
    write_session(session, tmp_path / "a.log")
    assert read_session(tmp_path / "a.log") == session


@settings(max_examples=80)
@given(sessions())
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, session: Session) -> None:
    path = tmp_path_factory.getbasetemp() / "session.log"
    write_session(session, path)
    assert read_session(path) == session


@pytest.fixture
def path(tmp_path: Path) -> Path:
    written = tmp_path / "session.log"
    write_session(SESSION, written)
    return written


def test_the_first_line_is_for_ever(path: Path) -> None:
    assert json.loads(path.read_text().splitlines()[0]) == {"format": FORMAT, "version": VERSION}
    assert format_of(path) == FORMAT


@given(st.data())
def test_a_log_that_is_cut_anywhere_keeps_its_whole_lines(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.getbasetemp() / "cut.log"
    write_session(SESSION, path)
    whole = path.read_bytes()
    head = len(b"".join(whole.splitlines(True)[:4]))
    length = data.draw(st.integers(head, len(whole)))
    path.write_bytes(whole[:length])
    session = read_session(path)
    assert session.events == SESSION.events[: len(session.events)]
    kept = whole[:length].count(b"\n")
    assert len(session.windows) + len(session.events) + len(session.changes) == min(max(kept - 4, 0), 4)
    assert session.ending == (SESSION.ending if kept > 8 else None)


def test_lines_are_there_as_soon_as_they_are_written(tmp_path: Path) -> None:
    path = tmp_path / "session.log"
    writer = SessionWriter(path, Session(SESSION.program, SESSION.screen))
    writer.window(SESSION.windows[0])
    writer.event(SESSION.events[0])
    assert read_session(path).events == SESSION.events[:1]
    writer.end(Ending(EndingKind.EXIT, "exit status 0", status=0))
    writer.verdict(Pace.RECORDED, True)
    writer.close()
    session = read_session(path)
    assert (session.pace, session.verified) == (Pace.RECORDED, True)
    assert session.ending is not None
    assert not session.ending.failed


def test_a_log_is_held_as_long_as_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "session.log"
    assert not is_held(path)
    with SessionWriter(path, SESSION):
        assert is_held(path)
    assert not is_held(path)


def test_targets_name_the_actions_that_they_were_of(tmp_path: Path) -> None:
    def event(kind: InputKind, time_ms: int, **more: object) -> Event:
        return Event(kind, time_ms, 50, 60, **more)  # type: ignore[arg-type]

    first, second = (
        (event(InputKind.BUTTON_PRESS, time_ms, button=1), event(InputKind.BUTTON_RELEASE, time_ms + 9, button=1))
        for time_ms in (1000, 5000)
    )
    targets = (Target(1000, ActionKind.CLICK, 'button "Save"'), Target(5000, ActionKind.CLICK, 'button "Quit"'))
    path = tmp_path / "session.log"
    write_session(replace(SESSION, events=(*first, *second), targets=targets), path)
    session = read_session(path)
    assert session.targets == targets
    assert [action.target for action in actions_of(session)] == ['button "Save"', 'button "Quit"']
    # Whoever leaves out events by hand leaves the names of the others right.
    assert [action.target for action in actions_of(replace(session, events=second))] == ['button "Quit"']
    # What is known of an action itself goes before.
    isolated = (replace(actions_of(session)[0], target='button "Save as"'),)
    assert actions_of(replace(session, events=(), actions=isolated)) == isolated


def test_a_log_that_the_program_removes_is_written_again(tmp_path: Path) -> None:
    path = tmp_path / "place" / "session.log"
    with SessionWriter(path, SESSION) as writer:
        shutil.rmtree(path.parent)
        writer.end(Ending(EndingKind.EXIT, "exit status 0", status=0))
    assert read_session(path).ending == Ending(EndingKind.EXIT, "exit status 0", status=0)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert is_known(digest_of(path.read_bytes()))


def edited(number: int, change: Callable[[str], str]) -> Callable[[bytes], bytes]:
    def edit(data: bytes) -> bytes:
        lines = data.decode().splitlines(True)
        lines[number] = change(lines[number])
        return "".join(lines).encode()

    return edit


def with_argument(text: str) -> Callable[[str], str]:
    return lambda line: re.sub(r'"command": \["[^"]*"', f'"command": ["{text}"'.replace("\\", r"\\"), line)


DAMAGES: dict[str, tuple[Callable[[bytes], bytes], type[LogError]]] = {
    "nothing": (lambda data: b"", LogEmptyError),
    "newer": (edited(0, lambda line: line.replace(f": {VERSION}", ": 99")), LogVersionError),
    "of schedules": (edited(0, lambda line: line.replace(FORMAT, "replay-dd schedule log")), NotALogError),
    "binary": (lambda data: b"\x7fELF" + bytes(range(256)), NotALogError),
    "an image": (lambda data: b"\x89PNG\r\n\x1a\n" + data, NotALogError),
    "head only": (lambda data: data.partition(b"\n")[0] + b"\n", LogCutOffError),
    "no screen": (
        lambda data: b"".join(line for line in data.splitlines(True) if b"screen" not in line),
        LogCutOffError,
    ),
    "a screen that fills the memory": (
        edited(2, lambda line: line.replace("1024", "32767").replace("768", "32767")),
        LogEditedError,
    ),
    "a position that X does not know": (
        edited(6, lambda line: re.sub('"x_px": [0-9]+', '"x_px": 32768', line)),
        LogEditedError,
    ),
    "an argument that no program can be given": (edited(1, with_argument("a\\u0000b")), LogEditedError),
    "half a character": (edited(1, with_argument("\\ud800")), LogEditedError),
    "an empty line": (edited(5, lambda line: line + "\n"), LogEditedError),
    "text for a number": (edited(2, lambda line: line.replace("1024", '"wide"')), LogEditedError),
    "truth for a number": (edited(2, lambda line: line.replace("1024", "true")), LogEditedError),
    "no such kind": (edited(6, lambda line: line.replace("move", "hop")), LogEditedError),
    "no such line": (edited(6, lambda line: line.replace('"event"', '"omen"')), LogEditedError),
    "no such window": (edited(6, lambda line: line.replace('"window": 0', '"window": 7')), LogEditedError),
    "no screen size": (edited(2, lambda line: line.replace("1024", "0")), LogEditedError),
    "no program": (edited(1, lambda line: line.replace('["prog", "--option"]', "[]")), LogEditedError),
    "not utf-8": (lambda data: data.replace(b"A title", b"\xff\xfe title"), LogEditedError),
    "deep": (edited(6, lambda line: "[" * 100_000 + "\n"), LogEditedError),
    "events and actions": (lambda data: data + b'{"action": {"kind": "key", "inputs": []}}\n', LogEditedError),
}


@pytest.mark.parametrize("damage", DAMAGES, ids=str)
def test_damage_has_a_name(path: Path, damage: str) -> None:
    change, expected = DAMAGES[damage]
    changed = change(path.read_bytes())
    assert changed != path.read_bytes()
    path.write_bytes(changed)
    with pytest.raises(LogError) as error:
        read_session(path)
    assert type(error.value) is expected
    assert error.value.exit_code == EXIT_LOG
    assert str(path) in error.value.message


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for place in (tmp_path, tmp_path / "file" / "session.log"):
        with pytest.raises(OutputError):
            write_session(SESSION, place)
    assert [item.name for item in tmp_path.iterdir()] == ["file"]


def test_a_missing_log(tmp_path: Path) -> None:
    with pytest.raises(LogError):
        read_session(tmp_path / "nothing.log")
    assert format_of(tmp_path / "nothing.log") == ""
