"""Which tests each Python gets: tools/test_all_pythons.py."""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path

import pytest

from tools.environments import FREE_THREADED, SUPPORTED
from tools.test_all_pythons import (
    NEWEST,
    QUICK,
    QUICK_RUNTIME,
    QUICK_SCHEDULES,
    Prepared,
    is_newest,
    selection_of,
)

pytestmark = pytest.mark.once


def preparing(*prepared: str, unknown: tuple[str, ...] = ()) -> dict[str, Future[Prepared | str]]:
    """Pythons that are prepared, or cannot be had; those that are unknown are still being prepared."""
    futures: dict[str, Future[Prepared | str]] = {one: Future() for one in (*SUPPORTED, *FREE_THREADED, "3.99")}
    for version, future in futures.items():
        if version not in unknown:
            place = Path()
            future.set_result(Prepared(version, place, place, place) if version in prepared else "not to be had")
    return futures


def selections(futures: dict[str, Future[Prepared | str]], *versions: str) -> list[tuple[str, ...]]:
    return [selection_of(version, is_newest(version, futures)) for version in versions]


def test_the_newest_python_that_is_there_gets_more_tests() -> None:
    futures = preparing("3.11", "3.12", "3.14", "3.13t", "3.99")
    assert selections(futures, "3.12", "3.14", "3.13t", "3.99") == [QUICK, NEWEST, QUICK_SCHEDULES, QUICK]
    assert selections(preparing(*SUPPORTED, *FREE_THREADED), "3.14", "3.15", "3.13t") == [QUICK, NEWEST, QUICK_RUNTIME]


def test_a_python_waits_for_the_preparation_of_the_next_one_only() -> None:
    futures = preparing("3.12", "3.13", unknown=("3.14", "3.15", *FREE_THREADED))
    assert selections(futures, "3.12") == [QUICK]
