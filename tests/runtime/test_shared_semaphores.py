"""What other processes do to locks of ``multiprocessing`` comes again as in the recorded run."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from replay_dd.schedules.runtime.io.descriptors import Descriptors
from replay_dd.schedules.runtime.stdlib.shared_semaphores import SharedSemaphores
from tests.runtime.programs import assert_same, output_of, replayed, run_program

_RECURSIVE, _OTHER = 0, 1


def test_a_replay_gets_the_answers_of_the_recorded_run(tmp_path: Path) -> None:
    """In the replay, another process has given the semaphore back, which it had not in the recorded run."""
    text = f"""
        import multiprocessing, os, threading
        semaphore = multiprocessing.get_context("fork").Semaphore(0)
        if os.fork() == 0:
            if os.path.exists({str(tmp_path / "gives back")!r}):
                semaphore.release()
            os._exit(0)
        os.wait()
        def work():
            if semaphore.get_value() == 0 and semaphore._semlock._is_zero():
                print(semaphore.acquire(False), semaphore.acquire(timeout=0.5), semaphore.acquire(True, -1))
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        """
    run = run_program(tmp_path, text)
    assert output_of(run) == "False False False\n"
    (tmp_path / "gives back").touch()
    assert_same(run, replayed(run.log))
    assert output_of(run_program(tmp_path / "otherwise", text)) == ""


class _World:
    """Stands in for the runtime, in which each wait ends at once.

    Args:
        answers: those of the recorded run; None for each wait that the log does not know.
    """

    def __init__(self, *answers: int | None) -> None:
        self._expected = [None if answer is None else SimpleNamespace(answer=answer) for answer in answers]
        self.answers: list[int] = []
        self.has_baton, self.yield_point = lambda: True, lambda frame: None
        self.moments = SimpleNamespace(answered=lambda wait, answer: self.answers.append(answer))

    def make_other_wait(self, is_there: Any, what: str) -> Any:
        wait = SimpleNamespace(expected=self._expected.pop(0), is_there=is_there)
        wait.wait_really = lambda: any(wait.is_there() for _ in range(5))
        return wait

    def wait(self, frame: Any, wait: Any, timeout_s: float | None) -> bool:
        return bool(wait.is_there())

    def acquires(self, real: Any, block: bool = True) -> bool:
        return SharedSemaphores(cast(Descriptors, self), _RECURSIVE).acquire(real, block, None)


class _Semaphore:
    """One that another process takes just before each of the first attempts."""

    kind = _OTHER

    def __init__(self, others_first: int) -> None:
        self.attempts = -others_first

    def acquire(self, block: bool, timeout: float | None = None) -> bool:
        assert not block
        self.attempts += 1
        return self.attempts == 1

    def _is_at_zero(self) -> bool:
        return self.attempts > 0


def test_who_comes_too_late_waits_anew() -> None:
    world = _World(None, None, None)
    assert world.acquires(_Semaphore(2))
    assert world.answers == [0, 0, 1]


def test_a_replay_that_comes_too_late_tries_on() -> None:
    world = _World(1)
    assert world.acquires(_Semaphore(3))
    assert world.answers == [1]


def test_a_replay_that_comes_too_early_leaves_it_to_others() -> None:
    semaphore = _Semaphore(0)
    world = _World(0, 0, 1)
    assert world.acquires(semaphore)
    assert (world.answers, semaphore.attempts) == ([0, 0, 1], 1)


@pytest.mark.parametrize("recorded", [0, 1])
def test_an_attempt_that_does_not_wait_ends_as_in_the_recorded_run(recorded: int) -> None:
    world = _World(recorded)
    assert world.acquires(_Semaphore(recorded), block=False) == recorded
    assert world.answers == [recorded]
