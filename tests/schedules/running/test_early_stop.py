"""A program that cannot be copied at its first thread is copied before that, and its runs are as fresh ones are."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from replay_dd.schedules.model import Settings
from replay_dd.schedules.running.early_stop import (
    AT_FIRST_LINE,
    AT_FIRST_THREAD,
    ChangedFile,
    EarlyStop,
    EarlyStops,
    FilesThere,
)
from replay_dd.schedules.running.runner import Runner
from replay_dd.schedules.running.target import Plan, describe_program, run_target
from tests.schedules.forking import THREAD, write
from tests.schedules.running.test_runner import PLANS, without_seconds

MAKES = "open('made', 'w').close()\n"
TAKES_TURNS = "if os.path.exists('made'): os.remove('made')\nelse: open('made', 'w').close()\n"
SHOWS = THREAD.replace("'ran'", "told")


def outputs(program: Path, runs: int) -> tuple[list[str], EarlyStop]:
    """What runs write, none of which is a fresh process but the first, and where the last server stopped."""
    with Runner(describe_program((sys.executable, program.name), directory=program.parent), Settings()) as runner:
        told = [runner.run(Plan(), 60).output.decode() for _ in range(runs)]
        assert not runner.why_fresh
        return told, runner._early.stop


def test_what_only_a_first_run_keeps_shifts_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second process finds bytecode."""
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    (tmp_path / "helper.py").write_text("")
    program = write(tmp_path, "import helper\n" + MAKES + THREAD)
    with Runner(describe_program((sys.executable, program.name), directory=tmp_path), Settings()) as runner:
        for _ in range(2):
            assert runner.run(Plan(), 60).output == b"ran\n"
        assert (tmp_path / "__pycache__").is_dir()
        assert (runner._early._refused, runner._early.stop) == (1, EarlyStop(2))


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.strategy)
def test_a_copy_does_what_a_fresh_process_does(plan: Plan, tmp_path: Path) -> None:
    text = """
import asyncio, socket, threading
ours, theirs = socket.socketpair()
seen = []
def work():
    for number in range(5):
        seen.append(number)
        theirs.send(b"x")
async def main():
    loop = asyncio.get_running_loop()
    await asyncio.gather(loop.run_in_executor(None, work), loop.run_in_executor(None, work))
asyncio.run(main())
print(seen, len(ours.recv(100)))
"""
    described = describe_program((sys.executable, write(tmp_path, text).name), directory=tmp_path)
    fresh = run_target(described, Settings(), plan, time_limit_s=60)
    with Runner(described, Settings()) as runner:
        runner.run(plan, 60)
        copies = [runner.run(plan, 60) for _ in range(2)]
        assert not runner.why_fresh
    for copy in copies:
        assert without_seconds(copy) == without_seconds(fresh)


@pytest.mark.parametrize(
    "imports, makes",
    [
        ("os", "open('made', 'w').close()"),
        ("os", "made = os.pipe()"),
        ("select", "made = select.epoll()"),
        ("socket", "made = socket.socketpair()"),
        ("socket", "made = socket.socket()"),
        ("mmap", "made = mmap.mmap(-1, 10)"),
        ("multiprocessing.synchronize", "made = multiprocessing.Lock()"),
        ("subprocess, sys", "subprocess.run([sys.executable, '-c', ''])"),
    ],
)
def test_what_comes_before_is_done_once(imports: str, makes: str, tmp_path: Path) -> None:
    program = write(tmp_path, f"import {imports}\nprint('before')\n{makes}\n{THREAD}")
    assert outputs(program, 3)[0] == ["before\nran\n", "ran\n", "ran\n"]


@pytest.mark.parametrize(
    "before, told",
    [
        (
            "import os\nif os.path.exists('made'): os.remove('made')\nelse: open('made', 'w')\n",
            "os.path.exists('made')",
        ),
        ("import os\nthere = os.listdir('.')\n" + TAKES_TURNS, "'made' in there"),
        (
            "import os\ncount = int(open('made').read()) if os.path.exists('made') else 0\n"
            "print(count + 1, file=open('made', 'w'))\n",
            "count",
        ),
        ("import os, sys\nopen(f'made{os.getpid()}', 'x').close()\n", "'x'"),
    ],
    ids=["there or not", "listed", "read and changed", "named after the process"],
)
def test_what_runs_leave_is_seen_by_the_next(before: str, told: str, tmp_path: Path) -> None:
    for name in ("fresh", "copied"):
        (tmp_path / name).mkdir()
    program = write(tmp_path / "fresh", before + f"told = {told}\n" + SHOWS)
    described = describe_program((sys.executable, program.name), directory=program.parent)
    fresh = [run_target(described, Settings(), Plan(), time_limit_s=60).output.decode() for _ in range(12)]
    copied, _ = outputs(write(tmp_path / "copied", program.read_text()), 12)
    assert copied == fresh


