"""What code of the library computes: what an observed run tells of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_dd.schedules.running.target import Plan
from tests.runtime.programs import run_program

pytestmark = pytest.mark.once

PROGRAM = """
    import threading

    class Own(threading.Barrier):
        @property
        def broken(self):
            return True

    def work(name):
        barrier.n_waiting
        barrier.parties
        own.broken
        barrier.wait()
        ended.wait()

    barrier, own, ended = threading.Barrier(2), Own(2), threading.Event()
    threads = [threading.Thread(target=work, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    ended.set()
    for thread in threads:
        thread.join()
"""


def test_a_barrier_is_looked_at_and_its_wait_counts_who_waits(tmp_path: Path) -> None:
    run = run_program(tmp_path, PROGRAM, Plan(observed={"": (0, 1 << 62)}))
    assert run.log.ending.status == 0, run.output
    seen = [one for one in run.accesses.accesses if one.thread == "0.1" and one.thing[0] == "object"]
    assert [(one.name, one.detail, one.writes, one.old.is_known) for one in seen] == [
        ("barrier", "n_waiting", False, False),
        ("barrier", "wait()", True, False),
        ("ended", "wait()", False, True),
    ], "what never changes, and what the program computes itself, is not looked at"
