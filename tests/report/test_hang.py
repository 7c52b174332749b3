"""Threads that wait in the same way are told once."""

from __future__ import annotations

import pytest

from replay_dd.report.hang import threads_as_text
from replay_dd.schedules.hang import DEADLOCK, NO_STACK, Hang, HangFrame, HangThread
from replay_dd.schedules.story.verdict import Verdict, Wait
from tests.schedules.logs import log_of

pytestmark = pytest.mark.once

GET = (HangFrame("pool.py", "pool.py", 7, "work", counted=True),)
PUT = (HangFrame("pool.py", "pool.py", 9, "feed", counted=True),)


def waiting(name: str, stack: int, holds: tuple[int, ...] = ()) -> HangThread:
    explanation = "waits for an item" if stack == 0 else "waits for room"
    return HangThread(name, f"Thread-{name}", "waits", -1, "", explanation, stack, NO_STACK, holds, runs_loop=False)


def told(*threads: HangThread) -> list[str]:
    hang = Hang(DEADLOCK, False, threads, (), (), (GET, PUT))
    verdict = Verdict("deadlock", tuple(Wait(thread, None, (), known=True) for thread in threads), (), "")
    return [line.strip() for line in threads_as_text(hang, verdict, log_of([]).program)]


def test_threads_that_wait_in_the_same_way_are_told_once() -> None:
    lines = told(*(waiting(f"0.{number}", stack=number == 3) for number in range(1, 5)))
    assert lines == [
        "thread 0.1 Thread-0.1",
        "waits for an item",
        "pool.py:7  in work",
        "so do threads 0.2 and 0.4",
        "thread 0.3 Thread-0.3",
        "waits for room",
        "pool.py:9  in feed",
    ]
    assert told(waiting("0.1", 0), waiting("0.2", 0))[-1] == "so does thread 0.2"


def test_a_thread_that_has_a_lock_is_told_by_itself() -> None:
    assert told(waiting("0.1", 0, holds=(1,)), waiting("0.2", 0, holds=(2,)))[3] == "thread 0.2 Thread-0.2"
