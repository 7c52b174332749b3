"""Hunts whose preemptions come only where a GIL lets them, or only where it does not."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from replay_dd.errors.user import UsageError
from replay_dd.schedules.hunting.hunt import Hunt, hunt
from replay_dd.schedules.hunting.only_where import WITH_GIL, WITHOUT_GIL, check_only, is_as_wanted
from replay_dd.schedules.hunting.options import HuntOptions
from replay_dd.schedules.model import Settings
from replay_dd.schedules.running.target import describe_program
from tests.runtime.programs import run_program, triggered, write_program

# What is sought in runs, and not what runs do, which depends on the Python.
pytestmark = pytest.mark.once

# Between the read and the write of one variable nothing is called; between those of the other, a function in C is.
TWO_RACES = """
    import threading
    def add():
        global plain, called
        before = plain
        plain = before + 1
        before = called
        abs(before)
        called = before + 1
    plain = called = 0
    threads = [threading.Thread(target=add) for _ in range(2)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    assert plain == 2, "plain"
    assert called == 2, "called"
"""
# By its bytecode, the write comes after a call, whatever is called.
CALLS = """
    import threading
    def look():
        return other
    def add():
        global value
        before = value
        CALL()
        value = before + 1
    value = other = 0
    threads = [threading.Thread(target=add) for _ in range(2)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    assert value == 2, value
"""


def hunted(folder: Path, text: str, only: str, *, runs: int = 60, strategy: str | None = None) -> Hunt:
    path = write_program(folder, text)
    program = describe_program((sys.executable, path.name), directory=folder)
    return hunt(program, Settings(), HuntOptions(runs=runs, only=only, strategy=strategy, simplify=False))


@pytest.mark.once
@pytest.mark.parametrize("strategy", [None, "random"])
def test_with_a_gil_the_race_without_a_call_is_not_found(strategy: str | None, tmp_path: Path) -> None:
    found = hunted(tmp_path, TWO_RACES, WITH_GIL, strategy=strategy)
    assert found.failing is not None
    assert [failure.text.partition(" (")[0] for failure in found.failures] == ["AssertionError: called"]
    assert is_as_wanted(found.failing, WITH_GIL, 60)
    assert not is_as_wanted(found.failing, WITHOUT_GIL, 60)


def test_without_one_it_is(tmp_path: Path) -> None:
    found = hunted(tmp_path, TWO_RACES, WITHOUT_GIL)
    assert found.failing is not None
    assert [failure.text.partition(" (")[0] for failure in found.failures] == ["AssertionError: plain"]
    assert not is_as_wanted(found.failing, WITH_GIL, 60)


@pytest.mark.once
def test_what_is_simplified_is_restricted_as_well(tmp_path: Path) -> None:
    path = write_program(tmp_path, TWO_RACES)
    program = describe_program((sys.executable, path.name), directory=tmp_path)
    found = hunt(program, Settings(), HuntOptions(runs=60, only=WITHOUT_GIL, strategy="random"))
    assert found.failing is not None
    assert len(found.failing.triggers) == 1
    assert is_as_wanted(found.failing, WITHOUT_GIL, 60)


@pytest.mark.parametrize("call, with_gil", [("dict", True), ("look", False)])
def test_what_the_bytecode_does_not_tell_a_run_does(call: str, with_gil: bool, tmp_path: Path) -> None:
    """With a GIL, threads are switched after the call of a class in C, and not after a function in Python has read."""
    for time in range(1, 12):
        log = run_program(tmp_path, CALLS.replace("CALL", call), triggered(("0.1", time, "0.2"))).log
        place = next((switch.place for switch in log.switches if not switch.forced), None)
        if place is not None and place.instruction == "STORE_GLOBAL":
            assert is_as_wanted(log, WITH_GIL, 60) is with_gil
            assert is_as_wanted(log, WITHOUT_GIL, 60) is not with_gil
            return
    pytest.fail("no preemption before the write")


def test_granularities_at_which_nothing_is_left_are_refused() -> None:
    for only, granularity in ((WITH_GIL, "sync"), (WITHOUT_GIL, "sync"), (WITHOUT_GIL, "gil")):
        with pytest.raises(UsageError, match=granularity):
            check_only(only, granularity)
    check_only(WITH_GIL, "gil")
    check_only(WITHOUT_GIL, "line")
    check_only("", "sync")
