"""Threads that wait in C, where replay-dd cannot see why: they are found, told, and themselves again afterwards."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from replay_dd.schedules.model import Settings
from replay_dd.schedules.runtime.baton.scheduler import Scheduler
from replay_dd.schedules.runtime.baton.stuck_calls import StuckCalls
from replay_dd.schedules.runtime.baton.thread import ManagedThread
from replay_dd.schedules.runtime.counting import counter
from tests.runtime.programs import (
    assert_same,
    output_of,
    replayed,
    run_program,
    triggered,
)

WATCHED = """
import ctypes, threading
libc = ctypes.CDLL(None)
semaphore = ctypes.create_string_buffer(64)
libc.sem_init(semaphore, 0, 1)
def add(number):
    global value
    libc.sem_wait(semaphore)  # once: who gets it first of two that come at the same time is not up to the schedule
    seen = value
    value = seen + 1
    libc.sem_post(semaphore)
value = 0
threads = [threading.Thread(target=add, args=(number,)) for number in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(value)
"""


@pytest.mark.parametrize("accelerator", ["on", "off"])
def test_a_wait_in_c_for_another_thread_is_found_and_told(
    accelerator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread has taken a semaphore of the system's, and the other one waits for it in C."""
    monkeypatch.setenv("REPLAY_DD_ACCELERATOR", accelerator)
    run = run_program(tmp_path, WATCHED)
    assert output_of(run) == "2\n"
    assert run.log.ending.notes == ()
    for time in range(2, 10):
        run = run_program(tmp_path, WATCHED, triggered(("0.1", time, "0.2")))
        assert output_of(run) == "2\n"
        if run.log.ending.notes:
            break
    (note,) = run.log.ending.notes
    assert "blocked outside replay-dd's control; other threads ran in the meantime" in note
    assert_same(run, replayed(run.log))


def test_a_thread_that_sends_in_c_fills_what_another_one_reads(tmp_path: Path) -> None:
    """Nothing comes through a pair of sockets while the baton is held, unless somebody does without it."""
    text = """
        import ctypes, socket, threading
        def send():
            sent.append(ctypes.CDLL(None).send(other.fileno(), b"x" * 1_000_000, 1_000_000, 0))
            other.close()
        sent, (one, other) = [], socket.socketpair()
        thread = threading.Thread(target=send)
        thread.start()
        received = 0
        while data := one.recv(10_000): received += len(data)
        thread.join()
        print(sent, received)
        """
    run = run_program(tmp_path, text)
    assert output_of(run) == "[1000000] 1000000\n"
    (note,) = run.log.ending.notes
    assert "blocked outside replay-dd's control" in note
    again = replayed(run.log)
    assert output_of(again) == output_of(run)


@pytest.mark.parametrize("then", ["lock.release()", "condition.notify()"])
def test_who_comes_back_from_such_a_wait_is_itself_again(then: str, tmp_path: Path) -> None:
    text = f"""
        import ctypes, threading
        def work():
            with other:
                lines.append("other")
            with condition:
                lines.append("condition")
        lock, other, lines = threading.RLock(), threading.Lock(), []
        condition = threading.Condition(lock)
        thread = threading.Thread(target=work)
        thread.start()
        lock.acquire()
        ctypes.CDLL(None).usleep(3_000_000); {then}
        if lock._is_owned(): lock.release()
        thread.join()
        print(lines[0], sorted(lines[1:]))
        """
    run = run_program(tmp_path, text, settings=Settings(granularity="sync"))
    assert output_of(run) == "other ['condition']\n"
    (note,) = run.log.ending.notes
    assert "blocked outside replay-dd's control" in note
    assert_same(run, replayed(run.log))


AWAY_AFTER_A_WRITE = """
import ctypes, os, threading
libc = ctypes.CDLL(None)
semaphore = ctypes.create_string_buffer(64)
libc.sem_init(semaphore, 0, 0)
def answer():
    waiting.set()
    os.read(reading, 1)
    libc.sem_post(semaphore)
reading, writing = os.pipe()
waiting = threading.Event()
thread = threading.Thread(target=answer)
thread.start()
waiting.wait()
os.write(writing, b"x"); libc.sem_wait(semaphore)
thread.join()
"""


def test_what_came_of_the_last_operation_before_such_a_wait_came_after_that_operation(tmp_path: Path) -> None:
    """Else a replay would wait for it before the operation is made."""
    run = run_program(tmp_path, AWAY_AFTER_A_WRITE, settings=Settings(granularity="sync"))
    assert output_of(run) == ""
    (moment,) = [arrival[3:5] for arrival in run.log.arrivals if arrival[1] == "0.1"]
    assert moment == [(switch.thread, switch.time) for switch in run.log.switches if switch.to == "0.1"][-1]
    assert_same(run, replayed(run.log))


def test_who_comes_back_while_all_others_wait_for_the_outside_is_under_control(tmp_path: Path) -> None:
    text = """
        import ctypes, os, subprocess, sys, threading
        reading, writing = os.pipe()
        command = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(4); print()"]
        child = subprocess.Popen(command, stdout=subprocess.PIPE)
        thread = threading.Thread(target=child.communicate)
        thread.start()
        ctypes.CDLL(None).usleep(2_000_000); os.write(writing, b"x")
        thread.join()
        """
    run = run_program(tmp_path, text, settings=Settings(granularity="sync"))
    assert output_of(run) == ""
    answers = [arrival[5] for arrival in run.log.arrivals if arrival[:2] == ("arrival", "0")]
    assert (answers[-2][0], answers[-1]) == ("away", 1), "of the write"
    assert_same(run, replayed(run.log))


def test_a_thread_that_is_waited_for_in_c_may_sleep(tmp_path: Path) -> None:
    """All others sleep: the one whose time comes first goes on when so much real time has passed."""
    text = WATCHED.replace("seen = value\n", "seen = value\n    time.sleep(0.2)\n").replace("import ", "import time, ")
    run = run_program(tmp_path, text)
    assert output_of(run) == "2\n"
    assert len(run.log.ending.notes) == 1
    assert_same(run, replayed(run.log))


def test_two_threads_use_one_connection_while_a_third_one_has_the_lock(tmp_path: Path) -> None:
    """The one waits under the scheduler, with the connection in its hand; the other one waits for that in C."""
    text = """
        import os, sqlite3, tempfile, threading, time
        def hold():
            own = sqlite3.connect(data, isolation_level=None)
            own.execute("begin immediate")
            held.set()
            time.sleep(0.1)
            own.execute("insert into one values (1)")
            own.execute("commit")
            own.close()
        def use():
            held.wait()
            connection.execute("insert into one values (2)")
        with tempfile.TemporaryDirectory() as folder:
            data = os.path.join(folder, "data")
            connection = sqlite3.connect(data, check_same_thread=False, isolation_level=None)
            connection.execute("create table one (value)")
            held = threading.Event()
            threads = [threading.Thread(target=function) for function in (hold, use, use)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            print(*connection.execute("select sum(value) from one"))
            connection.close()
        """
    assert output_of(run_program(tmp_path, text)) == "(5,)\n"


def test_a_call_in_c_that_takes_longer_in_the_replay_is_no_other_way(tmp_path: Path) -> None:
    """Nobody else has use for the baton meanwhile, so what comes to the thread afterwards still comes as recorded."""
    text = """
        import ctypes, subprocess, threading
        def read():
            ctypes.CDLL(None).usleep(int(open("microseconds").read()))
            child = subprocess.Popen(["sh", "-c", "sleep 0.1; echo"], stdout=subprocess.PIPE)
            slept.set()
            seen.append(child.stdout.read(1))
            child.communicate()
        seen, slept = [], threading.Event()
        thread = threading.Thread(target=read)
        thread.start()
        slept.wait()
        while not seen: pass
        thread.join()
        print(seen)
        """
    (tmp_path / "microseconds").write_text("1")
    run = run_program(tmp_path, text)
    assert output_of(run) == "[b'\\n']\n"
    (tmp_path / "microseconds").write_text("1_500_000")
    assert_same(run, replayed(run.log))


def test_only_the_call_that_was_long_in_the_recording_is_long_in_the_replay(tmp_path: Path) -> None:
    """The first one stands still as well, but not for long enough to be noticed."""
    text = """
        import ctypes, threading
        libc = ctypes.CDLL(None)
        semaphore = ctypes.create_string_buffer(64)
        libc.sem_init(semaphore, 0, 0)
        def work():
            lock.release()
            libc.usleep(60_000)
            seen.append("slept")
            libc.sem_wait(semaphore)
            seen.append("waited")
        seen, lock = [], threading.Lock()
        lock.acquire()
        thread = threading.Thread(target=work)
        thread.start()
        lock.acquire()
        seen.append("main")
        libc.sem_post(semaphore)
        thread.join()
        print(*seen)
        """
    run = run_program(tmp_path, text)
    assert output_of(run) == "slept main waited\n"
    assert len(run.log.ending.notes) == 1
    assert_same(run, replayed(run.log))


def test_a_look_at_a_thread_that_has_just_ended_finds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The part in Python may be interrupted between its instructions."""

    def clock_of(handle: int) -> int:
        raise ProcessLookupError(errno.ESRCH, "No such process")

    monkeypatch.setattr(counter, "_thread_clock", clock_of)
    holder = counter.PythonThreadCounts()
    holder.handle = 1
    came = [False, False, True]
    counts = counter.PythonCounter(holder)
    assert counts.wait_at(lambda wait, timeout_s: came.pop(0), (True, 0.0), 0) == 0
    assert came == []


class HandedOn:
    """A scheduler whose baton passes from one thread to another while somebody looks."""

    def __init__(self, *holders: ManagedThread) -> None:
        self._holders = list(holders)
        self.busy = self.over = False
        self.counter = SimpleNamespace()
        self.moments = SimpleNamespace(patience=SimpleNamespace(exact=False))

    @property
    def current(self) -> ManagedThread:
        return self._holders.pop(0) if len(self._holders) > 1 else self._holders[0]


def test_the_baton_is_not_taken_from_a_thread_that_has_just_handed_it_on() -> None:
    reading, writing = os.pipe()
    waiting = threading.Thread(target=os.read, args=(reading, 1))
    waiting.start()
    try:
        holder, other = ManagedThread((0, 1)), ManagedThread((0, 2))
        holder.ident = holder.handle = waiting.ident
        scheduler = HandedOn(holder, other)
        calls = StuckCalls(cast("Scheduler", scheduler))
        calls.found_still(10**9)
        assert (holder.ident, holder.handle) == (waiting.ident, waiting.ident)
        assert scheduler.current is other
        assert not scheduler.busy
    finally:
        os.write(writing, b"x")
        waiting.join()
        os.close(reading)
        os.close(writing)
