"""The outside world under the scheduler: who waits for it lets others run, and what came when is part of the log."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from replay_dd.schedules.replaying.replay import replay_plan
from tests.conftest import first_or_other
from tests.runtime.programs import (
    assert_same,
    output_of,
    random_walk,
    replayed,
    run_program,
    written_under_every_schedule,
    written_without_us,
)
from tests.runtime.programs_outside import OUTSIDE

SCHEDULES = first_or_other(20, 5)


@pytest.mark.parametrize("name", OUTSIDE)
def test_it_writes_what_it_writes_without_us(name: str, tmp_path: Path) -> None:
    written = written_under_every_schedule(tmp_path, OUTSIDE[name], SCHEDULES)
    if "100 +" not in OUTSIDE[name]:  # of real seconds
        assert written_without_us(tmp_path) == written


SMALL_BUFFER = """
import socket, threading
first = threading.Thread(target=int)
first.start()
first.join()
def send():
    with socket.create_connection(listener.getsockname()) as connection: connection.sendall(bytes(160_000))
def read():
    connection, _ = listener.accept()
    with connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2000)
        connection.settimeout(TIMEOUT)
        received = 0
        while data := connection.recv(65536): received += len(data)
    print(received)
listener = socket.create_server(("127.0.0.1", 0))
threads = [threading.Thread(target=function) for function in (send, read)]
for thread in threads: thread.start()
for thread in threads: thread.join()
listener.close()
"""


@pytest.mark.parametrize("timeout", ["None", "300"])
def test_what_the_network_still_has_comes_before_a_deadlock_or_a_late_timeout(timeout: str, tmp_path: Path) -> None:
    """The receiver has so little room that the sender's system stops, and only asks again after a while."""
    text = SMALL_BUFFER.replace("TIMEOUT", timeout)
    assert written_under_every_schedule(tmp_path, text, 2) == "160000\n"


def test_what_goes_wrong_in_a_look_is_for_the_thread_that_waits(tmp_path: Path) -> None:
    """It waits for a lock that another process has, and the other thread closes the file, and looks."""
    text = """
        import fcntl, subprocess, sys, threading, time
        def lock():
            try:
                fcntl.lockf(file, fcntl.LOCK_EX)
            except ValueError as error:
                log.append(str(error))
        hold = "import fcntl; file = open('locked', 'w'); fcntl.lockf(file, fcntl.LOCK_EX); print('has it'); input()"
        child = subprocess.Popen([sys.executable, "-uc", hold], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        child.stdout.readline()
        log, file = [], open("locked", "w")
        thread = threading.Thread(target=lock)
        thread.start()
        time.sleep(0.2)
        file.close()
        thread.join()
        child.communicate(b"\\n")
        print(log)
        """
    run = run_program(tmp_path, text)
    assert output_of(run) == "['I/O operation on closed file']\n"
    assert_same(run, replayed(run.log))


def test_opening_a_named_pipe_waits_for_the_other_side(tmp_path: Path) -> None:
    text = """
        import os, threading
        if not os.path.exists("fifo"): os.mkfifo("fifo")
        def read():
            with open("fifo") as file: seen.append(file.read())
        seen = []
        thread = threading.Thread(target=read)
        thread.start()
        with open("fifo", "w") as file: file.write("hello")
        thread.join()
        print(seen)
        """
    run = run_program(tmp_path, text)
    assert output_of(run) == "['hello']\n"
    assert_same(run, replayed(run.log))


def test_who_waits_for_whom_over_a_pair_of_sockets_is_a_deadlock(tmp_path: Path) -> None:
    run = run_program(
        tmp_path,
        """
        import os, socket, threading
        left, right = socket.socketpair()
        reading, writing = os.pipe()
        threads = [threading.Thread(target=end.recv, args=(1,)) for end in (left, right)]
        for thread in threads: thread.start()
        os.read(reading, 1)
        """,
    )
    waits = {waiter.thread: waiter.explanation for waiter in run.log.ending.deadlock}
    assert waits["0.1"] == "waits for data on descriptor 3"
    assert waits["0.2"] == "waits for data on descriptor 4"
    assert waits["0"] == "waits for data on descriptor 5"


def test_a_child_may_have_the_other_end_of_a_pair_of_sockets(tmp_path: Path) -> None:
    """What the process itself could not make ready is worth waiting for then, and no deadlock."""
    text = """
        import socket, subprocess, threading
        def work():
            own, other = socket.socketpair()
            with other:
                command = f"sleep 0.1; echo hello >&{other.fileno()}"
                child = subprocess.Popen(["bash", "-c", command], pass_fds=[other.fileno()])
            seen.append(own.recv(100))
            own.close()
            child.wait()
        seen = []
        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(seen)
        """
    run = run_program(tmp_path, text)
    assert output_of(run) == "[b'hello\\n', b'hello\\n']\n"
    assert_same(run, replayed(run.log))


def test_a_child_of_a_fork_waits_in_real_time(tmp_path: Path) -> None:
    """On the virtual clock alone its time-out would be over before anything could come."""
    text = """
        import os, select, threading
        thread = threading.Thread(target=int)
        thread.start(); thread.join()
        (reading, writing), (asking, answering) = os.pipe(), os.pipe()
        child = os.fork()
        if not child:
            os.write(answering, b"go")
            print("child", bool(select.select([reading], [], [], 300)[0]), flush=True)
            os._exit(0)
        os.read(asking, 2)
        os.system("sleep 0.1")
        os.write(writing, b"x")
        print(os.waitpid(child, 0)[1])
        """
    run = run_program(tmp_path, text)
    assert output_of(run) == "child True\n0\n"
    assert run.log.ending.notes == ("the program forked; only its first process is under control",)


