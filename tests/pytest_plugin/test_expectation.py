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
    """A test with this text, in a file with these globals."""

    def __init__(self, text: str = "pass", **known: Any) -> None:
        self.module = ModuleType("test_it")
        vars(self.module).update(known)
        found: dict[str, Any] = {}
        exec(f"def test():\n    {text}", found)
        self.function = found["test"]


def test_kinds_of_tests_are_counted_apart() -> None:
    named: Any = Item("Thread(target=print)", Thread=threading.Thread)
    beside: Any = Item(Thread=threading.Thread)
    plain: Any = Item(strange=Strange(), join=str.join)
    expected = Expectation([named] * 10 + [beside] * 1000 + [plain] * 1000)
    assert expected.left == 2010
    for _ in range(4):
        expected.saw(named, threads=True)
    for _ in range(100):
        expected.saw(beside, threads=False)
        expected.saw(plain, threads=False)
    assert expected.left == 1806
    assert 6 < expected.with_threads < 13


@pytest.mark.parametrize(
    ("text", "known", "number"),
    [
        ("t.Thread()", {"t": threading}, 10),
        ("[lambda: Pool(2) for _ in 'a']", {"Pool": concurrent.futures.ThreadPoolExecutor}, 10),
        ("import concurrent.futures", {}, 10),
        ("pass", {"futures": concurrent.futures}, 5),
        ("futures()", {"Pool": concurrent.futures.ThreadPoolExecutor}, 5),
        ("threads", {"name": "threading"}, 2),
    ],
)
def test_what_tests_and_files_name(text: str, known: dict[str, Any], number: float) -> None:
    test: Any = Item(text, **known)
    assert Expectation([test] * 10).with_threads == pytest.approx(number)


def test_a_library_that_starts_threads_by_itself_is_learnt() -> None:
    plain: Any = Item()
    expected = Expectation([plain] * 120)
    assert expected.with_threads == pytest.approx(24)
    for _ in range(20):
        expected.saw(plain, threads=True)
    assert expected.with_threads > 90


def test_a_worker_of_xdist_expects_its_part_of_the_tests() -> None:
    test: Any = Item("threading", threading=threading)
    expected = Expectation([test] * 7, workers=2)
    assert (expected.left, expected.with_threads) == (4, 4)
    for _ in range(5):  # the others were slower
        expected.saw(test, threads=True)
    assert (expected.left, expected.with_threads) == (0, 0)


def test_a_test_that_is_no_function_has_no_file_to_know_by() -> None:
    other: Any = object()
    assert Expectation([other] * 10).with_threads == pytest.approx(2)
