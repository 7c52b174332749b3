"""Runs that begin where others stood: what they see is what a run from the beginning sees."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from replay_dd.dd import EMPTY, IntervalSet
from replay_dd.errors.program import NotTraceableError
from replay_dd.trace import forks
from replay_dd.trace.forks import Tree
from replay_dd.trace.model import Trace, trace_from
from replay_dd.trace.outcomes import run_from
from replay_dd.trace.slice import MOST_STATEMENTS
from replay_dd.trace.target import Target, target_of

pytestmark = pytest.mark.once

READS = """\
import sys
print("begun")
one = sys.stdin.readline()
file = open("numbers")
two = file.readline()
print("went on", flush=True)
three = sys.stdin.readline()
four = file.readline()
print(one, two, three, four)
print("end")
"""


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fork wherever a later run could begin."""
    monkeypatch.setattr(forks, "_WORTH_A_FORK_NS", -1)


def traced(folder: Path, text: str) -> tuple[Target, Trace]:
    (folder / "prog.py").write_text(text)
    (folder / "numbers").write_text("1\n2\n3\n")
    target = target_of([sys.executable, "prog.py"], b"a\nb\nc\n", folder)
    target.time_limit_s = 60
    tree = Tree(target)
    try:
        told = tree.record(MOST_STATEMENTS, None)
    finally:
        tree.close()
    assert told.report is not None
    return target, trace_from(told.report["trace"], folder / "trace")


def without(trace: Trace, *lines: int) -> IntervalSet:
    return IntervalSet.of(event for event in range(len(trace)) if trace.statement(event).line not in lines)


@pytest.mark.usefixtures("eager")
def test_input_and_output_are_those_of_the_place_where_a_run_begins(tmp_path: Path) -> None:
    target, trace = traced(tmp_path, READS)
    tree, fresh = Tree(target, trace), Tree(target, trace)
    best = trace.all
    begun_later = 0
    try:
        for line in (2, 6, 10, 2, 6, 10):
            begun_later += len(tree._waiting) > 1
            kept = without(trace, line)
            there = tree.follow(kept, best, None)
            # With nothing else known, every run of this tree begins at the root.
            from_the_beginning = fresh.follow(kept, kept, None)
            assert there.output == from_the_beginning.output
            assert there.report == from_the_beginning.report
    finally:
        tree.close()
        fresh.close()
    assert begun_later == 5


@pytest.mark.usefixtures("eager")
def test_nothing_waits_behind_a_written_file(tmp_path: Path) -> None:
    text = "for n in range(3):\n    file = open('numbers', 'a')\n    file.write('x')\n    file.close()\n"
    target, trace = traced(tmp_path, text + "print(open('numbers').read())\nprint(2)\n")
    tree = Tree(target, trace)
    try:
        for _ in range(2):
            told = tree.follow(without(trace, 6), trace.all, None)
            assert told.output == b"1\n2\n3\nxxx\n", "each run finds the folder as it was"
        assert len(tree._waiting) == 1
    finally:
        tree.close()
    assert (tmp_path / "numbers").read_text() == "1\n2\n3\n"


@pytest.mark.usefixtures("eager")
def test_processes_that_no_run_needs_any_more_are_ended(tmp_path: Path) -> None:
    target, trace = traced(tmp_path, READS)
    tree = Tree(target, trace)
    try:
        tree.follow(without(trace, 6), trace.all, None)
        (waiting,) = tree._waiting[1:]
        os.kill(waiting.process, 0)
        tree.follow(without(trace, 2, 6), without(trace, 2), None)
        assert waiting not in tree._waiting
        state = Path(f"/proc/{waiting.process}/stat")
        assert not state.exists() or state.read_text().split(")")[1].split()[0] in "ZX"
    finally:
        tree.close()


@pytest.mark.usefixtures("eager")
def test_a_waiting_process_that_was_killed_is_replaced(tmp_path: Path) -> None:
    target, trace = traced(tmp_path, READS)
    tree = Tree(target, trace)
    try:
        kept = without(trace, 6)
        told = tree.follow(kept, trace.all, None)
        (waiting,) = tree._waiting[1:]
        os.kill(waiting.process, signal.SIGKILL)
        again = tree.follow(kept, trace.all, None)
        assert (again.output, again.report) == (told.output, told.report)
        os.kill(tree._process.pid, signal.SIGKILL)
        tree._process.wait()
        with pytest.raises(NotTraceableError, match="ended the process"):
            tree.follow(without(trace, 2), EMPTY, None)
    finally:
        tree.close()


LOOPS = """\
import asyncio
async def one(name):
    await asyncio.sleep(0.001) or await read.wait()
    print(name)
    return asyncio.get_running_loop().time() > 0
async def main():
    asyncio.get_event_loop().add_signal_handler(10, print)
    first = asyncio.create_task(one("first"))
    reader, writer = await asyncio.open_unix_connection(sock=near)
    print("between")
    far.send(b"line\\n")
    print(await reader.readline(), read.set(), await first)
    second = asyncio.create_task(one("second"))
    print(await asyncio.gather(first, second))
    writer.close()
    await writer.wait_closed()
import socket
near, far, read = *socket.socketpair(), asyncio.Event()
asyncio.run(main())
print("end")
"""


@pytest.mark.usefixtures("eager")
def test_a_fork_goes_on_in_the_event_loop_that_runs(tmp_path: Path) -> None:
    target, trace = traced(tmp_path, LOOPS)
    tree, fresh = Tree(target, trace), Tree(target, trace)
    try:
        for line in (5, 10, 19, 5, 10, 19):
            kept = without(trace, line)
            there = tree.follow(kept, trace.all, None)
            from_the_beginning = fresh.follow(kept, kept, None)
            assert there.report is not None
            assert there.report["exception"] is None
            assert there.output == from_the_beginning.output != b""
        assert len(tree._waiting) > 2
    finally:
        tree.close()
        fresh.close()


WAITS = """\
import asyncio
import signal
async def main():
    come = asyncio.Event()
    loop = asyncio.get_running_loop()
    later = loop.call_later(0.01, come.set)
    await come.wait()
    signal.signal(signal.SIGALRM, lambda *told: loop.call_soon_threadsafe(again.set))
    again = asyncio.Event()
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    await again.wait()
    print("woken")
asyncio.run(main())
"""


@pytest.mark.usefixtures("eager")
def test_an_event_loop_that_nothing_wakes_is_ended_at_once(tmp_path: Path) -> None:
    """From the beginning, and in a fork of a process whose loop runs; one that a timer or a signal wakes goes on."""
    target, trace = traced(tmp_path, WAITS)
    tree = Tree(target, trace)
    try:
        for line, waits in ((6, True), (10, True), (7, False), (6, True), (10, True)):
            told = tree.follow(without(trace, line), trace.all, None)
            assert told.report is not None
            assert told.report.get("waits", False) is waits
            assert run_from(told).trouble == ("its event loop waits for ever" if waits else "")
            assert told.output == (b"" if waits else b"woken\n")
        assert len(tree._waiting) > 1
    finally:
        tree.close()
