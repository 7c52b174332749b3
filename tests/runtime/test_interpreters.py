"""Other interpreters in one process, and what threads hand on to those that they start."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from replay_dd.schedules.replay import find_divergence
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
    assert output_of(run) == "['main', 'none']\n"
    assert str(find_divergence(run.log, replayed(run.log).log)) == "None"
