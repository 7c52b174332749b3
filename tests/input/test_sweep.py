"""The search for units most of which are needed: the sweep."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from replay_dd.dd import Algorithm, IntervalSet
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
