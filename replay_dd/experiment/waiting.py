"""Waits for other threads without missing a signal.

CPython handles signals only in the main thread, between two instructions. A signal interrupts an unlimited wait for a
lock only if the main thread is already asleep. If it arrives a moment earlier, or in another thread, the wait continues
and Ctrl-C seems to do nothing (seen in one of 70 runs on two busy processors). So every wait here has a limit, after
which it starts again.
"""

from __future__ import annotations

from collections.abc import Collection
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any, TypeVar

T = TypeVar("T")

WAKE_INTERVAL_S = 0.1


def result_of(future: Future[T]) -> T:
    """The result of a future, or its exception, once it is done."""
    wait_for_one([future])
    return future.result()


def wait_for_one(futures: Collection[Future[Any]]) -> None:
    """Wait until one of them is done; return at once if there are none."""
    while futures and not wait(futures, WAKE_INTERVAL_S, FIRST_COMPLETED).done:
        pass


def wait_for_all(futures: Collection[Future[Any]]) -> None:
    """Wait until all of them are done."""
    while wait(futures, WAKE_INTERVAL_S).not_done:
        pass
