"""However fast another process is, a replay takes what was recorded: bytes in whatever pieces, locks, connections."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from replay_dd.schedules.model import Log, Settings
from replay_dd.schedules.runtime.accelerator import accelerator
from replay_dd.schedules.runtime.baton.patience import OUTSIDE
from replay_dd.schedules.runtime.compat import FREE_THREADED
from replay_dd.schedules.runtime.io.pieces import take
from tests.runtime.programs import assert_same, output_of, random_walk, replayed, run_program, write_program

# Reads and writes its standard streams in pieces of a size, with a pause before each.
CHILD = """
import os, sys, time
def pace(): return open("pace").read().split()
size, pause_s = int(pace()[0]), float(pace()[1])
if sys.argv[1:] == ["count"]:
    total = 0
    while data := os.read(0, size): total += len(data); time.sleep(pause_s)
    os.write(1, b"%d" % total)
elif sys.argv[1:] == ["write"]:
    for begin in range(0, 6_000, size): time.sleep(pause_s); os.write(1, b"x" * min(size, 6_000 - begin))
else:
    while data := os.read(0, size):
        time.sleep(pause_s)
        while data: data = data[os.write(1, data):]
"""
TOGETHER = """
import os, select, socket, subprocess, sys, threading
command = [sys.executable, "-I", "-S", "child.py"]
def count():
    global turns
    while not done and turns < 20_000: turns += 1