def test_a_thread_that_is_not_ours_is_told(tmp_path: Path) -> None:
    """Started by the C library, as an extension might."""
    text = """
        import ctypes, threading
        thread = threading.Thread(target=int)
        thread.start(); thread.join()
        library = ctypes.CDLL(None)
        @ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
        def work(argument):
            seen.append(len(seen))
            return None
        seen = []
        identity = ctypes.c_ulong()
        library.pthread_create(ctypes.byref(identity), None, work, None)
        library.pthread_join(identity, None)
        print(seen)
        """
    run = run_program(tmp_path, text)
    assert output_of(run) == "[0]\n"
    assert len(run.log.ending.notes) == (sys.version_info >= (3, 12)), run.log.ending.notes
    for note in run.log.ending.notes:
        assert note.startswith("a thread that replay-dd did not start ran code of the program (work in prog.py)")


def test_what_comes_from_outside_comes_at_the_same_moment_again(tmp_path: Path) -> None:
    """How far the loop gets depends on another process; the replay gets exactly as far."""
    text = """
        import subprocess, threading
        def work():
            child = subprocess.Popen(["sh", "-c", "sleep $(cat pause_s); printf %010d $$"], stdout=subprocess.PIPE)
            seen.append(len(child.communicate()[0]) > 0)
        def count():
            global turns
            while not seen: turns += 1
        seen, turns = [], 0
        threads = [threading.Thread(target=target) for target in (work, count)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(turns)
        """
    (tmp_path / "pause_s").write_text("0.1")
    run = run_program(tmp_path, text, random_walk(3))
    (tmp_path / "pause_s").write_text("0.5")
    other = run_program(tmp_path, text, random_walk(3))
    assert run.log.ending.digest != other.log.ending.digest, "otherwise this test says nothing"
    assert_same(run, replayed(run.log))
    assert_same(other, replayed(other.log))


def test_a_thread_on_another_way_may_wait_for_another_kind_of_thing(tmp_path: Path) -> None:
    text = """
        import os, pathlib, select, threading
        thread = threading.Thread(target=int)
        thread.start()
        reading, writing = os.pipe()
        if pathlib.Path("way").exists():
            os.write(writing, b"x")
        else:
            print(select.select([reading], [], [], 0))
        thread.join()
        """
    (tmp_path / "way").touch()
    run = run_program(tmp_path, text)
    (tmp_path / "way").unlink()
    assert output_of(replayed(run.log)) == "([], [], [])\n"


HELD_BACK = """
import socket, threading
def look_now_and_then():
    while not done.wait(0.5): pass
def read():
    answers.append(own.recv(5))
    done.set()
def relay():
    other.sendall(second.recv(5))
done, answers = threading.Event(), []
(own, other), (first, second) = socket.socketpair(), socket.socketpair()
threads = [threading.Thread(target=function) for function in (look_now_and_then, read, relay)]
for thread in threads: thread.start()
first.sendall(b"hello")
for thread in threads: thread.join()
print(answers)
"""


@pytest.mark.parametrize(
    "moments",
    [
        {"0.2": ("0.2", 1_000_000)},
        {"0.2": ("0.3", 1_000_000), "0.3": ("0.2", 1_000_000)},
        {"0.2": ("", 0)},
        {"0.2": ("0.3", 1_000_000), "0.3": ("", 0)},
    ],
    ids=["its own", "each other's", "none", "that of one with none"],
)
def test_what_a_log_holds_back_for_ever_comes_though_another_thread_always_has_a_deadline(
    moments: dict[str, tuple[str, int]], tmp_path: Path
) -> None:
    """So it is in the mixtures of two runs, when a server of the program asks every half a second whether to end."""
    run = run_program(tmp_path, HELD_BACK)
    assert output_of(run) == "[b'hello']\n"
    arrivals = tuple((*record[:3], *moments.get(record[1], record[3:5]), record[5]) for record in run.log.arrivals)
    assert {record[1] for record in arrivals} >= {"0.2", "0.3"}
    mixture = run_program(tmp_path, HELD_BACK, replay_plan((), arrivals))
    assert output_of(mixture) == output_of(run)


def test_what_was_held_back_for_a_moment_that_does_not_come_is_no_deadlock(tmp_path: Path) -> None:
    """A thread with an event loop is told to end, and joined: the one who told it waits a step earlier now."""
    text = """
        import socket, threading
        def read():
            answers.append(own.recv(5))
        answers = []
        own, other = socket.socketpair()
        thread = threading.Thread(target=read)
        thread.start()
        other.sendall(b"hello")
        thread.join()
        print(answers)
        """
    run = run_program(tmp_path, text)
    assert output_of(run) == "[b'hello']\n"
    arrivals = tuple((*record[:3], "0", 1_000_000, record[5]) for record in run.log.arrivals if record[1] == "0.1")
    assert arrivals
    assert output_of(run_program(tmp_path, text, replay_plan((), arrivals))) == output_of(run)


def test_the_log_tells_the_line_of_a_wait_that_a_time_out_ends(tmp_path: Path) -> None:
    text = """
        import os, select, threading

        def probe():
            ready, _, _ = select.select([reads], [], [], 0.5)
            print(ready)

        reads, writes = os.pipe()
        thread = threading.Thread(target=probe)
        thread.start()
        thread.join()
    """
    run = run_program(tmp_path, text)
    assert output_of(run) == "[]\n"
    (wait,) = [arrival for arrival in run.log.arrivals if arrival[1] == "0.1"]
    assert wait[3] == ""
    assert wait[6] == "at prog.py:5"
    assert_same(replayed(run.log), run)
