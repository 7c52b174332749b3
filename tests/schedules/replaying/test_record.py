"""A run is recorded, and its log verified."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from replay_dd.outcome import Outcome
from replay_dd.schedules.model import Settings
from replay_dd.schedules.replaying.record import record, verify_log
from replay_dd.schedules.replaying.replay import replay
from replay_dd.schedules.running.target import describe_program
from tests.runtime.programs import write_program

MESSAGE_OF_THE_PROGRAMS_OWN = """
    import threading

    class Order:
        def __repr__(self):
            return "order 17"

    thread = threading.Thread(target=int)
    thread.start()
    thread.join()
    assert False, [Order()]
    """


def test_a_message_that_only_the_replay_could_read_is_kept_and_no_difference(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program = write_program(tmp_path, MESSAGE_OF_THE_PROGRAMS_OWN)
    described = describe_program((sys.executable, str(program)), directory=tmp_path)
    log = record(described, Settings(), time_limit_s=60).log
    assert "order 17" in capfd.readouterr().err  # shown, so not read
    assert log.verified
    assert [exception.text for exception in log.ending.exceptions] == ["[order 17]"]
    again = replay(log, time_limit_s=60, show_output=True)
    assert "order 17" in capfd.readouterr().err
    assert again.reproduced
    assert again.outcome is Outcome.FAIL
    assert again.run.log.ending.exceptions == log.ending.exceptions


def test_a_verified_log_tells_how_long_a_process_of_its_own_takes(tmp_path: Path) -> None:
    """The time limits of replays depend on it; a copy of a loaded program takes less."""
    program = write_program(tmp_path, "import threading\nthread = threading.Thread(target=int)\nthread.start()\n")
    described = describe_program((sys.executable, str(program)), directory=tmp_path)
    log = record(described, Settings(), time_limit_s=60, show_output=False).log
    seconds = {of: replace(log, ending=replace(log.ending, seconds=of)) for of in (0.0, 50.0)}
    assert verify_log(seconds[0.0], 60).ending.seconds > 0
    assert verify_log(seconds[50.0], 60).ending.seconds == 50


def test_a_log_of_another_run_than_the_one_that_was_seen_says_so(tmp_path: Path) -> None:
    """The first run does not find the file yet, so it takes another path."""
    path = write_program(
        tmp_path,
        """
        import os, threading
        seen = os.path.exists("seen")
        open("seen", "w").close()
        def work():
            if seen:
                len(threads)
        threads = [threading.Thread(target=work)]
        threads[0].start()
        threads[0].join()
        """,
    )
    program = describe_program((sys.executable, str(path)), directory=tmp_path)
    notes = [record(program, Settings(), show_output=False).log.ending.notes for _ in range(2)]
    assert [any("the log holds the repeated run" in note for note in each) for each in notes] == [True, False]