def run(function):
    threads = [threading.Thread(target=function), threading.Thread(target=count)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    print(turns)
turns, done = 0, []
"""
CONVERSATIONS = {
    "communicate": """
def talk():
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        print(len(child.communicate(b"x" * 150_000)[0]))
    done.append(True)
""",
    "a pipe that does not block": """
def talk():
    with subprocess.Popen([*command, "count"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        number, left, refused, amounts = child.stdin.fileno(), 300_000, 0, []
        os.set_blocking(number, False)
        while left:
            try: amounts.append(os.write(number, bytes(left)))
            except BlockingIOError: refused += 1; select.select([], [number], [])
            else: left -= amounts[-1]
        child.stdin.close()
        print(child.stdout.read().decode(), sum(amounts))
    done.append((refused, amounts))
""",
    "a socket with a time-out": """
def talk():
    own, other = socket.socketpair()
    with own, subprocess.Popen([*command, "count"], stdin=other, stdout=subprocess.PIPE) as child:
        other.close()
        own.settimeout(30)
        left, amounts = 600_000, []
        while left:
            amounts.append(own.send(bytes(left)))
            left -= amounts[-1]
        own.shutdown(socket.SHUT_WR)
        print(child.stdout.read().decode(), sum(amounts))
    done.append(amounts)
""",
    "a terminal": """
def talk():
    own, other = os.openpty()
    with subprocess.Popen([*command, "write"], stdin=subprocess.DEVNULL, stdout=other) as child:
        os.close(other)
        try:
            while data := os.read(own, 1000): amounts.append(len(data))
        except OSError: pass
    print(sum(amounts))
    done.append(amounts)
amounts = []
""",
}
PACES = ("100000 0", "3000 0.002", "50 0.0002")


@pytest.mark.parametrize("name", CONVERSATIONS)
@pytest.mark.parametrize("pace", PACES[:2])
def test_a_replay_takes_and_gives_as_much_as_was_recorded(name: str, pace: str, tmp_path: Path) -> None:
    write_program(tmp_path, CHILD, "child.py")
    (tmp_path / "pace").write_text(pace)
    run = run_program(tmp_path, TOGETHER + CONVERSATIONS[name] + "run(talk)\n", random_walk(2))
    output_of(run)
    for other_pace in PACES:
        (tmp_path / "pace").write_text(other_pace)
        assert_same(run, replayed(run.log))


# -- whether it is there already -------------------------------------------------------------------------------------

OTHERS = {
    "a listener": (
        """
import pathlib, socket, time
with socket.socket() as sock:
    sock.bind(("127.0.0.1", 0))
    print(sock.getsockname()[1], flush=True)
    time.sleep(float(pathlib.Path("pace").read_text()))
    sock.listen()
    sock.accept()[0].sendall(b"hello")
""",
        """
def ask():
    tries = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        address = "127.0.0.1", int(child.stdout.readline())
        while True:
            try: connection = socket.create_connection(address)
            except ConnectionRefusedError: tries += 1; time.sleep(0.02)
            else: break
        with connection: print(connection.recv(5))
    done.append(tries)
import time
""",
    ),
    "two events that are told once": (
        """
import os, pathlib, sys, time
pause_s = float(pathlib.Path("pace").read_text())
out, one, other = (lambda: os.write(1, b"go")), (lambda: os.write(2, b"x")), (lambda: os.write(int(sys.argv[1]), b"x"))
end, pause = (lambda: os.close(2)), (lambda: time.sleep(pause_s))  # told with what is still to be read, or later
for step in (out, one, pause, end, pause, other) if pause_s else (one, end, other, out): step()
""",
        """
def ask():
    read, write = os.pipe()
    pipes = dict(stdout=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=[write])
    with subprocess.Popen([*command, str(write)], **pipes) as child, select.epoll() as epoll:
        os.close(write)
        for number in (read, child.stderr.fileno()): epoll.register(number, select.EPOLLIN | select.EPOLLONESHOT)
        child.stdout.read(2)
        together, found = [], 0
        while found < 2:
            events = epoll.poll()
            found += len(events)
            together.append(sorted(events))
            for number, _ in events: os.read(number, 1)
    os.close(read)
    done.append(together)
    print("done")
""",
    ),
    "a lock on a file": (
        """
import fcntl, pathlib, time
with open("locked", "w") as file:
    fcntl.flock(file, fcntl.LOCK_EX)
    print(flush=True)
    time.sleep(float(pathlib.Path("pace").read_text()))
""",
        """
def ask():
    tries = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child, open("locked", "w") as file:
        child.stdout.readline()
        time.sleep(0.1)
        try: fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError: fcntl.flock(file, fcntl.LOCK_EX); tries += 1
    print("done")
    done.append(tries)
import fcntl, time
""",
    ),
    "a database lock": (
        """
import pathlib, sqlite3, time
connection = sqlite3.connect("data", isolation_level=None)
connection.execute("create table if not exists one (value)")
connection.execute("begin immediate")
print(flush=True)
time.sleep(float(pathlib.Path("pace").read_text()))
connection.execute("commit")
""",
        """
def ask():
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        child.stdout.readline()
        time.sleep(0.1)
        connection, tries = sqlite3.connect("data", timeout=0), 0
        while True:
            try: connection.execute("insert into one values (1)")
            except sqlite3.OperationalError: tries += 1; time.sleep(0.02)
            else: break
        connection.commit()
        connection.close()
    print("done")
    done.append(tries)
import sqlite3, time
""",
    ),
}


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("pace", ["0", "0.4"])
def test_a_replay_finds_there_what_was_recorded(name: str, pace: str, tmp_path: Path) -> None:
    if name == "a database lock" and not hasattr(accelerator, "control_databases"):
        pytest.skip("without the accelerator, SQLite is not under control")
    other, program = OTHERS[name]
    write_program(tmp_path, other, "child.py")
    (tmp_path / "pace").write_text(pace)
    run = run_program(tmp_path, TOGETHER + program + "run(ask)\n", random_walk(2))
    output_of(run)
    for other_pace in ("0", "0.4"):
        (tmp_path / "pace").write_text(other_pace)
        assert_same(run, replayed(run.log))


LITTLE_ROOM = """
import socket, threading
def fill():
    own, other = socket.socketpair()
    own.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
    own.setblocking(False)
    try:
        while True: sent.append(own.send(b"x"))
    except BlockingIOError: print(len(sent), len(other.recv(100)))
sent = []
thread = threading.Thread(target=fill)
thread.start()
thread.join()
"""


def test_what_fits_is_sent_although_the_system_says_that_there_is_no_room(tmp_path: Path) -> None:
    run = run_program(tmp_path, LITTLE_ROOM)
    output_of(run)
    again = replayed(run.log)
    assert_same(run, again)
    assert not again.log.ending.notes


# -- the standard output ---------------------------------------------------------------------------------------------

TOOL = Path(sys.executable).with_name("replay-dd")
WRITES_MUCH = """
import os, threading
def write():
    os.write(1, b"." * 100_000)
    print("." * 100_000, flush=True)
def count():
    for _ in range(100): turns.append(True)
turns = []
threads = [threading.Thread(target=function) for function in (write, count)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


@pytest.mark.once
def test_who_reads_the_standard_output_and_when_decides_nothing(tmp_path: Path) -> None:
    write_program(tmp_path, WRITES_MUCH)
    record = [TOOL, "record", "--no-verify", "-o", "run.log", "--", sys.executable, "prog.py"]
    with subprocess.Popen(record, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        time.sleep(1.5)  # longer than a call may take that is told to be stuck
        process.stdout.read()
    assert process.returncode == 0
    assert "away" not in (tmp_path / "run.log").read_text()
    for stdout in (subprocess.DEVNULL, subprocess.PIPE):
        done = subprocess.run([TOOL, "replay", "run.log"], cwd=tmp_path, stdout=stdout, stderr=subprocess.PIPE)
        assert done.returncode == 0, done.stderr


@pytest.mark.skipif(accelerator is None, reason="there is no accelerator for this interpreter")
def test_what_a_thread_waits_for_is_seen() -> None:
    import ctypes
    import os

    reading, writing = os.pipe()
    status = os.fstat(writing)
    waiting: dict[str, int] = {}

    def write() -> None:
        waiting["write"] = threading.get_ident()
        os.write(writing, bytes(100_000))

    def want_the_interpreter() -> None:
        waiting["wake"] = threading.get_ident()
        ctypes.CDLL(None).usleep(100_000)

    threads = [threading.Thread(target=function, daemon=True) for function in (write, want_the_interpreter)]
    before = sys.getswitchinterval()
    threads[0].start()
    while "write" not in waiting or accelerator.system_call(waiting["write"], set())[0] == -1:
        time.sleep(0.001)
    try:
        assert not accelerator.system_call(waiting["write"], set())[1]
        assert accelerator.system_call(waiting["write"], {(status.st_dev, status.st_ino)})[1]
        sys.setswitchinterval(1000)
        threads[1].start()
        while "wake" not in waiting:
            time.sleep(0.001)
        ctypes.PyDLL(None).usleep(400_000)
        waits = accelerator.system_call(waiting["wake"], set())[1]
        assert waits or FREE_THREADED, "it waits for the lock of the interpreter"
    finally:
        sys.setswitchinterval(before)
        os.read(reading, 100_000)
        os.read(reading, 100_000)
        for thread in threads:
            thread.join()
        os.close(reading)
        os.close(writing)


# -- calls in C ------------------------------------------------------------------------------------------------------

IN_C = """
import ctypes, pathlib, threading
def call():
    for _ in range(2):
        ctypes.CDLL(None).usleep(int(pathlib.Path("pace").read_text()))
        seen.append("back")
def count():
    for number in range(50): seen.append(number)
seen = []
threads = [threading.Thread(target=function) for function in (call, count, count)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print([number for number, what in enumerate(seen) if what == "back"])
"""


@pytest.mark.parametrize("granularity", ["access", "line", "gil"])
def test_a_call_that_was_stuck_is_so_in_the_replay_even_if_it_returns_at_once(granularity: str, tmp_path: Path) -> None:
    def stuck(log: Log) -> int:
        return len(log.stuck_calls)

    (tmp_path / "pace").write_text("900_000")
    run = run_program(tmp_path, IN_C, settings=Settings(granularity=granularity))
    output_of(run)
    assert stuck(run.log) == 1, "the second time, there is nobody else"
    (tmp_path / "pace").write_text("1")
    assert_same(run, replayed(run.log))
    quick = run_program(tmp_path, IN_C, settings=Settings(granularity=granularity))
    assert stuck(quick.log) == 0
    assert output_of(quick) != output_of(run), "otherwise this test says nothing"
    (tmp_path / "pace").write_text("900_000")
    assert_same(quick, replayed(quick.log))


@pytest.mark.skipif(accelerator is None, reason="only the accelerator knows how many bytes are there")
def test_a_replay_leaves_out_what_comes_before_the_recorded_end() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"more")
    os.close(writing)
    told: list[str] = []
    wait: Any = SimpleNamespace(
        expected=SimpleNamespace(answer=0, reply=None),
        nature=OUTSIDE,
        descriptors=[(reading, 1)],
        wait_for_rest=lambda: True,
        amount_in_words=lambda recorded, now, then: f"{recorded} {now}",
    )
    moments: Any = SimpleNamespace(differs=told.append, answered=lambda wait, answer: told.append(str(answer)))
    assert take(wait, moments, 10, lambda position, size: len(os.read(reading, size))) == 0
    assert told == ["0 4", "0"]
    os.close(reading)
