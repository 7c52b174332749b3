"""A program that cannot be forked at its first thread goes on to its own end, and that is the first run."""

from __future__ import annotations

import contextlib
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from replay_dd.experiment.forked import CannotForkError
from replay_dd.experiment.process import LIVE
from replay_dd.schedules.model import Program, Settings
from replay_dd.schedules.running.early_stop import EarlyStop
from replay_dd.schedules.running.first_thread import Started, start_on_its_way, why_it_refuses
from replay_dd.schedules.running.runner import NO_THREAD, Runner
from replay_dd.schedules.running.target import Plan, describe_program, run_target
from tests.schedules.forking import THREAD, write
from tests.schedules.running.test_runner import PLANS, without_seconds
from tools.test_all_pythons import processes_in

# What is sought in runs, and not what runs do, which depends on the Python.
pytestmark = pytest.mark.once

NOTE = "with open('starts', 'a') as file:\n    print('start', file=file)\n"
BUSY = "import atexit, os\nos.mkdir('busy')\natexit.register(os.rmdir, 'busy')\n"
TWO_THREADS = """
import threading
def work():
    for _ in range(9):
        seen.append(len(seen))
seen = []
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(seen)
"""


def runner_of(program: Path, settings: Settings | None = None) -> Runner:
    return Runner(describe_program((sys.executable, program.name), directory=program.parent), settings or Settings())


def starts(folder: Path) -> int:
    return len((folder / "starts").read_text().splitlines())


def test_what_it_did_before_is_undone_before_the_next_run(tmp_path: Path) -> None:
    with runner_of(write(tmp_path, BUSY + "print('before')\n" + THREAD)) as runner:
        for _ in range(3):
            run = runner.run(Plan(), 60)
            assert (run.log.ending.status, run.output) == (0, b"before\nran\n")
            assert not (tmp_path / "busy").exists()
        assert not runner.why_fresh


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.strategy)
def test_its_run_is_the_one_that_was_asked_for_and_none_is_made_twice(plan: Plan, tmp_path: Path) -> None:
    program = write(tmp_path, NOTE + TWO_THREADS)
    with runner_of(program) as runner:
        own, fresh = runner.run(plan, 60), runner.run(plan, 60)
    assert starts(tmp_path) == 2
    assert without_seconds(own) == without_seconds(fresh)
    assert own.output == fresh.output
    assert own.log.ending.seconds > 0


def test_files_that_it_leaves_to_the_interpreter_are_flushed(tmp_path: Path) -> None:
    text = "file = open('written', 'w')\nfile.write('before ')\n" + THREAD + "file.write('after')\n"
    with runner_of(write(tmp_path, text)) as runner:
        runner.run(Plan(), 60)
        assert (tmp_path / "written").read_text() == "before after"


def test_a_program_without_threads_is_run_once_and_to_its_end(tmp_path: Path) -> None:
    with runner_of(write(tmp_path, NOTE + "file = open('written', 'w')\nfile.write('all')\nprint('out')\n")) as runner:
        run = runner.run(Plan(), 60)
        assert (run.log.ending.status, run.log.ending.complete, run.output) == (0, True, b"out\n")
        assert (tmp_path / "written").read_text() == "all"
        assert (starts(tmp_path), runner.why_fresh) == (1, NO_THREAD)


def test_one_that_does_not_end_is_ended_at_the_time_limit(tmp_path: Path) -> None:
    text = NOTE + THREAD + "import time\ntime.sleep(60)\n"
    with runner_of(write(tmp_path, text), Settings(real_clock=True)) as runner:
        run = runner.run(Plan(), 2)
        assert (run.log.ending.timed_out, run.log.ending.status) == (True, None)
        assert starts(tmp_path) == 1
        assert not processes_in(tmp_path)


def test_one_that_takes_long_to_its_first_thread_makes_a_run_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("replay_dd.schedules.running.first_thread.START_LIMIT_S", 0.0)
    with runner_of(write(tmp_path, NOTE + THREAD)) as runner:
        run = runner.run(Plan("random", {"seed": 1}), 60)
        assert (run.log.ending.status, run.log.strategy, run.output) == (0, "random (seed 1)", b"ran\n")
        assert (starts(tmp_path), runner.why_fresh) == (1, "it did not start a thread in time")


def test_one_whose_search_is_over_is_ended(tmp_path: Path) -> None:
    text = NOTE + THREAD + "open('waits', 'w').close()\nimport time\ntime.sleep(60)\n"
    runner = runner_of(write(tmp_path, text), Settings(real_clock=True))
    with ThreadPoolExecutor(1) as pool:
        left_behind = pool.submit(runner.run, Plan(), None)
        while not (tmp_path / "waits").exists():
            time.sleep(0.01)
        runner.close()
        with pytest.raises(CannotForkError):
            left_behind.result()
    assert not processes_in(tmp_path)


def test_a_command_that_starts_several_pythons_is_run_once_more_without_a_stop(tmp_path: Path) -> None:
    write(tmp_path, NOTE + THREAD)
    (tmp_path / "other.py").write_text("print('other')\n")
    shell = f"{sys.executable} program.py && {sys.executable} other.py && {sys.executable} other.py"
    described = describe_program(("sh", "-c", shell), directory=tmp_path)
    fresh = run_target(described, Settings(), Plan(), time_limit_s=60)
    with Runner(described, Settings()) as runner:
        run = runner.run(Plan(), 60)
    assert (run.log.ending.status, run.log.program.process) == (0, "program.py")
    assert run.log.ending.digest == fresh.log.ending.digest
    assert run.output == b"ran\nother\nother\n"


def test_one_that_ctrl_c_has_ended_is_no_reason_to_tell(tmp_path: Path) -> None:
    def killed(program: Program, settings: Settings, context: contextlib.ExitStack, stop: EarlyStop) -> Started:
        channel, folder, process = start_on_its_way(program, settings, context)
        LIVE.kill_all()
        return Started(channel, folder, process, why_it_refuses(channel))

    described = describe_program((sys.executable, write(tmp_path, THREAD).name), directory=tmp_path)
    told: list[str] = []
    with LIVE.reopened_after(), Runner(described, Settings(), start=killed, on_fresh=told.append) as runner:
        with pytest.raises(CannotForkError):
            runner.run(Plan(), 60)
        assert (told, runner.why_fresh) == ([], "")


def test_one_that_has_ended_is_not_called_late(tmp_path: Path) -> None:
    with runner_of(write(tmp_path, "import os\nos._exit(3)\n")) as runner:
        assert runner.run(Plan(), 60).log.ending.status == 3
        assert runner.why_fresh == "it ended before it started a thread"
