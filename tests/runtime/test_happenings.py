"""Signals from outside, and time that passes while all threads wait for something outside, come again in a replay."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from replay_dd.schedules.runtime.baton.happenings import Happenings
from replay_dd.schedules.runtime.channel import PASSED, SIGNAL
from tests.runtime.programs import DEFAULT, assert_same, output_of, random_walk, replayed, run_program

# Sends a signal to its parent, or none if a file says so, and lives on for as long as that says.
SENDER = """
import os, queue, signal, subprocess, sys, threading, time
CHILD = "import os, signal, time\\nif os.path.exists('send'): os.kill(os.getppid(), signal.SIGUSR1)\\ntime.sleep(0.2)"
def start():
    return subprocess.Popen([sys.executable, "-I", "-S", "-c", CHILD])
got = []
signal.signal(signal.SIGUSR1, lambda number, frame: got.append(number))
"""
RECEIVERS = {
    "sleeps": """
def work():
    for _ in range(20): time.sleep(0.05)
thread = threading.Thread(target=work); thread.start()
with start():
    while not got: time.sleep(1)
    print("while", thread.is_alive())
thread.join()
""",
    "waits": """
told = queue.SimpleQueue()
signal.signal(signal.SIGUSR1, lambda number, frame: told.put(number))
begun = time.monotonic()
thread = threading.Thread(target=lambda: start().wait()); thread.start()
print(told.get(timeout=60), time.monotonic() - begun)
thread.join()
""",
    "computes": """
turns = 0
def work():
    while not got: time.sleep(0.01)
thread = threading.Thread(target=work); thread.start()
with start():
    while not got: turns += 1
thread.join()
print(turns)
""",
    "has an event loop": """
import asyncio
async def main():
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, stop.set)
    child, turns = await asyncio.to_thread(start), 0
    waits = asyncio.create_task(asyncio.to_thread(child.wait))
    while not stop.is_set():
        await asyncio.to_thread(len, "")
        turns += 1
    print(turns, await waits)
asyncio.run(main())
""",
}


@pytest.mark.parametrize("receiver", RECEIVERS)
def test_a_signal_from_outside_comes_where_it_came(receiver: str, tmp_path: Path) -> None:
    """Also if nobody sends it again."""
    (tmp_path / "send").touch()
    for plan in (DEFAULT, random_walk(1)):
        run = run_program(tmp_path, SENDER + RECEIVERS[receiver], plan)
        assert run.log.ending.status == 0, run.output
        assert any(record[0] == SIGNAL for record in run.log.arrivals)
        assert_same(run, replayed(run.log))
        (tmp_path / "send").unlink()
        assert_same(run, replayed(run.log))
        (tmp_path / "send").touch()


def test_children_end_when_they_did_for_who_is_told_by_a_signal(tmp_path: Path) -> None:
    text = """
        import queue, signal, subprocess, threading
        told, ended, lines = queue.SimpleQueue(), [], []  # of an event, a handler may find the lock taken, and wait
        signal.signal(signal.SIGCHLD, lambda number, frame: told.put(number))
        def read(child): lines.append(len(child.stdout.read()))
        first = threading.Thread(target=int); first.start(); first.join()  # signals before it are not in the log
        command = "echo {0}; sleep 0.0{0}"
        children = [subprocess.Popen(["sh", "-c", command.format(n)], stdout=subprocess.PIPE) for n in range(1, 4)]
        readers = [threading.Thread(target=read, args=(child,)) for child in children]
        for reader in readers: reader.start()
        while len(ended) < 3:
            try: told.get(timeout=1)
            except queue.Empty: pass
            ended += [n for n, child in enumerate(children) if n not in ended and child.poll() is not None]
        for reader in readers: reader.join()
        print(sorted(ended), lines)
        """
    run = run_program(tmp_path, text)
    assert output_of(run) == "[0, 1, 2] [2, 2, 2]\n"
    assert_same(run, replayed(run.log))


CHATTER = """
import subprocess, sys, threading, time
TALKS = "import os, time\\nfor _ in range(300): time.sleep(0.02); os.write(1, b'x')"
def work():
    begun = time.monotonic()
    child = subprocess.Popen([sys.executable, "-I", "-S", "-c", TALKS], stdout=subprocess.PIPE)
    try:
        child.communicate(timeout=0.3)
        print("ended")
    except subprocess.TimeoutExpired:
        print("expired", time.monotonic() - begun >= 0.3)
    child.kill()
    child.wait()
    child.stdout.close()
