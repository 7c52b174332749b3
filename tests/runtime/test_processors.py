"""Threads of a run share a processor, and the program does not see that."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from replay_dd.schedules.model import Settings
from replay_dd.schedules.running.runner import Runner
from replay_dd.schedules.running.target import Plan, describe_program
from replay_dd.schedules.runtime.accelerator import accelerator
from tests.runtime.programs import output_of, run_program, write_program

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system has no such processors"),
    pytest.mark.skipif(hasattr(os, "sched_getaffinity") and len(os.sched_getaffinity(0)) < 2, reason="one processor"),
]

# Each thread runs, waits for the other one to do so, and runs again.
_TURNS = """
    import os
    import subprocess
    import sys
    import threading

    def processors():
        return len(os.sched_getaffinity(0))

    def work(number):
        seen.append(processors())
        turns[number].acquire()
        seen.append(processors())
        turns[1 - number].release()
        seen.append(processors())

    seen = []
    turns = [threading.Lock(), threading.Lock()]
    turns[0].acquire()
    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    code = "import os; print(len(os.sched_getaffinity(0)))"
    asked = [sys.executable, "-I", "-S", "-c", code]
    seen += [processors(), int(subprocess.run(asked, capture_output=True, text=True, check=True).stdout)]
    print(*seen)
"""

_OTHERS = """
    import os
    import threading

    def stays(process, thread):
        with open(f"/proc/{process}/task/{thread}/status") as file:
            listed = next(line for line in file if line.startswith("Cpus_allowed_list:"))
        return "," not in listed and "-" not in listed

    def work():
        main = min(map(int, os.listdir("/proc/self/task")))
        print("main", stays("self", main), "server", stays(os.getppid(), os.getppid()))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
"""

_OWN = """
    import os
    import threading

    def work():
        first = min(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {first})
        turn.acquire()
        print(os.sched_getaffinity(0) == {first})

    turn = threading.Lock()
    turn.acquire()
    thread = threading.Thread(target=work)
    thread.start()
    print(len(os.sched_getaffinity(0)))
    turn.release()
    thread.join()
    print(len(os.sched_getaffinity(0)))
"""


def _forked(folder: Path, text: str) -> str:
    write_program(folder, text)
    command = describe_program((sys.executable, "prog.py"), directory=folder)
    with Runner(command, Settings()) as runner:
        made = runner.run(Plan(), 60.0)
        assert not runner.why_fresh
    return output_of(made)


def _fresh(folder: Path, text: str) -> str:
    return output_of(run_program(folder, text))


@pytest.mark.parametrize("run", [_fresh, _forked])
def test_threads_and_processes_of_the_program_may_use_every_processor(
    tmp_path: Path, run: Callable[[Path, str], str]
) -> None:
    assert set(run(tmp_path, _TURNS).split()) == {str(len(os.sched_getaffinity(0)))}


@pytest.mark.skipif(accelerator is None, reason="no accelerator was compiled")
def test_threads_that_wait_stay_where_they_are_and_a_copy_begins_where_its_server_is(tmp_path: Path) -> None:
    assert _forked(tmp_path, _OTHERS).split() == ["main", "True", "server", "True"]


def test_a_thread_that_chooses_its_processor_keeps_it(tmp_path: Path) -> None:
    every = str(len(os.sched_getaffinity(0)))
    assert _fresh(tmp_path, _OWN).split() == [every, "True", every]
