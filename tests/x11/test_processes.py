"""What the processes of a program do, out of /proc; no display is needed."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest

from replay_dd.events.x11.processes import ProcessTree

SLEEPS = (
    "import threading, time; threading.Thread(target=time.sleep, args=(600,), daemon=True).start(); {} time.sleep(600)"
)
SAYS = "print(flush=True);"
# The number of read(2), and its first argument.
READ_STANDARD_INPUT = (b"0 0x0 ", b"63 0x0 ")
# Those of poll(2), select(2), pselect(2) and ppoll(2).
WAIT_FOR_FILES = (b"7 ", b"23 ", b"270 ", b"271 ", b"72 ", b"73 ")

Start = Callable[[str], ProcessTree]


@pytest.fixture
def start() -> Iterator[Start]:
    started: list[tuple[subprocess.Popen[bytes], ProcessTree]] = []

    def run(shell: str) -> ProcessTree:
        command = ["sh", "-c", shell, sys.executable, SLEEPS.format(SAYS)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
        tree = ProcessTree(process.pid)
        started.append((process, tree))
        assert process.stdout is not None
        process.stdout.readline()
        while any(b"running" in call for call in map(system_call, tree.members())):
            time.sleep(0.01)
        return tree

    yield run
    for process, tree in started:
        for member in tree.members():
            subprocess.run(["kill", "-KILL", str(member)], check=False)
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def system_call(process: int) -> bytes:
    with open(f"/proc/{process}/syscall", "rb") as file:
        return file.read()


def test_threads_are_no_processes(start: Start) -> None:
    assert len(start('"$0" -c "$1"; true').members()) == 2


def test_a_program_in_a_shell_that_sleeps_is_busy(start: Start) -> None:
    tree = start('"$0" -c "$1"; true')
    assert tree.look() is None
    tree.excuse_sleepers()
    assert tree.look() is None


def test_helpers_that_sleep_are_excused(start: Start) -> None:
    """Nobody knows which of two children is the program."""
    tree = start('"$0" -c "$1" & "$0" -c "$1"; true')
    while len(tree.members()) < 3:
        time.sleep(0.01)
    while tree.look() is None:
        tree.excuse_sleepers()


@pytest.mark.skipif(platform.machine() not in ("x86_64", "aarch64"), reason="its system calls are not known")
@pytest.mark.parametrize("terminal", [True, False])
def test_a_program_that_waits_for_what_is_typed_is_idle(terminal: bool) -> None:
    # A pipe may be fed by the program's own work, a terminal only by a person.
    ours, theirs = os.openpty() if terminal else os.pipe()[::-1]
    process = subprocess.Popen([sys.executable, "-c", "import os; os.read(0, 1)"], stdin=theirs)
    try:
        tree = ProcessTree(process.pid)
        while not system_call(process.pid).startswith(READ_STANDARD_INPUT):
            time.sleep(0.01)
        assert (tree.look() is not None, tree.reads_terminal) == (terminal, terminal)
        os.write(ours, b"\n")
        assert process.wait() == 0
    finally:
        process.kill()
        process.wait()
        os.close(ours)
        os.close(theirs)


@pytest.mark.skipif(platform.machine() not in ("x86_64", "aarch64"), reason="its system calls are not known")
@pytest.mark.parametrize(
    "waits, idle",
    [
        ("select.select([], [], [], 600)", False),  # as Tcl sleeps
        ("select.poll().poll(600_000)", False),
        ("select.select([], [], [])", True),  # for a signal
        ("select.poll().poll()", True),
        ("select.select([os.pipe()[0]], [], [], 600)", True),
        ("poll = select.poll(); poll.register(os.pipe()[0]); poll.poll(600_000)", True),
        ("poll = select.poll(); poll.register(os.pipe()[0]); poll.poll()", True),
    ],
)
def test_who_waits_for_nothing_but_a_time_is_not_idle(waits: str, idle: bool) -> None:
    code = f"import os, select; print(flush=True); {waits}"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            tree = ProcessTree(process.pid)
            while not system_call(process.pid).startswith(WAIT_FOR_FILES):
                time.sleep(0.01)
            assert (tree.look() is not None) == idle
        finally:
            process.kill()
