"""The log file: it survives a round trip, and each kind of damage has its own error."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings

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
from replay_dd.schedules.hang import Hang, HangThread
from replay_dd.schedules.log import FORMAT, VERSION, read_log, write_log
from replay_dd.schedules.model import Log, Switch
from tests.fuzz.mutations import with_checksum
from tests.fuzz.samples import schedule_log
from tests.runtime.programs import run_program
from tests.schedules.logs import FAILED, LOGS, PLACE, log_of


@settings(max_examples=60)
@given(LOGS)
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, log: Log) -> None:
    path = tmp_path_factory.getbasetemp() / "a.log"
    write_log(log, path)
    assert read_log(path) == log


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A sound log with some of everything."""
    switches = [
        Switch("0", 3, "0.1", False, False, PLACE, 3, 99),
        Switch("0.1", 60, "0", True, True, None, 63, 98, ended=True),
    ]
    written = tmp_path / "a.log"
    write_log(log_of(switches, FAILED), written)
    return written


def test_what_a_real_run_with_waits_tells_is_read(tmp_path: Path) -> None:
    """A wait that its time-out ended tells its line, and one that got something its descriptor."""
    text = """
        import select, socket, threading
        one, other = socket.socketpair()
        thread = threading.Thread(target=print)
        thread.start()
        select.select([one], [], [], 0.1)
        other.send(b"x")
        select.select([one], [], [], 0.1)
        one.recv(1)
        thread.join()
        """
    run = run_program(tmp_path, text)
    write_log(run.log, tmp_path / "real.log")
    log = read_log(tmp_path / "real.log")
    assert log.arrivals == run.log.arrivals
    assert any(str(arrival[-1]).startswith("at ") for arrival in log.arrivals)


def test_only_a_garbage_collection_is_marked_as_one(tmp_path: Path) -> None:
    """Other lines are as they were before there were such."""
    collection = Switch("0", 4, "0", False, False, PLACE, 4, 99, collects=True)
    write_log(log_of([Switch("0", 3, "0.1", False, False, PLACE, 3, 99), collection]), tmp_path / "a.log")
    lines = [json.loads(line) for line in (tmp_path / "a.log").read_text().splitlines() if '"switch"' in line]
    assert [line.get("collects") for line in lines] == [None, True]
    assert "collects" not in lines[0]
    assert read_log(tmp_path / "a.log").switches[1] == collection


def test_the_first_line_is_format_and_version(path: Path) -> None:
    assert json.loads(path.read_text().splitlines()[0]) == {"format": FORMAT, "version": VERSION}


def test_a_log_that_does_not_say_who_ended_is_read(path: Path) -> None:
    """As they were written at first: a switch without a place was an end."""
    read = read_log(path)
    *lines, last = path.read_text().splitlines(keepends=True)
    body = re.sub(r', "ended": (true|false)', "", "".join(lines))
    assert body != "".join(lines)
    ending = json.loads(last)["end"]
    checksum = hashlib.sha256((body + json.dumps(ending, sort_keys=True)).encode()).hexdigest()
    path.write_text(body + json.dumps({"end": ending, "checksum": checksum}) + "\n")
    assert read_log(path) == read
    assert [switch.ended for switch in read.switches] == [False, True]


def test_a_hang_is_told_by_names_and_not_by_the_order_of_its_parts(tmp_path: Path) -> None:
    main = HangThread("0", "", "waits", -1, "", "", 0, 0, (), False)
    log = log_of((), FAILED)
    write_log(
        replace(log, ending=replace(log.ending, hang=Hang("deadlock", False, (main,), (), (), ((),)))), tmp_path / "a"
    )
    hang = json.loads((tmp_path / "a").read_text().splitlines()[-1])["end"]["hang"]
    assert hang["why"] == "deadlock"
    assert hang["threads"][0]["state"] == "waits"


