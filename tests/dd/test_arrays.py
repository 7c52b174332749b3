from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy
import pytest

from replay_dd import ddmin, deltas_between, isolate
from replay_dd.errors.user import ArgumentError, PassNotContainedError
from replay_dd.outcome import Outcome
from tests.dd.support import F, P


def test_an_array_is_cut_along_its_first_axis() -> None:
    table = numpy.arange(40).reshape(10, 4)

    def test(rows: Any) -> Outcome:
        assert rows.dtype == table.dtype
        assert rows.shape[1:] == (4,)
        return F if {8, 32} <= set(rows[:, 0]) else P

    result = ddmin(test, table)
    assert result.failing.tolist() == [[8, 9, 10, 11], [32, 33, 34, 35]]
    assert result.passing.shape == (0, 4)


def test_one_slice_is_a_view_and_nothing_can_be_written() -> None:
    numbers = numpy.arange(1000)
    views = []

    def test(some: Any) -> Outcome:
        views.append(some.base is not None)
        with pytest.raises(ValueError, match="read-only"):
            some[:] = 0
        return F if 7 in some and 900 in some else P

    assert ddmin(test, numbers).failing.tolist() == [7, 900]
    assert views[:4] == [True, True, True, True], "nothing, all, and the halves are slices"
    assert not all(views)
    assert numbers.flags.writeable
    assert numbers[7] == 7


def test_a_passing_array() -> None:
    numbers = numpy.array([1.0, -0.0, numpy.nan, 4.0])

    def test(some: Any) -> Outcome:
        return F if 4.0 in some else P

    for passing in (numpy.array([1.0, numpy.nan]), numpy.array([-0.0]), numpy.array([], dtype=int), numbers[:0], None):
        assert isolate(test, passing, numbers).difference.tolist() == [4.0]
    for other in (numpy.array([0.0]), numpy.array([4.0, 1.0])):
        with pytest.raises(PassNotContainedError):
            isolate(test, other, numbers)
    for other in ([1.0], numpy.array([1]), numpy.array([[1.0]])):
        with pytest.raises(ArgumentError, match="of one kind"):
            isolate(test, other, numbers)
    with pytest.raises(ArgumentError, match="of one kind"):
        isolate(lambda some: P, numbers, [1.0, 4.0])  # type: ignore[call-overload]


def test_arrays_of_objects() -> None:
    things = numpy.array(["a", None, 3], dtype=object)
    assert isolate(lambda some: F if 3 in some else P, things[:2], things).difference.tolist() == [3]
    pairs = numpy.array([["a", 1], ["b", 2]], dtype=object)
    assert isolate(lambda some: F if "b" in some else P, pairs[:1], pairs).difference.tolist() == [["b", 2]]


def test_arrays_are_aligned_by_rows() -> None:
    before, after = numpy.arange(12).reshape(6, 2), numpy.arange(12).reshape(6, 2)
    after[2] = 77
    changes = deltas_between(before, numpy.concatenate([after, [[5, 5]]]))
    assert [change.position for change in changes] == [2, 6]
    assert changes[0].removed.tolist() == [[4, 5]]
    assert changes[0].inserted.tolist() == [[77, 77]]
    assert ddmin(lambda rows: F if 77 in rows else P, changes).failing.tolist() == after.tolist()


def test_a_single_number_cannot_be_taken_apart() -> None:
    with pytest.raises(ArgumentError, match="a ndarray cannot be taken apart"):
        ddmin(lambda some: F, numpy.array(3))


def test_numpy_is_only_imported_by_those_who_use_it() -> None:
    program = (
        "import sys; from replay_dd import ddmin, deltas_between, isolate, Outcome\n"
        "ddmin(lambda c: Outcome.FAIL if 'b' in c else Outcome.PASS, ['a', 'b'])\n"
        "isolate(lambda c: Outcome.FAIL if 'c' in c else Outcome.PASS, deltas_between('ab', 'ac'))\n"
        "print('numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