def test_a_program_whose_runs_leave_another_world_each_time_is_copied_at_its_first_line(tmp_path: Path) -> None:
    text = "import os\n" + TAKES_TURNS
    told, stop = outputs(write(tmp_path, text + "told = os.path.exists('made')\n" + SHOWS), 12)
    assert (told, stop) == (["True\n", "False\n"] * 6, AT_FIRST_LINE)


def test_a_program_is_stopped_before_it_reads_what_its_runs_change(tmp_path: Path) -> None:
    (tmp_path / "count").write_text("1")
    text = "count = int(open('count').read())\nopen('count', 'w').write(str(count + 1))\ntold = count\n" + SHOWS
    told, stop = outputs(write(tmp_path, text), 8)
    assert told == [f"{number}\n" for number in range(1, 9)]
    assert stop == EarlyStop(2, (str(tmp_path / "count"),))


def test_a_file_that_is_read_has_a_place_of_its_own_in_each_copy(tmp_path: Path) -> None:
    (tmp_path / "lines").write_text("".join(f"{number}\n" for number in range(10_000)))
    text = "file = open('lines', 'rb', buffering=0)\nfile.read(2)\nimport threading\n" + (
        "thread = threading.Thread(target=lambda: print(file.read(2)))\nthread.start()\nthread.join()\n"
    )
    assert outputs(write(tmp_path, text), 3) == (["b'1\\n'\n"] * 3, AT_FIRST_THREAD)


def test_files_that_were_opened_before_are_flushed(tmp_path: Path) -> None:
    """The first copy is the second run."""
    text = "file = open('written', 'w')\nfile.write('before ')\n" + THREAD + "file.write('after')\n"
    program = write(tmp_path, text)
    for runs in (1, 2):
        outputs(program, runs)
        assert (tmp_path / "written").read_text() == "before after"
        (tmp_path / "written").write_text("")


def test_a_port_is_free_for_fresh_processes_between_copies(tmp_path: Path, unused_port: int) -> None:
    text = f"import socket\nlistener = socket.create_server(('127.0.0.1', {unused_port}))\n" + THREAD
    described = describe_program((sys.executable, write(tmp_path, text).name), directory=tmp_path)
    with Runner(described, Settings()) as runner:
        for _ in range(3):
            assert runner.run(Plan(), 60).log.ending.status == 0
            assert run_target(described, Settings(), Plan(), time_limit_s=60).log.ending.status == 0
        assert not runner.why_fresh


def test_a_program_that_forked_before_is_stopped_before_that(tmp_path: Path) -> None:
    text = "import os\nif os.fork() == 0: os._exit(0)\nos.wait()\n" + MAKES + THREAD
    told, stop = outputs(write(tmp_path, text), 3)
    assert (told, stop) == (["ran\n"] * 3, AT_FIRST_LINE)


# -- where servers stop -------------------------------------------------------------------------------------------


def test_a_server_is_told_where_the_one_before_could_have_been_copied() -> None:
    stops = EarlyStops()
    assert stops.after_refusal(AT_FIRST_THREAD, 7)
    assert stops.stop == EarlyStop(7)
    assert stops.after_refusal(AT_FIRST_THREAD, 5)  # started before that was known
    assert stops.stop == EarlyStop(7)
    assert stops.after_refusal(EarlyStop(7), 6)
    assert stops.stop == EarlyStop(6)
    assert stops.after_refusal(EarlyStop(6), 5)
    assert stops.stop == AT_FIRST_LINE
    assert not stops.after_refusal(AT_FIRST_LINE, 1)


def test_nothing_can_be_copied_where_there_is_no_occasion() -> None:
    stops = EarlyStops()
    assert not stops.after_refusal(AT_FIRST_THREAD, 0)
    assert stops.stop == AT_FIRST_THREAD


def test_files_that_were_read_are_stopped_at() -> None:
    stops = EarlyStops()
    stops.after_refusal(AT_FIRST_THREAD, 7)
    stops.after_renewal([ChangedFile("/a/read", True, True), ChangedFile("/b/other", True, False)])
    assert stops.stop == EarlyStop(7, ("/a/read",))


def test_files_have_to_be_there_as_they_were(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    there = FilesThere(EarlyStop(7))
    assert there.are_the_same([ChangedFile(str(one), False, False)])
    one.touch()
    assert not there.are_the_same([])
    one.unlink()
    assert not there.are_the_same([ChangedFile(str(other), True, False)])
    other.touch()
    assert there.are_the_same([ChangedFile(str(other), False, False)])  # as it was when the first run changed it
    assert not there.are_the_same([ChangedFile(str(other), True, True)])
    one.touch()
    many = [ChangedFile(f"{tmp_path}/{number}", False, False) for number in range(501)]
    assert FilesThere(EarlyStop(7)).are_the_same(many[:-1])
    assert not FilesThere(EarlyStop(7)).are_the_same(many)
    assert FilesThere(AT_FIRST_LINE).are_the_same([ChangedFile(str(one), False, True)])
