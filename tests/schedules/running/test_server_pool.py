"""Another fork server is started only when waiting for one has cost as much."""

from __future__ import annotations

import threading
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

import pytest

from replay_dd.experiment.forked import CannotForkError
from replay_dd.schedules.running.server_pool import ServerPool

START_S = 1000.0  # of a clock that stands still otherwise


class Clock:
    """Stands still, but while a server starts."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


class FakeServer:
    closed = False
    error: Exception | None = None

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pool(clock: Clock) -> ServerPool[FakeServer]:
    def start() -> FakeServer:
        clock.now_s += START_S
        return FakeServer()

    return ServerPool(start, clock)


def test_those_who_wait_get_the_one_that_is_free_first(pool: ServerPool[FakeServer]) -> None:
    first = pool.take()
    with ThreadPoolExecutor(3) as others:
        waiting = {others.submit(pool.take) for _ in range(3)}
        while waiting:
            pool.put_back(first)
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            assert [future.result() for future in done] == [first]
    pool.close()
    assert first.closed


def test_another_one_is_started_when_waiting_has_taken_as_long(pool: ServerPool[FakeServer], clock: Clock) -> None:
    first = pool.take()
    came = threading.Event()

    def wait_and_take() -> FakeServer:
        came.set()
        return pool.take()

    with ThreadPoolExecutor(1) as others:
        waiting = others.submit(wait_and_take)
        came.wait()
        while not waiting.done():
            with pool._changed:  # it waits, or has not begun to
                clock.now_s += START_S
                pool._changed.notify_all()
        second = waiting.result()
    assert second is not first
    pool.close()
    assert first.closed
    assert second.closed


def test_where_none_can_be_started_everybody_is_told(clock: Clock) -> None:
    begun, go = threading.Event(), threading.Event()
    started = []

    def start() -> FakeServer:
        started.append(1)
        begun.set()
        go.wait()
        raise OSError("no")

    pool = ServerPool(start, clock)
    with ThreadPoolExecutor(3) as threads:
        futures = [threads.submit(pool.take) for _ in range(3)]
        begun.wait()
        go.set()
        for future in futures:
            with pytest.raises(OSError, match="no"):
                future.result()
    assert len(started) == 1


def test_when_it_is_closed_nobody_gets_a_new_one(pool: ServerPool[FakeServer]) -> None:
    first = pool.take()
    with ThreadPoolExecutor(1) as others:
        waiting = others.submit(pool.take)
        pool.close()
        with pytest.raises(CannotForkError):
            waiting.result()
    with pytest.raises(CannotForkError):
        pool.take()
    assert first.closed
    assert pool.closed


def test_one_that_was_starting_when_it_was_closed_is_ended(clock: Clock) -> None:
    server = FakeServer()

    def start() -> FakeServer:
        pool.close()
        return server

    pool = ServerPool(start, clock)
    with pytest.raises(CannotForkError):
        pool.take()
    assert server.closed
