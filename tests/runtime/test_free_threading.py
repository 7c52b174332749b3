"""Interpreters without a GIL: one thread at a time all the same, and every run replays."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from replay_dd.schedules.model import Settings
from replay_dd.schedules.runtime import compat
from replay_dd.schedules.target import Plan
from tests.runtime.programs import assert_same, output_of, replayed, run_program, write_program

pytestmark = pytest.mark.skipif(not compat.FREE_THREADED, reason="this interpreter has a GIL")

# Each thread writes its number and looks for a while whether another one writes, too. Nobody is switched to meanwhile:
# this package is not counted.
MEETING = """
    class Room:
        last = 0
        met = 0

    def stay(room, number):
        room.last = number
        for _ in range(1_000):
            if room.last != number:
                room.met += 1
                return
"""
GUESTS = """
    import sys, threading
    from meeting.room import Room, stay

    def visit(number):
        for _ in range(5):
            stay(room, number)
            visits[number] += 1

    room, visits = Room(), [0] * 4
    threads = [threading.Thread(target=visit, args=(number,)) for number in range(4)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    print(sys._is_gil_enabled(), sum(visits), "met" if room.met else "alone")
"""


def write_meeting(folder: Path) -> None:
    write_program(folder / "meeting", MEETING, "room.py")


def test_threads_that_run_freely_meet(tmp_path: Path) -> None:
    """What the next test says would be worth nothing otherwise."""
    write_meeting(tmp_path)
    path = write_program(tmp_path, GUESTS)
    outputs = set()
    for _ in range(10):
        done = subprocess.run([sys.executable, path.name], cwd=tmp_path, capture_output=True, text=True, check=True)
        outputs.add(done.stdout)
        if "False 20 met\n" in outputs:
            return
    pytest.fail(f"the threads never ran at the same time: {outputs}")


@pytest.mark.parametrize("accelerator", ["on", "off"])
def test_never_two_threads_run_at_the_same_time(
    accelerator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REPLAY_DD_ACCELERATOR", accelerator)
    write_meeting(tmp_path)
    for seed in range(4):
        run = run_program(tmp_path, GUESTS, Plan("random", {"seed": seed}), settings=Settings(exclude=("meeting",)))
        assert output_of(run) == "False 20 alone\n"
        assert len(run.log.switches) > 4
        assert_same(run, replayed(run.log))
