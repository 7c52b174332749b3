"""The delays of a run do not add up: no thread gets later than the limit, compared with who goes on before it."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_dd.schedules.hunting.opening_plans import NO_SLEEP
from replay_dd.schedules.model import Settings
from replay_dd.schedules.runtime.baton.clock import NEVER_READY, Clock
from replay_dd.schedules.runtime.baton.lateness import at_hand_over, has_slept, late_if_woken_ns
from replay_dd.schedules.runtime.baton.thread import ManagedThread
from tests.runtime.programs import run_program


class Played:
    """Threads that hand over the baton as the test says."""

    def __init__(self, count: int) -> None:
        self.clock = Clock(0)
        self.threads = [ManagedThread((0, number)) for number in range(count)]
        self.runner = self.threads[0]

    def ready(self) -> list[ManagedThread]:
        now_ns = self.clock.now_ns
        return [t for t in self.threads if t.waiting is None or (t.deadline is not None and t.deadline <= now_ns)]

    def sleep(self, number: int, for_ns: int) -> None:
        """This thread has run, and sleeps now."""
        self.go_on(number)
        self.runner.waiting = NEVER_READY
        self.runner.deadline = self.clock.now_ns + for_ns

    def wait(self, number: int) -> None:
        """This thread has run, and waits for another one now."""
        self.go_on(number)
        self.runner.waiting = NEVER_READY

    def go_on(self, number: int) -> None:
        """This thread gets the baton, if need be before its sleep is over."""
        thread = self.threads[number]
        at_hand_over(self.clock, self.threads, self.ready(), self.runner)
        if thread.deadline is not None and thread.deadline > self.clock.now_ns:
            self.clock.jump_to(thread.deadline)
            has_slept(self.clock, thread)
        self.runner = thread
        thread.waiting = thread.deadline = None

    def wake(self, number: int) -> None:
        """The thread that runs lets this one go on."""
        self.threads[number].waiting = None

    def late_if_woken(self, number: int) -> int:
        return late_if_woken_ns(self.clock, self.threads[number], self.ready(), self.runner)


def test_each_round_of_a_thread_that_polls_makes_the_others_later() -> None:
    played = Played(2)
    played.sleep(0, 10)
    assert played.late_if_woken(0) == 10
    played.sleep(0, 10)
    assert played.late_if_woken(0) == 20


def test_who_has_been_late_stays_so_when_it_has_slept() -> None:
    played = Played(2)
    played.sleep(0, 10)
    played.go_on(0)
    played.sleep(1, 3)
    played.sleep(0, 10)
    played.go_on(1)
    assert played.late_if_woken(0) == 10 + 7


def test_who_sleeps_is_not_late_before_its_sleep_is_over() -> None:
    played = Played(2)
    played.sleep(1, 5)
    played.sleep(0, 20)
    played.go_on(1)
    played.sleep(1, 5)
    played.go_on(1)
    assert played.late_if_woken(0) == 10


def test_a_sleep_that_is_over_when_the_clock_jumps_to_another_is_not_late() -> None:
    played = Played(2)
    played.sleep(1, 10)
    played.sleep(0, 10)
    played.go_on(0)
    played.sleep(0, 10)
    assert played.late_if_woken(0) == 10


def test_who_waited_for_another_thread_is_as_late_as_that_one() -> None:
    played = Played(3)
    played.wait(1)
    played.sleep(0, 10)
    played.go_on(0)
    played.sleep(0, 10)
    played.go_on(2)
    played.wake(1)
    played.wait(2)
    assert played.late_if_woken(0) == 10 + 10


def test_who_waited_longer_than_another_thread_was_late_is_no_later() -> None:
    played = Played(3)
    played.wait(2)
    played.wait(1)
    played.sleep(0, 100)
    played.go_on(0)
    played.wake(1)
    assert played.threads[1].due_ns == 0
    played.sleep(0, 10)
    assert played.late_if_woken(0) == 10, "it could not go on before"


def test_who_is_late_too_overtakes_nobody() -> None:
    played = Played(3)
    played.sleep(0, 10)
    played.go_on(0)
    played.wait(0)
    played.sleep(1, 4)
    assert played.late_if_woken(1) == 4, "thread 2 is as late as thread 1"


def test_who_is_later_than_the_others_may_not_make_up_for_it() -> None:
    played = Played(3)
    played.wait(2)
    played.sleep(0, 10)
    played.go_on(0)
    played.wait(0)
    played.go_on(1)
    played.threads[2].due_ns = 10
    played.wake(2)
    played.sleep(1, 4)
    assert played.late_if_woken(1) == 4, "the sleep does not get shorter"


POLLS = """
    import threading, time

    done = []

    def work():
        {steps}
        done.append(1)

    def poll():
        start = time.monotonic()
        while not done and time.monotonic() - start < 0.1:
            time.sleep(0.01)

    thread = threading.Thread(target=work)
    thread.start()
    poll()
    print("done" if done else "late")
    thread.join()
    """


@pytest.mark.parametrize("steps", ["pass", "for _ in range(9): time.sleep(0.001)"])
@pytest.mark.parametrize(("max_delay_ms", "output"), [(10, b"done"), (1000, b"late")])
def test_a_thread_is_no_later_however_often_another_one_polls(
    tmp_path: Path, steps: str, max_delay_ms: int, output: bytes
) -> None:
    settings = Settings(max_delay_ns=max_delay_ms * 1_000_000)
    run = run_program(tmp_path, POLLS.format(steps=steps), NO_SLEEP, settings=settings)
    assert run.output.strip() == output
