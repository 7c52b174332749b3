"""Circles of locks, and the switches that close them."""

from __future__ import annotations

from replay_dd.schedules.hunting.lock_cycles import lock_cycles
from replay_dd.schedules.model import Trigger
from replay_dd.schedules.observed.touches import Touch
from replay_dd.schedules.runtime.channel import LOCK


def taken(*rows: tuple[str, int, int, tuple[int, ...]]) -> list[Touch]:
    """(thread, thread time, lock, locks held) each."""
    return [
        Touch(name, time, number, time, (lock, LOCK), True, held)
        for number, (name, time, lock, held) in enumerate(rows)
    ]


def test_two_threads_with_two_locks() -> None:
    touches = taken(("0.1", 1, 1, ()), ("0.1", 2, 2, (1,)), ("0.2", 1, 2, ()), ("0.2", 2, 1, (2,)))
    assert list(lock_cycles(touches)) == [(Trigger("0.1", 2, "0.2"),)]


def test_three_threads_in_a_circle_come_once() -> None:
    touches = taken(("0.1", 2, 2, (1,)), ("0.2", 2, 3, (2,)), ("0.3", 2, 1, (3,)))
    assert list(lock_cycles(touches)) == [(Trigger("0.1", 2, "0.2"), Trigger("0.2", 2, "0.3"))]


def test_one_thread_alone_makes_no_circle() -> None:
    assert list(lock_cycles(taken(("0.1", 2, 2, (1,)), ("0.1", 5, 1, (2,))))) == []


def test_a_common_lock_around_both_forbids_it() -> None:
    assert list(lock_cycles(taken(("0.1", 2, 2, (9, 1)), ("0.2", 2, 1, (9, 2))))) == []


class CountedLock(int):
    """A lock that counts how often it is compared."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        CountedLock.compared += 1
        return int(self) == other

    __hash__ = int.__hash__


def test_many_threads_with_locks_of_their_own_are_not_compared_with_each_other() -> None:
    rows = [(f"0.{n}", 2, CountedLock(2 * n), (CountedLock(2 * n + 1),)) for n in range(1, 200)]
    CountedLock.compared = 0
    assert list(lock_cycles(taken(*rows))) == []
    assert CountedLock.compared < 10 * len(rows)