thread = threading.Thread(target=work); thread.start(); thread.join()
"""


def test_a_time_out_passes_though_something_comes_again_and_again(tmp_path: Path) -> None:
    run = run_program(tmp_path, CHATTER)
    assert output_of(run) == "expired True\n"
    for _ in range(2):
        assert_same(run, replayed(run.log))


def test_time_passes_before_the_first_thread_too(tmp_path: Path) -> None:
    text = """
        import subprocess, threading, time
        begun = time.monotonic()
        subprocess.run(["sleep", "0.1"])
        took = time.monotonic() - begun
        thread = threading.Thread(target=print, args=(took >= 0.09, took)); thread.start(); thread.join()
        """
    run = run_program(tmp_path, text)
    assert output_of(run).startswith("True")
    assert_same(run, replayed(run.log))


class _Run:
    """As much of the baton and of what arrives as happenings need."""

    def __init__(self) -> None:
        self.reached_at = 0
        self.sent: list[tuple[object, ...]] = []
        self.real_time = self.following = False
        self.known: dict[str, object] = {}
        self.clock = self
        self.passed_ns = 0

    def send(self, *record: object) -> None:
        self.sent.append(record)

    def now(self) -> tuple[str, int]:
        return "0", self.reached_at

    def reached(self, name: str, time: int) -> bool:
        return self.reached_at >= time

    def pass_by(self, duration_ns: int) -> None:
        self.passed_ns += duration_ns


def _following(*signals: tuple[int, int]) -> tuple[_Run, Happenings, list[int]]:
    run, given = _Run(), []  # type: ignore[var-annotated]
    happenings = Happenings(run, run)  # type: ignore[arg-type]
    happenings.follow([(SIGNAL, "0", at, number, 5) for at, number in signals])
    happenings.give = given.append
    return run, happenings, given


@pytest.mark.parametrize("comes", ["before", "after", "not at all"])
def test_a_replay_gives_each_signal_once(comes: str) -> None:
    run, happenings, given = _following((7, 10))
    if comes == "before":
        happenings.came(10, held=False)
    happenings.at_choice()
    assert given == []
    run.reached_at = 7
    happenings.at_choice()
    assert given == [10]
    assert run.passed_ns == 5
    if comes == "after":
        happenings.came(10, held=False)
    happenings.release()
    happenings.at_choice()
    assert given == [10]
    if comes != "not at all":
        happenings.came(10, held=False)
        happenings.at_choice()
        assert given == [10, 10], "another one is news"


def test_who_cannot_run_gets_what_was_held_back() -> None:
    run, happenings, given = _following((7, 10))
    happenings.came(10, held=False)
    happenings.came(int(signal.SIGCHLD), held=True)
    assert not happenings.signal_came
    happenings.release()
    assert happenings.give_signals(3)
    assert given == [10, signal.SIGCHLD]
    assert run.passed_ns == 3
    run.reached_at = 7
    happenings.at_choice()
    assert given == [10, signal.SIGCHLD]


def test_a_handler_of_a_child_changes_nothing_else(tmp_path: Path) -> None:
    """Looking whether a child may still send a signal is no operation of the program."""
    text = """
        import os, signal, subprocess, threading
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        child = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
        reading, writing = os.pipe()
        os.set_blocking(reading, False)
        def write():
            for _ in range(5): os.write(writing, b"x")
        thread = threading.Thread(target=write); thread.start(); thread.join()
        total = 0
        for _ in range(5): total += len(os.read(reading, 1))
        child.communicate()
        print(total)
        """
    run = run_program(tmp_path, text)
    assert output_of(run) == "5\n"
    assert_same(run, replayed(run.log))


def test_an_interrupt_from_outside_ends_a_wait(tmp_path: Path) -> None:
    text = """
        import os, subprocess, threading, time
        done = threading.Event()
        def work():
            while not done.is_set(): time.sleep(0.05)
        thread = threading.Thread(target=work); thread.start()
        sender = subprocess.Popen(["sh", "-c", "read line; kill -INT $PPID; read line"], stdin=subprocess.PIPE)
        try:
            os.write(sender.stdin.fileno(), b"now\\n")
            while True: time.sleep(1)
        except KeyboardInterrupt:
            print("interrupted")
        done.set(); thread.join(); sender.communicate()
        """
    run = run_program(tmp_path, text)
    assert output_of(run) == "interrupted\n"
    assert_same(run, replayed(run.log))


def test_a_signal_does_not_hold_a_thread_that_begins_functions(tmp_path: Path) -> None:
    """Python 3.11 begins such a function anew until the main thread has seen the signal, for which it needs the GIL."""
    text = """
        import signal, subprocess, threading
        signal.signal(signal.SIGUSR1, lambda number, frame: None)
        def step(number): return number + 1
        def work():
            number = 0
            while number < 300_000: number = step(number)
            print(number)
        sender = subprocess.Popen(["sh", "-c", "for one in 1 2 3 4 5 6 7 8; do kill -USR1 $PPID; sleep 0.02; done"])
        thread = threading.Thread(target=work); thread.start(); thread.join()
        sender.wait()
        """
    run = run_program(tmp_path, text)
    assert output_of(run) == "300000\n"


def test_time_passes_once_for_all_who_wait_for_the_same(tmp_path: Path) -> None:
    text = """
        import select, subprocess, threading
        child = subprocess.Popen(["sh", "-c", "sleep 0.3; echo"], stdout=subprocess.PIPE)
        def wait():
            select.select([child.stdout], [], [])
        threads = [threading.Thread(target=wait) for _ in range(2)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        child.communicate()
        """
    run = run_program(tmp_path, text)
    assert [record[1] for record in run.log.arrivals if record[0] == PASSED and record[1] != "0"] == ["0.1"]
    assert_same(run, replayed(run.log))