def test_writing_leaves_nothing_else_and_makes_folders(tmp_path: Path, path: Path) -> None:
    log = read_log(path)
    write_log(log, tmp_path / "new" / "folder" / "b.log")
    assert [file.name for file in (tmp_path / "new" / "folder").iterdir()] == ["b.log"]
    write_log(log, path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.log", "new"]


def test_a_log_that_cannot_be_written_is_told(tmp_path: Path, path: Path) -> None:
    with pytest.raises(OutputError) as error:
        write_log(read_log(path), path / "below-a-file" / "b.log")
    assert (error.value.slug, error.value.exit_code) == ("output-unwritable", EXIT_LOG)
    assert "cannot be written" in error.value.message
    assert [file.name for file in tmp_path.iterdir()] == ["a.log"]


def test_cut_off_anywhere(path: Path) -> None:
    data = path.read_bytes()
    first = data.index(b"\n")
    for length in range(len(data)):
        path.write_bytes(data[:length])
        expected = LogEmptyError if length == 0 else NotALogError if length < first else LogCutOffError
        with pytest.raises(LogError) as error:
            read_log(path)
        assert type(error.value) is expected, length
        assert error.value.exit_code == EXIT_LOG


def test_a_changed_character_anywhere_is_noticed(path: Path) -> None:
    data = path.read_bytes()
    original = read_log(path)
    for position in range(data.index(b"\n") + 1, len(data)):
        changed = bytearray(data)
        changed[position] ^= 1
        path.write_bytes(changed)
        try:
            read = read_log(path)
        except (LogEditedError, LogCutOffError):
            continue
        # Only non-content can change unnoticed: the whitespace of the last line.
        assert read == original, position


def edit_line(number: int, edit: Callable[[str], str]) -> Callable[[bytes], bytes]:
    def damage(data: bytes) -> bytes:
        lines = data.decode().splitlines()
        changed = edit(lines[number])
        assert changed != lines[number]
        lines[number] = changed
        return "\n".join(lines).encode() + b"\n"

    return damage


def rewrite_last(**changes: object) -> Callable[[bytes], bytes]:
    def edit(line: str) -> str:
        last = json.loads(line)
        last["end"].update(changes)
        return json.dumps(last)

    return edit_line(-1, edit)


DAMAGES = {
    "nothing": (lambda data: b"", LogEmptyError),
    "white space only": (lambda data: b"\n \n", LogEmptyError),
    "program": (edit_line(1, lambda line: line.replace("prog.py", "grop.py")), LogEditedError),
    "settings": (edit_line(2, lambda line: line.replace("access", "line")), LogEditedError),
    "recording": (edit_line(3, lambda line: line.replace("true", "false")), LogEditedError),
    "place": (edit_line(4, lambda line: line.replace("work", "play")), LogEditedError),
    "switch": (edit_line(5, lambda line: line.replace("3", "4")), LogEditedError),
    "a space": (edit_line(5, lambda line: line + " "), LogEditedError),
    "status": (rewrite_last(status=0), LogEditedError),
    "digest": (rewrite_last(digest="1" * 16), LogEditedError),
    "more in the end": (rewrite_last(more=1), LogEditedError),
    "no checksum": (edit_line(-1, lambda line: line.replace("checksum", "checksun")), LogCutOffError),
    "another checksum": (
        edit_line(-1, lambda line: json.dumps({**json.loads(line), "checksum": "0" * 64})),
        LogEditedError,
    ),
    "a line less": (lambda data: b"".join(data.splitlines(True)[:4] + data.splitlines(True)[5:]), LogEditedError),
    "a line twice": (lambda data: b"".join([*data.splitlines(True)[:5], *data.splitlines(True)[4:]]), LogEditedError),
    "no last line": (lambda data: b"".join(data.splitlines(True)[:-1]), LogCutOffError),
    "something after": (lambda data: data + b"more\n", LogCutOffError),
    "twice": (lambda data: data + data, LogEditedError),
    "newer": (edit_line(0, lambda line: line.replace(str(VERSION), "99")), LogVersionError),
    "another format": (edit_line(0, lambda line: line.replace(FORMAT, "hypothesis journal")), NotALogError),
    "json of another kind": (lambda data: b"[1, 2]\n" + data, NotALogError),
    "a number": (lambda data: b"7\n", NotALogError),
    "no version": (edit_line(0, lambda line: json.dumps({"format": FORMAT})), NotALogError),
    "no number": (edit_line(0, lambda line: line.replace(str(VERSION), '"x"')), NotALogError),
    "text": (lambda data: b"a b c\nd e f\n", NotALogError),
    "binary": (lambda data: bytes(range(256)) * 9, NotALogError),
    "compiled": (lambda data: b"\x7fELF\x02\x01\x01" + b"\0" * 99, NotALogError),
    "not utf-8": (lambda data: b"\xff\xfe" + data, NotALogError),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_each_damage_has_its_own_error(name: str, path: Path) -> None:
    damage, expected = DAMAGES[name]
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(LogError) as error:
        read_log(path)
    assert type(error.value) is expected
    assert error.value.exit_code == EXIT_LOG
    assert str(path) in error.value.message
    assert error.value.hint


def test_infinite_versions_and_deep_nesting_are_no_logs(path: Path) -> None:
    infinite, no_number = (f'{{"format": "{FORMAT}", "version": {version}}}' for version in ("1e999", "NaN"))
    for first in (infinite, no_number, "[" * 99999):
        path.write_text(first + "\n")
        with pytest.raises(LogError) as error:
            read_log(path)
        assert isinstance(error.value, NotALogError | LogVersionError)


def test_the_slugs_are_their_own() -> None:
    kinds = [LogError, OutputError, NotALogError, LogEmptyError, LogVersionError, LogCutOffError, LogEditedError]
    assert len({kind.slug for kind in kinds}) == len(kinds)


def test_missing_folder_and_unreadable(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.log", tmp_path):
        with pytest.raises(LogError) as error:
            read_log(path)
        assert type(error.value) is LogError
        assert error.value.exit_code == EXIT_LOG


def test_a_sound_checksum_over_something_else(path: Path) -> None:
    """Written by a tool that knows the checksum and not the form."""
    import hashlib

    for ending in ({"status": 0}, {"digest": "0", "exceptions": 5}, [], "x", None):
        body = json.dumps({"format": FORMAT, "version": VERSION}).encode() + b'\n{"program": {}}\n'
        checksum = hashlib.sha256(body + json.dumps(ending, sort_keys=True).encode()).hexdigest()
        path.write_bytes(body + json.dumps({"end": ending, "checksum": checksum}).encode() + b"\n")
        with pytest.raises(LogEditedError):
            read_log(path)


def test_arguments_that_are_no_text_survive(tmp_path: Path) -> None:
    """A file name in another encoding arrives as surrogates."""
    log = log_of([], command=("python", "prog.py", "caf\udce9"))
    write_log(log, tmp_path / "a.log")
    assert read_log(tmp_path / "a.log") == log


IMPOSSIBLE = {
    "a negative time": ('"switch": ["0", 9,', '"switch": ["0", -9,', "`switch[1]` must be a number from 0"),
    "no thread": ('"switch": ["0", 9,', '"switch": ["1", 9,', "`switch[0]` must be the id of a thread"),
    "no child is number 0": ('9, "0.1"]', '9, "0.0"]', "`switch[2]` must be the id of a thread"),
    "no such place": ('"at": 1', '"at": 2', "`at` must be the number of a place before it"),
    "a place from the end": ('"at": 1', '"at": -1', "`at` must be a number from 0"),
    "truth for a place": ('"at": 1', '"at": true', "`at` must be a number from 0"),
    "an absurd line": ('"line": 8', '"line": 2147483648', "`line` must be a number from 0"),
    "a short digest": ('"digest": "0000000000000063"', '"digest": "63"', "`digest` must be 16 hexadecimal digits"),
    "an arrival of another shape": ('"0", 5, 17, "from 7"]', '"0", 5]', "must be a record of what came from outside"),
    "an answer of another shape": (
        '"0", 5, 17, "from',
        '"0", 5, [17], "from',
        "must be a record of what came from outside",
    ),
    "an arrival from nowhere": ('"from 7"', '"from x"', "must be a record of what came from outside"),
    "an arrival in no thread": ('["due", "0"', '["due", "x"', "must be a record of what came from outside"),
    "no program": ('["python", "prog.py"]', "[]", "`program.command` must be a program and its arguments"),
    "an argument no system takes": ('"prog.py"]', '"prog\\u0000"]', "`program.command[1]` must be a text"),
    "half a character": ('"prog.py"]', '"\\ud800"]', "`program.command[1]` must be a text"),
    "no granularity": ('"access"', '"axes"', "`settings.granularity` must be one of sync, gil, line, access"),
    "a date before all": ('"start_ns": 5', '"start_ns": -5', "`settings.start_ns` must be a number from 0"),
    "no status": ('"status": 1', '"status": 256', "`end.status` must be a number from 0 to 255"),
    "no seconds": ('"seconds": 0.25', '"seconds": -0.25', "`end.seconds` must be a number of seconds"),
    "not a number": ('"seconds": 0.25', '"seconds": NaN', "it is not JSON"),
    "a thread time of no thread": (
        '"thread_times": {"0"',
        '"thread_times": {"a"',
        "`end.thread_times.a` must be the id",
    ),
    "another line": ('{"arrival"', '{"departure"', "none of `place`, `switch` and `arrival`"),
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_what_cannot_have_been_recorded_is_named(name: str, tmp_path: Path) -> None:
    old, new, complaint = IMPOSSIBLE[name]
    path = tmp_path / "a.log"
    text = schedule_log(path).decode()
    assert old in text
    path.write_bytes(with_checksum(text.replace(old, new, 1).encode()))
    with pytest.raises(LogEditedError) as error:
        read_log(path)
    assert complaint in error.value.message


@pytest.mark.once
def test_many_threads_are_read_at_once(tmp_path: Path) -> None:
    threads = {"0": 1, **{f"0.{number}": 1 for number in range(1, 200_000)}}
    log = log_of([], replace(FAILED, thread_times=threads))
    write_log(log, tmp_path / "a.log")
    assert read_log(tmp_path / "a.log") == log
