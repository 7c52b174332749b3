"""A failure that only replay-dd makes is told from one of the program's own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from replay_dd.schedules.hunting.hunt import hunt
from replay_dd.schedules.hunting.options import HuntOptions
from replay_dd.schedules.model import Settings
from replay_dd.schedules.replaying.doubts import Doubt, doubt_of
from replay_dd.schedules.replaying.record import record
from tests.runtime.programs import run_program
from tests.runtime.test_native_threads import COMPILER, build_library

# What the system says of the time is real, and a sleep takes none of it.
MISLED = """
    import os, threading, time

    def work():
        before = os.times().elapsed
        time.sleep(0.2)
        assert os.times().elapsed - before > 0.1, "too early"

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    """
# The program fails before it starts a thread, so no schedule is to blame.
MISLED_ALONE = """
    import os, threading, time

    before = os.times().elapsed
    time.sleep(0.2)
    assert os.times().elapsed - before > 0.1, "too early"
    thread = threading.Thread(target=print)
    thread.start()
    thread.join()
    """
OWN = """
    import threading
    def work():
        raise ValueError("own")
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    """
SCHEDULE = """
    import sys, threading
    if any(name.startswith("_replay_dd_runtime") for name in sys.modules):
        raise SystemExit(3)
    thread = threading.Thread(target=print)
    thread.start()
    """


def test_a_failure_that_the_virtual_clock_makes(tmp_path: Path) -> None:
    doubt = doubt_of(run_program(tmp_path, MISLED), 60)
    assert doubt == Doubt(True, ())
    assert "without replay-dd, and with `--real-clock`" in str(doubt)


@pytest.mark.once
def test_what_another_run_has_noted_speaks_against_this_one(tmp_path: Path) -> None:
    failed = run_program(tmp_path, MISLED)
    note = "a call at module.py:1 blocked outside replay-dd's control; other threads ran in the meantime"
    ending = replace(failed.log.ending, notes=("a note about something else", note))
    other = replace(failed, log=replace(failed.log, ending=ending))
    assert doubt_of(failed, 60, [other, other]) == Doubt(True, (note,))


def test_with_the_real_clock_there_is_nothing_to_doubt(tmp_path: Path) -> None:
    assert doubt_of(run_program(tmp_path, MISLED, settings=Settings(real_clock=True)), 60) is None


def test_a_failure_of_the_program_itself_in_a_thread(tmp_path: Path) -> None:
    assert doubt_of(run_program(tmp_path, OWN), 60) is None


def test_a_program_that_passes_only_without_us(tmp_path: Path) -> None:
    doubt = doubt_of(run_program(tmp_path, SCHEDULE), 60)
    assert doubt == Doubt(False, (), one_schedule=True)
    assert str(doubt) == "the program passes without replay-dd"


def test_a_recording_notes_it(tmp_path: Path) -> None:
    program = run_program(tmp_path, MISLED).log.program
    log = record(program, Settings(), show_output=False).log
    assert log.verified
    assert [note for note in log.ending.notes if "`--real-clock`" in note]


# The library's function waits until real time has passed that the program's clock shows.
HANGS = """
    import ctypes, threading, time
    nap = ctypes.CDLL("./libnap.so")

    def work():
        before = time.monotonic()
        while time.monotonic() - before < 1.5:
            nap.nap_for(1)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    """


@pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")
def test_a_hang_that_the_virtual_clock_makes(tmp_path: Path) -> None:
    build_library(tmp_path)
    run = run_program(tmp_path, HANGS, time_limit_s=4)
    assert run.log.ending.timed_out
    doubt = doubt_of(run, 60)
    assert doubt is not None
    assert doubt.is_the_clock
    assert "libnap.so" in doubt.reasons[0]


@pytest.mark.once
def test_a_program_that_waits_for_ever_by_itself_is_not_tried(tmp_path: Path) -> None:
    text = "import threading\nthreading.Thread(target=print).start()\nimport os\nos.popen('sleep 1000').read()\n"
    assert doubt_of(run_program(tmp_path, text, time_limit_s=5), 60) is None  # it has to start in time


@pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")
def test_a_hunt_goes_on_with_the_real_clock(tmp_path: Path) -> None:
    build_library(tmp_path)
    text = (
        MISLED
        + """
    import ctypes
    ctypes.CDLL("./libnap.so").begin()
    """
    )
    program = run_program(tmp_path, text).log.program
    found = hunt(program, Settings(), HuntOptions(runs=2, jobs=2))
    assert found.instead_of.startswith("AssertionError in thread 0.1: too early")
    assert [reason for reason in found.because if "libnap.so" in reason]
    assert found.failing is None
    assert found.passing is not None
    assert found.passing.settings.real_clock


@pytest.mark.once
def test_a_program_that_the_virtual_clock_misleads_before_it_starts_a_thread(tmp_path: Path) -> None:
    run = run_program(tmp_path, MISLED_ALONE)
    doubt = doubt_of(run, 60)
    assert doubt == Doubt(True, (), one_schedule=True)
    assert doubt.is_the_clock
    found = hunt(run.log.program, Settings(), HuntOptions(runs=2))
    assert found.instead_of.startswith("AssertionError: too early")
    assert not found.one_schedule
    assert found.passing is not None
    assert found.passing.settings.real_clock


@pytest.mark.once
def test_a_program_that_fails_by_itself_before_it_starts_a_thread(tmp_path: Path) -> None:
    assert doubt_of(run_program(tmp_path, "raise ValueError('own')"), 60) is None
