"""A wait for another thread does not miss a signal, whichever thread the system delivers it to."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from replay_dd.experiment.waiting import result_of, wait_for_all, wait_for_one


class Signalled(Exception):
    """What the signal's handler raises."""


def raise_it(number: int, frame: object) -> None:
    raise Signalled


@pytest.mark.parametrize(
    "waiting",
    [result_of, lambda future: wait_for_one([future]), lambda future: wait_for_all([future])],
    ids=["result", "one", "all"],
)
def test_a_signal_to_another_thread_ends_the_wait(waiting: Callable[[Future[Any]], object]) -> None:
    waits, go_on = threading.Event(), threading.Event()

    def work() -> None:
        waits.wait(120)
        time.sleep(0.2)  # long enough to be asleep; if not, the test is weaker
        signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)
        go_on.wait(120)

    before = signal.signal(signal.SIGUSR1, raise_it)
    try:
        with ThreadPoolExecutor(1) as pool:
            future = pool.submit(work)
            try:
                with pytest.raises(Signalled):  # noqa: PT012  the signal may come early
                    waits.set()
                    waiting(future)
                assert not future.done()
            finally:
                go_on.set()
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_what_comes_of_it() -> None:
    with ThreadPoolExecutor(2) as pool:
        assert result_of(pool.submit(lambda: 7)) == 7
        with pytest.raises(TimeoutError, match="mine"):
            result_of(pool.submit(_fail))
        both = [pool.submit(lambda: 1), pool.submit(lambda: 2)]
        wait_for_one(both)
        assert any(future.done() for future in both)
        wait_for_all(both)
        assert all(future.done() for future in both)
    wait_for_one([])
    wait_for_all([])


def _fail() -> None:
    raise TimeoutError("mine")
