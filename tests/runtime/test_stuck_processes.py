"""Whether other processes that could end a wait will ever do anything."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest

from replay_dd.schedules.failures.signature import signature_of
from replay_dd.schedules.runtime.process.stuck_processes import stuck_for_ever
from tests.runtime.programs import assert_same, replayed, run_program

CHILD = "import os, select, signal, subprocess, sys, threading, time; print('up', flush=True); "
LOOKS = 1_000


@contextmanager
def child(*command: str) -> Iterator[int]:
    """The descriptor of what a child process writes, once it has written its first line."""
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, start_new_session=True
    )
    assert process.stdout is not None
    with process:
        try:
            assert process.stdout.readline() == b"up\n"
            yield process.stdout.fileno()
        finally:
            os.killpg(process.pid, signal.SIGKILL)  # its own children, too


@pytest.mark.parametrize(
    "command",
    [
        (sys.executable, "-c", CHILD + "sys.stdin.readline()"),
        (sys.executable, "-c", CHILD + "threading.Thread(target=sys.stdin.readline).start()"),
        (sys.executable, "-c", CHILD + "subprocess.run(['cat'])"),
        (sys.executable, "-c", CHILD + "sys.stdout.write('x' * 1_000_000)"),
    ],
    ids=["reads", "a thread reads, which is joined", "its own child reads", "writes more than there is room for"],
)
def test_a_process_that_waits_for_us(command: tuple[str, ...]) -> None:
    with child(*command) as output:
        looks = pairwise(stuck_for_ever([output]) for _ in range(LOOKS))  # it has to come there first
        assert any(before is not None and before == after for before, after in looks)


@pytest.mark.parametrize(
    "does",
    [
        "time.sleep(1000)",
        "select.select([sys.stdin], [], [], 1000)",
        "os.read(os.open('/dev/ptmx', os.O_RDWR), 1)",
        "signal.pause()",
        "threading.Event().wait(1000)",
        "threading.Thread(target=time.sleep, args=(1000,)).start(); sys.stdin.readline()",
        "subprocess.run(['sleep', '1000'])",
    ],
)
def test_a_process_that_may_go_on_by_itself(does: str) -> None:
    with child(sys.executable, "-c", CHILD + does) as output:
        assert [stuck_for_ever([output]) for _ in range(3)] == [None] * 3


def test_another_process_may_still_write() -> None:
    """Between two children, of which one has the end that the other one reads from."""
    ours, theirs = os.pipe()
    try:
        sleeps = subprocess.Popen(("sleep", "1000"), stdout=theirs)
        try:
            assert stuck_for_ever([ours]) is None
        finally:
            sleeps.kill()
            sleeps.wait()
    finally:
        os.close(ours)
        os.close(theirs)


def test_nothing_is_known_of_other_files(tmp_path: Path) -> None:
    with open(tmp_path / "file", "w") as file:
        assert stuck_for_ever([file.fileno()]) is None
    assert stuck_for_ever([]) is None
    assert stuck_for_ever([1 << 20]) is None


def test_a_program_that_waits_for_a_child_that_waits_for_it_hangs(tmp_path: Path) -> None:
    text = """
        import subprocess, sys, threading
        answers = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        thread = threading.Thread(target=answers.stdout.readline)
        thread.start()
        thread.join()
        """
    run = run_program(tmp_path, text)
    assert signature_of(run.log.ending).text.startswith("deadlock"), run.output
    assert_same(run, replayed(run.log))
