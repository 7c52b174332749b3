"""How many tests with threads are still to come."""

from __future__ import annotations

import concurrent.futures
import threading
from types import ModuleType
from typing import Any

import pytest

from replay_dd.pytest_plugin.expectation import Expectation

pytestmark = pytest.mark.once


class Strange:
    """Nothing of it may run."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(name)


class Item:
    """A test of a file with these globals."""

    def __init__(self, **known: Any) -> None:
        self.module = ModuleType("test_it")
        vars(self.module).update(known)


def test_files_that_know_of_threads_are_counted_apart() -> None:
    apart: Any = Item(Thread=threading.Thread)
    plain: Any = Item(text="threading", strange=Strange(), join=str.join)
    expected = Expectation([apart] * 10 + [plain] * 1000)
    assert expected.left == 1010
    for _ in range(4):
        expected.saw(apart, threads=True)
    for _ in range(100):
        expected.saw(plain, threads=False)
    assert expected.left == 906
    assert 6 <= expected.with_threads < 9


@pytest.mark.parametrize(
    "known", [{"t": threading}, {"f": concurrent.futures}, {"P": concurrent.futures.ThreadPoolExecutor}]
)
def test_what_a_file_knows_of_threads(known: dict[str, Any]) -> None:
    test: Any = Item(**known)
    assert Expectation([test] * 10).with_threads == 10


def test_a_library_that_starts_threads_by_itself_is_learnt() -> None:
    plain: Any = Item()
    expected = Expectation([plain] * 120)
    assert expected.with_threads == pytest.approx(24)
    for _ in range(20):
        expected.saw(plain, threads=True)
    assert expected.with_threads > 90


def test_a_worker_of_xdist_expects_its_part_of_the_tests() -> None:
    test: Any = Item(threading=threading)
    expected = Expectation([test] * 7, workers=2)
    assert (expected.left, expected.with_threads) == (4, 4)
    for _ in range(5):  # the others were slower
        expected.saw(test, threads=True)
    assert (expected.left, expected.with_threads) == (0, 0)


def test_a_test_that_is_no_function_has_no_file_to_know_by() -> None:
    other: Any = object()
    assert Expectation([other] * 10).with_threads == pytest.approx(2)
