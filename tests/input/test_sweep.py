"""The search for units most of which are needed: the sweep, and bisection that goes on one by one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from replay_dd.dd import Algorithm, IntervalSet, PrefixBisection
from replay_dd.input.rows import RowBisection
from replay_dd.input.sweep import Sweep
from replay_dd.outcome import Outcome

UNITS = 12


def swept(fails: dict[frozenset[int], bool] | None, needed: frozenset[int], count: int) -> tuple[frozenset[int], int]:
    return searched(Sweep(IntervalSet.range(0, count)), fails, needed)


def searched(
    sweep: Algorithm, fails: dict[frozenset[int], bool] | None, needed: frozenset[int]
) -> tuple[frozenset[int], int]:
    tests = 0
    while (asked := sweep.ask()) is not None:
        assert asked < sweep.c_fail
        tests += 1
        units = frozenset(asked)
        failed = needed <= units if fails is None else fails.setdefault(units, hash(units) % 3 == 0)
        sweep.tell(Outcome.FAIL if failed else Outcome.UNRESOLVED)
    return frozenset(sweep.c_fail), tests


@given(st.frozensets(st.integers(0, UNITS - 1), min_size=1), st.integers(0, 30))
def test_a_monotone_test(needed: frozenset[int], more: int) -> None:
    found, tests = swept(None, needed, UNITS + more)
    assert found == needed
    assert tests <= 2 * (UNITS + more)


@given(st.dictionaries(st.frozensets(st.integers(0, UNITS - 1)), st.booleans()))
def test_the_result_is_1_minimal_for_any_test(fails: dict[frozenset[int], bool]) -> None:
    found, _ = swept(fails, frozenset(), UNITS)
    if len(found) > 1:
        assert not any(fails[found - {unit}] for unit in found)


def test_what_it_costs() -> None:
    everything = frozenset(range(50))
    assert swept(None, everything, 50) == (everything, 50)
    assert swept(None, everything - {3}, 50) == (everything - {3}, 46 + 2 + 3 + 46)
    found, tests = swept(None, frozenset({77, 5_000, 9_900}), 10_000)
    assert found == {77, 5_000, 9_900}
    assert tests < 300, "a long stretch that is not needed costs a few tests"


def rows(count: int, *, checked: bool = True) -> RowBisection:
    return RowBisection(IntervalSet.range(0, count), checked=checked)


@given(st.frozensets(st.integers(0, 40), min_size=1), st.booleans())
def test_rows_of_a_monotone_test(needed: frozenset[int], checked: bool) -> None:
    found, tests = searched(rows(41, checked=checked), None, needed)
    assert found == needed
    _, of_bisection = searched(PrefixBisection(IntervalSet.range(0, 41)), None, needed)
    assert tests <= of_bisection + len(needed) // 5


@given(st.dictionaries(st.frozensets(st.integers(0, UNITS - 1)), st.booleans()))
def test_what_bisection_by_rows_finds_is_1_minimal_if_checked(fails: dict[frozenset[int], bool]) -> None:
    found, _ = searched(rows(UNITS), fails, frozenset())
    if len(found) > 1:
        assert not any(fails[found - {unit}] for unit in found)


def test_what_many_needed_units_cost() -> None:
    """Each is looked for near the one before, so it takes a few tests, not a bisection of all that are left."""
    scattered = frozenset(range(3, 2_000, 7))
    found, tests = searched(rows(2_000, checked=False), None, scattered)
    assert found == scattered
    assert tests <= 5 * len(scattered) + 60
    _, of_bisection = searched(PrefixBisection(IntervalSet.range(0, 2_000)), None, scattered)
    assert of_bisection > 2 * tests


def test_a_part_with_none_between_two_with_many() -> None:
    needed = frozenset((*range(0, 300, 6), *range(9_000, 9_300, 6)))
    found, tests = searched(rows(10_000, checked=False), None, needed)
    assert found == needed
    assert tests <= 5 * len(needed) + 80


def test_what_rows_cost() -> None:
    """The first needed unit takes a bisection, as do some more until the row is noticed; all others take one test."""
    row = frozenset(range(500, 540))
    found, unchecked = searched(rows(1_000, checked=False), None, row)
    assert found == row
    assert unchecked <= 7 * 10 + len(row) + 10
    _, checked = searched(rows(1_000), None, row)
    assert checked == unchecked + len(row)
    _, of_bisection = searched(PrefixBisection(IntervalSet.range(0, 1_000)), None, row)
    assert of_bisection > 3 * checked
