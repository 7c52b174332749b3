"""Other interpreters in one process, and what threads hand on to those that they start."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from replay_dd.schedules.replaying.replay import find_divergence
from tests.runtime.programs import output_of, random_walk, replayed, run_program

NOTE = "code ran in other interpreters, where replay-dd switches no threads"

pytestmark = pytest.mark.skipif(sys.version_info < (3, 14), reason="concurrent.interpreters came with Python 3.14")


@pytest.mark.parametrize("seed", [0, 3])
def test_threads_with_interpreters_of_their_own_replay(seed: int, tmp_path: Path) -> None:
    text = """
        import threading
        from concurrent import interpreters
        from concurrent.futures import InterpreterPoolExecutor

        def work(number):
            own = interpreters.create()
            own.exec("import threading; thread = threading.Thread(target=int); thread.start(); thread.join()")
            done.append(own.call(divmod, number, 2))
            own.close()

        done = []
        threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        with InterpreterPoolExecutor(1) as pool:
            print(sorted(done), list(pool.map(abs, [-1, -2])))
        """
    run = run_program(tmp_path, text, random_walk(seed))
    assert output_of(run) == "[(0, 0), (0, 1)] [1, 2]\n"
    assert run.log.ending.notes == (NOTE,)
    assert str(find_divergence(run.log, replayed(run.log).log)) == "None"


@pytest.mark.parametrize("seed", [1, 4])
def test_code_in_other_interpreters_sleeps_under_the_schedule(seed: int, tmp_path: Path) -> None:
    """Queues between interpreters look for items again and again, and sleep in between."""
    text = """
        import threading
        from concurrent import interpreters

        def serve():
            own.exec("begin = now()")
            own.exec("while (number := asked.get()) is not None: time.sleep(0.1); told.put(number * 2)")
            own.exec("time.sleep(3600); told.put([round(t - b) // 3600 for t, b in zip(now(), begin)])")

        own = interpreters.create()
        asked, told = interpreters.create_queue(), interpreters.create_queue()
        own.prepare_main(asked=asked, told=told)
        own.exec("import time; now = lambda: (time.monotonic(), time.time())")
        thread = threading.Thread(target=serve)
        thread.start()
        for item in (1, 2, None): asked.put(item)
        print(told.get(), told.get())
        thread.join()
        print(told.get())
        own.close()
        """
    run = run_program(tmp_path, text, random_walk(seed))
    assert output_of(run) == "2 4\n[1, 1]\n"
    assert str(find_divergence(run.log, replayed(run.log).log)) == "None"


def test_threads_that_were_started_in_another_interpreter_sleep_in_real_time(tmp_path: Path) -> None:
    text = """
        import threading
        from concurrent import interpreters

        def work():
            own = interpreters.create()
            own.exec("import threading, time; thread = threading.Thread(target=time.sleep, args=(0.01,))")
            own.exec("thread.start(); thread.join(); time.sleep(0.01)")
            own.exec("try: time.sleep(-1)\\nexcept ValueError as wrong: print(wrong)")
            own.close()

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        """
    assert output_of(run_program(tmp_path, text)) == "sleep length must be non-negative\n"


def test_what_interrupts_a_sleep_in_another_interpreter_is_raised_after_it(tmp_path: Path) -> None:
    """As without replay-dd: no signal is handled in other interpreters."""
    text = """
        import os, signal, threading
        from concurrent import interpreters

        def stop(number, frame): raise KeyError("stopped")

        signal.signal(signal.SIGUSR1, stop)
        thread = threading.Thread(target=lambda: os.kill(os.getpid(), signal.SIGUSR1))
        own = interpreters.create()
        thread.start()
        try:
            own.exec("import time; time.sleep(1); print('slept')")
        except KeyError as reason:
            print("then", reason)
        thread.join()
        own.close()
        """
    assert output_of(run_program(tmp_path, text)) == "slept\nthen 'stopped'\n"


def test_threads_begin_with_the_context_that_they_are_given(tmp_path: Path) -> None:
    text = """
        import contextvars, threading

        name = contextvars.ContextVar("name", default="none")
        name.set("main")
        kept = contextvars.copy_context()
        seen = []
        threads = [threading.Thread(target=lambda: seen.append(name.get()), context=one) for one in (None, kept)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(sorted(seen))
        """
    run = run_program(tmp_path, text, random_walk(5))
    given_none = "main" if sys.flags.thread_inherit_context else "none"
    assert output_of(run) == f"['main', '{given_none}']\n"
    assert str(find_divergence(run.log, replayed(run.log).log)) == "None"
