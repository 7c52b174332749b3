"""Whether other threads ran beside a test."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator

import pytest

from replay_dd.pytest_plugin import thread_watch
from replay_dd.pytest_plugin.thread_watch import ThreadWatch


class Server:
    """Answers in a thread, and sleeps in between."""

    def __init__(self) -> None:
        self._asked: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self.thread = threading.Thread(target=self._answer)
        self.thread.start()
        self.ask()

    def ask(self, more: bool = True) -> None:
        self._asked.put(more)
        self._answers.get()

    def end(self) -> None:
        if self.thread.is_alive():
            self.ask(more=False)
        self.thread.join()

    def is_asleep(self) -> bool:
        before = thread_watch._progress(self.thread)
        return not thread_watch._is_runnable(self.thread) and thread_watch._progress(self.thread) == before

    def _answer(self) -> None:
        more = True
        while more:
            more = self._asked.get()
            self._answers.put(True)


@pytest.fixture
def watch() -> Iterator[ThreadWatch]:
    watch = ThreadWatch()
    watch.leave_out()  # the threads of whatever plugin runs here
    yield watch
    watch.end()


@pytest.fixture
def server(watch: ThreadWatch) -> Iterator[Server]:
    server = Server()
    while not server.is_asleep():  # it has answered, and is on its way to its next question
        pass
    watch.begin()
    yield server
    server.end()


def test_a_thread_that_sleeps_all_the_time_is_not_met(watch: ThreadWatch, server: Server) -> None:
    assert not watch.started
    assert not watch.others_ran()


def test_a_thread_that_is_talked_to_is_met(watch: ThreadWatch, server: Server) -> None:
    server.ask()
    assert watch.others_ran()


def test_a_thread_that_ends_is_met(watch: ThreadWatch, server: Server) -> None:
    server.end()
    assert watch.others_ran()


@pytest.mark.parametrize("missing", ["schedstat", "stat"])
def test_a_thread_of_which_nothing_is_known_counts(
    missing: str, watch: ThreadWatch, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = thread_watch.open

    def open_some(path: str, flags: int) -> int:
        if path.endswith(f"/{missing}"):
            raise FileNotFoundError(path)
        return real(path, flags)

    monkeypatch.setattr(thread_watch, "open", open_some)
    watch.begin()
    assert watch.others_ran()


def test_a_thread_that_ends_while_it_is_looked_at_is_unknown(
    watch: ThreadWatch, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_too_late(descriptor: int, most: int) -> bytes:
        raise ProcessLookupError("as /proc says it")

    monkeypatch.setattr(thread_watch, "read", read_too_late)
    watch.begin()
    assert watch.others_ran()


def test_threads_that_were_there_before_the_tests_do_not_count(watch: ThreadWatch, server: Server) -> None:
    watch.leave_out()
    watch.begin()
    server.ask()
    assert not watch.others_ran()
    thread = threading.Thread(target=len, args=("",))
    thread.start()
    thread.join()
    assert watch.started
