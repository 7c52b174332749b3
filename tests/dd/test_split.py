from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay_dd.dd import DD, EMPTY, SPLIT_RULES, DDMin, IntervalSet, split_by_groups, split_by_sizes
from replay_dd.dd.split import partition, splitter_named
from replay_dd.errors.user import NotAPartitionError
from tests.dd.support import F, P, U, is_1_minimal, parse, run, with_ends

LONGEST = 40


def sizes(rule: str, length: int, n: int) -> list[int]:
    return [part.count for part in SPLIT_RULES[rule](IntervalSet.range(0, length), n)]


def literal_sizes(rule: str, length: int, n: int) -> list[int]:
    """The rules as their sources state them: step by step, or by slices."""
    if rule == "front":
        return [length // n + (part < length % n) for part in range(n)]
    if rule == "slices":
        return [len(range(length)[start : start + length // n]) for start in range(0, length, length // n)]
    found, start = [], 0
    for part in range(n):
        rounding = 0.5 if rule == "round" else 0
        found.append(int((length - start) / (n - part) + rounding))
        start += found[-1]
    return found


@pytest.mark.parametrize("rule", SPLIT_RULES)
def test_each_rule_is_the_one_of_its_source(rule: str) -> None:
    for length in range(2, LONGEST):
        for n in range(2, length + 1):
            assert sizes(rule, length, n) == literal_sizes(rule, length, n), (length, n)


def test_examples_of_the_literature() -> None:
    assert sizes("floor", 5, 2) == [2, 3]
    assert sizes("round", 5, 2) == [3, 2]
    assert sizes("front", 7, 3) == [3, 2, 2]
    assert sizes("slices", 26, 4) == [6, 6, 6, 6, 2]


@given(st.sampled_from(sorted(SPLIT_RULES)), st.sets(st.integers(0, 60), min_size=2), st.data())
def test_parts_are_consecutive_and_complete(rule: str, elements: set[int], data: st.DataObject) -> None:
    n = data.draw(st.integers(2, len(elements)))
    parts = SPLIT_RULES[rule](IntervalSet.of(elements), n)
    assert [element for part in parts for element in part] == sorted(elements)
    assert all(parts)
    assert parts[-1] == parts[len(parts) - 1]
    assert list(parts[1:]) == list(parts)[1:]
    with pytest.raises(IndexError):
        parts[len(parts)]


def test_a_thousand_million_parts_cost_nothing_until_they_are_looked_at() -> None:
    everything = IntervalSet.range(0, 3_842_577_240)
    parts = SPLIT_RULES["floor"](everything, 1_000_000_000)
    assert len(parts) == 1_000_000_000
    assert parts[0] == IntervalSet.range(0, 3)
    assert parts[999_999_999].last == everything.last


def test_groups_stay_whole_until_each_part_is_one_group() -> None:
    groups = [parse("0-4"), [5, 6], parse("7-9 20")]
    split = split_by_groups(groups)
    everything = parse("0-10 20")
    assert list(split(everything, 2)) == [parse("0-6"), parse("7-10 20")]
    assert list(split(everything, 4)) == [parse("0-4"), parse("5-6"), parse("7-9 20"), parse("10")]
    assert list(split(everything, 5)) == list(split(everything, 4)), "more parts than groups, but not twice as many"
    assert list(split(everything, 8)) == [
        parse("0-1"),
        parse("2-4"),
        parse("5"),
        parse("6"),
        parse("7-8"),
        parse("9 20"),
        parse("10"),
    ]
    with pytest.raises(NotAPartitionError):
        split_by_groups([[1, 2], [2, 3]])


def test_grouping_saves_tests_where_groups_only_work_together() -> None:
    # Changes 2, 3 and 7 imply each other; 8 is the cause (ESEC/FSE 1999, table 5 and section 6).
    def oracle(configuration: IntervalSet) -> object:
        torn = 0 < (configuration & parse("2-3 7")).count < 3
        return U if torn else F if 8 in configuration else P

    apart = run(with_ends(DDMin(parse("1-8"))), oracle)  # type: ignore[arg-type]
    grouped = run(with_ends(DDMin(parse("1-8"), split=split_by_groups([[2, 3, 7]]))), oracle)  # type: ignore[arg-type]
    assert apart.best.c_fail == grouped.best.c_fail == parse("8")
    assert grouped.executed < apart.executed


@given(st.lists(st.sets(st.integers(0, 11), min_size=1), max_size=4), st.sets(st.integers(0, 11), min_size=1))
def test_results_are_1_minimal_with_any_groups(groups: list[set[int]], needed: set[int]) -> None:
    apart: list[set[int]] = []
    for group in groups:
        apart.append(group - set().union(*apart))
    split = split_by_groups([group for group in apart if group])
    cause = IntervalSet.of(needed)

    def oracle(configuration: IntervalSet) -> object:
        return F if cause <= configuration else U if configuration & cause else P

    universe = IntervalSet.range(0, 12)
    for order in ("subsets-first", "complements-only", "sweep"):
        search = run(with_ends(DDMin(universe, order=order, split=split)), oracle)  # type: ignore[arg-type]
        assert search.best.c_fail == cause
    search = run(with_ends(DD(EMPTY, universe, split=split)), oracle)  # type: ignore[arg-type]
    assert is_1_minimal(search.best.difference, oracle, search.best.c_pass)  # type: ignore[arg-type]


def test_sizes_as_data() -> None:
    split = split_by_sizes({(7, 2): [6, 1]}, otherwise="floor")
    assert [part.count for part in split(IntervalSet.range(0, 7), 2)] == [6, 1]
    assert [part.count for part in split(IntervalSet.range(0, 7), 3)] == [2, 2, 3]


@pytest.mark.parametrize(
    "broken",
    [
        lambda deltas, n: [deltas, deltas],
        lambda deltas, n: [deltas.take(1)],
        lambda deltas, n: [deltas, EMPTY],
        lambda deltas, n: [deltas | IntervalSet.range(100, 101)],
        lambda deltas, n: [deltas.take(1), IntervalSet.range(50, 50 + deltas.count - 1)],
    ],
)
def test_a_broken_split_function_is_told(broken: object) -> None:
    with pytest.raises(NotAPartitionError) as caught:
        DD(EMPTY, IntervalSet.range(0, 6), split=broken)  # type: ignore[arg-type]
    assert caught.value.slug == "not-a-partition"


def test_a_split_function_that_never_gives_single_deltas_does_not_spoil_the_result() -> None:
    def stubborn(deltas: IntervalSet, n: int) -> list[IntervalSet]:
        return deltas.split([1, deltas.count - 1])  # type: ignore[return-value]

    cause = parse("2 5")
    for order in ("subsets-first", "complements-only", "sweep"):
        algorithm = DDMin(IntervalSet.range(0, 8), order=order, split=stubborn)
        search = run(with_ends(algorithm), lambda configuration: F if cause <= configuration else P)
        assert search.best.c_fail == cause


def test_rules_are_found_by_name() -> None:
    assert splitter_named("round") is SPLIT_RULES["round"]
    with pytest.raises(ValueError, match="floor, round, front, slices"):
        splitter_named("halves")
    assert [part.count for part in partition(SPLIT_RULES["floor"], IntervalSet.range(0, 3), 7)] == [1, 1, 1]
