"""Waits for what other threads do, without oversleeping a signal.

CPython handles signals in its main thread only, between two instructions. A wait for a lock without a limit ends for a
signal only where it finds the main thread already asleep. Where it comes a moment earlier, or to another thread, the
wait goes on, and Ctrl-C seems to do nothing (seen in one of 70 runs on two busy processors). So every wait here has a
limit, after which it is begun again.
"""

from __future__ import annotations

from collections.abc import Collection
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any, TypeVar

T = TypeVar("T")

AWAKE_S = 0.1


def result_of(future: Future[T]) -> T:
    """What a future gives, or raises, when it is done."""
    wait_for_one([future])
    return future.result()


def wait_for_one(futures: Collection[Future[Any]]) -> None:
    """Wait until one of them is done; not at all where there is none."""
    while futures and not wait(futures, AWAKE_S, FIRST_COMPLETED).done:
        pass


def wait_for_all(futures: Collection[Future[Any]]) -> None:
    """Wait until all of them are done."""
    while wait(futures, AWAKE_S).not_done:
        pass
