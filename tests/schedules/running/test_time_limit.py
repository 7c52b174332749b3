"""A run that is killed at its time limit says where its threads were."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_dd.schedules.model import Settings
from replay_dd.schedules.running import time_limit
from replay_dd.schedules.running.runner import Runner
from replay_dd.schedules.running.target import Plan, TargetRun
from replay_dd.schedules.running.time_limit import note_at_limit
from replay_dd.schedules.runtime.process.native_threads import NativeThread
from tests.runtime.programs import run_program

WAITS = """
    import os, select, threading

    ends = os.pipe()
    out = os.dup(1)

    def work():
        select.select([0], [], [])
        os.read(ends[0], 1)

    thread = threading.Thread(target=work)
    thread.start()
    child = os.popen("sleep 1000")
    child.read()
    """
LOOPS = """
    import threading

    def work():
        number = 0
        while True:
            number += 1

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    """

MANY = """
    import threading

    lock = threading.Lock()
    lock.acquire()
    for _ in range(40):
        threading.Thread(target=lock.acquire).start()

    def work():
        number = 0
        while True:
            number += 1

    work()
    """


def note_of(run: TargetRun) -> str:
    assert run.log.ending.timed_out
    (note,) = (note for note in run.log.ending.notes if note.startswith("at the time limit"))
    return note


def test_threads_that_all_wait_are_no_loop(tmp_path: Path) -> None:
    note = note_of(run_program(tmp_path, WAITS, time_limit_s=4))
    assert note.startswith("at the time limit, all threads waited: ")
    assert "the main thread at prog.py:14 in <module>" in note
    assert "local variables" not in note


def test_a_loop_is_told_with_its_line(tmp_path: Path) -> None:
    note = note_of(run_program(tmp_path, LOOPS, time_limit_s=4))
    assert "another thread was running at prog.py:" in note
    assert "in work" in note
    assert "local variables" in note


def test_a_forked_run_tells_the_same(tmp_path: Path) -> None:
    program = run_program(tmp_path, LOOPS, time_limit_s=4).log.program
    with Runner(program, Settings()) as runner:
        for _ in range(2):
            note = note_of(runner.run(Plan(), 1))
            assert "another thread was running at prog.py:" in note
        assert runner.why_fresh == ""


def test_the_system_is_asked_about_few_of_many_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known: list[int] = []
    ask = time_limit.threads_of

    def asked(process: int, only: set[int]) -> list[NativeThread]:
        found = ask(process, only=only)
        known.append(sum(thread.stack != (0, 0) for thread in found))
        assert len(found) > 40
        return found

    monkeypatch.setattr(time_limit, "threads_of", asked)
    note = note_of(run_program(tmp_path, MANY, time_limit_s=4))
    assert "the main thread was running at prog.py:" in note
    assert known
    assert max(known) <= 5


def test_where_nothing_is_known_only_the_granularity_is_told() -> None:
    assert note_at_limit([], "line", "/") == ""
    assert "local variables" in note_at_limit([], "access", "/")
    assert "without a lock or a sleep" in note_at_limit([], "sync", "/")
