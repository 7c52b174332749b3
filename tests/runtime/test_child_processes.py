"""Programs with threads that start processes: time passes for them, and what they share has names of its own."""

from __future__ import annotations

import _multiprocessing  # type: ignore[import-not-found]  # of C, without stubs
import os
import subprocess
import sys
from multiprocessing import shared_memory
from pathlib import Path

import pytest

from replay_dd.schedules.failures.signature import signature_of
from replay_dd.schedules.hunting.opening_plans import ANSWERS_FIRST
from replay_dd.schedules.model import Settings
from replay_dd.schedules.running.runner import Runner
from replay_dd.schedules.running.target import Plan, TargetRun
from replay_dd.schedules.runtime.process import child_processes
from tests.runtime.programs import (
    DEFAULT,
    assert_same,
    output_of,
    pct,
    random_walk,
    replayed,
    run_program,
    written_without_us,
)


def test_time_passes_for_a_child_that_runs_though_another_has_ended(tmp_path: Path) -> None:
    """Nobody has waited for the one that has ended, so the system tells of it before all others."""
    text = """
        import subprocess, threading
        ended = subprocess.Popen(["true"], stdout=subprocess.PIPE)
        ended.stdout.read()
        running = subprocess.Popen(["sleep", "0.2"])
        def wait():
            print(running.wait(5))
        thread = threading.Thread(target=wait)
        thread.start()
        thread.join()
        print(ended.wait())
        ended.stdout.close()
        """
    for plan in (DEFAULT, random_walk(1), random_walk(2)):
        run = run_program(tmp_path, text, plan)
        assert output_of(run) == "0\n0\n"
        assert_same(run, replayed(run.log))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_of_a_thread_that_has_just_been_started_has_one_thread(tmp_path: Path) -> None:
    text = """
        import os, threading, warnings
        warnings.simplefilter("ignore")
        def work():
            child = os.fork()
            if child == 0:
                os._exit(10 * threading.active_count() + (threading.current_thread() is threading.main_thread()))
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        """
    default = run_program(tmp_path, text)
    plans: list[Plan] = [pct(seed, dict(default.log.ending.thread_times)) for seed in range(8)]
    for run in (default, *(run_program(tmp_path, text, plan) for plan in plans)):
        assert output_of(run) == written_without_us(tmp_path) == "11\n"


def test_semaphores_and_shared_memory_have_other_names_in_each_run(tmp_path: Path) -> None:
    """What a run has left behind that was killed is not in the way of the next ones; nothing else differs."""
    text = """
        import multiprocessing, multiprocessing.shared_memory, random, sys, threading
        def look():
            made = multiprocessing.get_context("spawn").Lock()
            names.append(made._semlock.name)
            memory = multiprocessing.shared_memory.SharedMemory(create=True, size=16)
            names.append(memory.name)
            memory.close()
            memory.unlink()
        names = []
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        print(random.random())
        print(*names, file=sys.stderr)
        """
    runs = [run_program(tmp_path, text) for _ in range(2)]
    drawn, names = zip(*(output_of(run).splitlines() for run in runs), strict=True)
    assert drawn[0] == drawn[1]
    assert not set(names[0].split()) & set(names[1].split())
    assert runs[0].log.ending.digest == runs[1].log.ending.digest
    assert sys.platform != "linux" or not {path.name for path in Path("/dev/shm").iterdir()} & {
        f"sem.{name.lstrip('/')}" for name in " ".join(names).split()
    }


def test_what_a_run_that_is_killed_leaves_in_the_system_is_removed(tmp_path: Path) -> None:
    """Its resource tracker would do it, but is killed together with it. Some names are the program's own choice."""
    text = """
        import multiprocessing, multiprocessing.shared_memory as shared_memory, threading
        def look():
            global semaphore, memory
            semaphore = multiprocessing.get_context("spawn").Lock()
            memory = [shared_memory.SharedMemory(name, create=True, size=16) for name in (None, "NAME", "NAME-gone")]
            memory[2].unlink()
            print(semaphore._semlock.name, *(one.name for one in memory), flush=True)
            lock.acquire()
            lock.acquire()
        lock = threading.Lock()
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        """.replace("NAME", f"replay-dd-{os.urandom(4).hex()}")
    fresh = run_program(tmp_path, text)
    with Runner(fresh.log.program, Settings()) as runner:
        forked = runner.run(random_walk(1), 60)
        assert runner.why_fresh == ""
        forked_names = _names_that_are_gone(forked)
    assert not set(_names_that_are_gone(fresh)[:2]) & set(forked_names[:2])


def _names_that_are_gone(run: TargetRun) -> list[str]:
    assert signature_of(run.log.ending).kind == "deadlock"
    semaphore, *memory = names = run.output.decode().split()
    with pytest.raises(FileNotFoundError):
        _multiprocessing.sem_unlink(semaphore)
    for name in memory:
        with pytest.raises(FileNotFoundError):
            shared_memory.SharedMemory(name)
    return names


def test_children_are_seen_while_threads_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that has ended is still listed, as when it ended between the listing and the look at its children."""
    listdir, listings = os.listdir, []

    def list_an_ended_thread_first(path: str) -> list[str]:
        listings.append(path)
        return ["0", *listdir(path)] if len(listings) == 1 else listdir(path)

    with subprocess.Popen(["true"]) as ended, subprocess.Popen(["sleep", "1000"]) as running:
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)  # so that it is not enough to ask for any
        monkeypatch.setattr(os, "listdir", list_an_ended_thread_first)
        try:
            assert child_processes.children_run()
        finally:
            running.kill()
    assert len(listings) == 2


def test_a_child_answers_before_another_thread_asks(tmp_path: Path) -> None:
    """Under the default schedule, a thread that waits for its answer lets the other one ask, too."""
    text = """
        import subprocess, threading
        slow = "while read word; do sleep 0.1; echo $word; done"
        echo = subprocess.Popen(["sh", "-c", slow], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        asked = []
        def ask(word):
            asked.append(word)
            echo.stdin.write(word)
            echo.stdout.readline()
            asked.append(word)
        threads = [threading.Thread(target=ask, args=(word,)) for word in ("one\\n", "two\\n")]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        echo.stdin.close(); echo.stdout.close(); echo.wait()
        print("".join(asked), end="")
        """
    run = run_program(tmp_path, text, ANSWERS_FIRST)
    assert output_of(run) == "one\none\ntwo\ntwo\n"
    assert_same(run, replayed(run.log))
