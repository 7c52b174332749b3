"""Small logs, made by hand and by hypothesis."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from hypothesis import strategies as st

from replay_dd.schedules.model import (
    Ending,
    Frame,
    Log,
    Place,
    Program,
    Settings,
    Switch,
    Trigger,
    UncaughtException,
    Waiter,
    Wake,
)

PLACE = Place("prog.py", "folder/prog.py", 7, 3, "work", "LOAD_ATTR", True, 11)
PASSED = Ending(status=0, thread_times={"0": 50, "0.1": 60, "0.2": 70})
FAILED = replace(
    PASSED,
    status=1,
    exceptions=(UncaughtException("main", "ValueError", "no", (Frame("prog.py", 9, "work", True),)),),
)


def log_of(
    switches: Iterable[Switch], ending: Ending = PASSED, command: tuple[str, ...] = ("python", "prog.py")
) -> Log:
    """A log with these switches."""
    program = Program(
        command, "folder", {"PATH": "bin"}, b"in\x00put", False, "3.12.1", "bin/python", {"prog.py": "aa"}
    )
    return Log(program, Settings(start_ns=5), "default", tuple(switches), ending, True)


def vouching_for(place: Place, log: Log) -> Log:
    """The log of a program to which the file of a place belongs, as it is now."""
    path = Path(place.path)
    files = {place.file: hashlib.sha256(path.read_bytes()).hexdigest()[:32]}
    return replace(log, program=replace(log.program, directory=str(path.parent), files=files))


def schedule(
    *triggers: tuple[str, int, str], stops: Iterable[tuple[str, int, str]] = (), ending: Ending = PASSED
) -> Log:
    """A log with these triggers, whose threads stop at the other times without one."""
    switches = [Switch(*trigger, False, False, PLACE, trigger[1], 1) for trigger in triggers]
    switches += [Switch(*stop, True, True, PLACE, stop[1], 1) for stop in stops]
    return log_of(sorted(switches, key=lambda switch: switch.global_time), ending)


_TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
_COUNT = st.integers(0, 2**62)
_LINE = st.integers(0, 2**31 - 1)
_NAME = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
_VARIABLE = st.text(st.characters(codec="utf-8", exclude_characters="\0="), min_size=1, max_size=12)
_HASH = st.sampled_from(["", "00" * 16, "5e" * 16])
_THREAD = st.lists(st.integers(1, 30), max_size=2).map(lambda path: ".".join(map(str, [0, *path])))
_DIGEST = st.integers(0, 2**64 - 1)
_TRIGGER = st.builds(Trigger, _THREAD, _COUNT, _THREAD)
_FRAMES = st.lists(st.builds(Frame, _TEXT, _LINE, _TEXT, st.booleans()), max_size=2).map(tuple)
_PLACE = st.builds(Place, _NAME, _NAME, _LINE, _LINE, _TEXT, _TEXT, st.booleans(), _DIGEST)
_WAKE = st.builds(Wake, st.booleans(), st.none() | _PLACE, _COUNT)
_SWITCH = st.builds(
    Switch,
    *(
        _THREAD,
        _COUNT,
        _THREAD,
        st.booleans(),
        st.booleans(),
        st.none() | _PLACE,
        _COUNT,
        _DIGEST,
        _COUNT,
        st.booleans(),
        st.none() | _WAKE,
        st.booleans(),
    ),
)
_ENDING = st.builds(
    Ending,
    status=st.none() | st.integers(0, 255),
    signal=st.none() | st.integers(1, 64),
    timed_out=st.booleans(),
    stopped=st.booleans(),
    exceptions=st.lists(st.builds(UncaughtException, st.just("main") | _THREAD, _TEXT, _TEXT, _FRAMES), max_size=2).map(
        tuple
    ),
    deadlock=st.lists(st.builds(Waiter, _THREAD, _TEXT, _FRAMES), max_size=2).map(tuple),
    complete=st.booleans(),
    global_time=_COUNT,
    digest=_DIGEST,
    thread_times=st.dictionaries(_THREAD, _COUNT, max_size=3),
    skipped=st.lists(_TRIGGER, max_size=2).map(tuple),
    notes=st.lists(_TEXT, max_size=2).map(tuple),
    writes_files=st.booleans(),
    seconds=st.floats(0, 1e6),
)
_PROGRAM = st.builds(
    Program,
    command=st.lists(_NAME, min_size=1, max_size=3).map(tuple),
    directory=_NAME,
    environment=st.dictionaries(_VARIABLE, _NAME, max_size=2),
    standard_input=st.binary(max_size=20),
    fresh_copy=st.booleans(),
    python=_TEXT,
    executable=_NAME,
    files=st.dictionaries(_NAME, _HASH, max_size=2),
)
_NAMES = st.lists(_NAME, max_size=2).map(tuple)
_SETTINGS = st.builds(Settings, st.sampled_from(["sync", "gil", "line", "access"]), _NAMES, _NAMES, _COUNT, _COUNT)
LOGS = st.builds(
    Log,
    _PROGRAM,
    _SETTINGS,
    _TEXT,
    st.lists(_SWITCH, max_size=4).map(tuple),
    _ENDING,
    st.none() | st.booleans(),
)
