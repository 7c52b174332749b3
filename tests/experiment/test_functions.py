from __future__ import annotations

import subprocess
import sys
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any

import pytest

import replay_dd
from replay_dd.dd import IntervalSet
from replay_dd.errors.program import DoesNotFailError, DoesNotPassError
from replay_dd.errors.user import ArgumentError, NotAnOutcomeError, PassNotContainedError
from replay_dd.experiment.functions import dd, dd1999, ddmax, ddmin, ddplus, prefix_bisection, simplify
from replay_dd.outcome import Outcome
from tests.dd.support import SELECT, F, P, U, parse, select_fails


class OnlyIndexed:
    """No sequence: it does not know its length."""

    def __getitem__(self, index: int) -> int:
        return index


class Indexed(OnlyIndexed):
    """A sequence, though it does not say so."""

    def __len__(self) -> int:
        return 5

    def __iter__(self) -> Any:
        return iter(range(5))


class HasKeys(Indexed):
    """Its index is a key, not a position."""

    def keys(self) -> list[str]:
        return []


ALL: list[Any] = [dd, ddmax, dd1999, ddplus, ddmin, prefix_bisection, simplify]


def test_the_functions_for_scripts_speak_of_the_items_of_their_caller() -> None:
    isolated = dd(select_fails, None, SELECT)
    assert (isolated.passing, isolated.failing, isolated.difference) == (SELECT[1:], SELECT, "<")
    assert (isolated.requested, isolated.executed, isolated.complete) == (10, 5, True)
    assert ddmin(select_fails, SELECT).failing == "<SELECT>"
    assert ddmin(select_fails, SELECT, order="complements-only", split="round").requested == 48
    assert prefix_bisection(select_fails, SELECT, jobs=3).failing == "<SELECT>"
    assert simplify(select_fails, SELECT, jobs=3).failing == "<SELECT>"
    assert ddmax(select_fails, "", SELECT).difference == "<"
    assert dd1999(select_fails, "", SELECT).difference == "<SELECT>"
    assert ddplus(select_fails, "", SELECT).difference == "<SELECT>"


@pytest.mark.parametrize("kind", [list, tuple, bytes])
def test_a_test_sees_the_kind_of_sequence_that_was_given(kind: Callable[[list[int]], Any]) -> None:
    def test(items: Any) -> Outcome:
        assert type(items) is kind
        return F if 4 in items and 7 in items else P

    result = ddmin(test, kind([9, 4, 4, 5, 7, 1]))
    assert result.failing == kind([4, 7])
    assert result.passing == kind([])


def test_other_sequences_are_seen_as_lists() -> None:
    def test(items: list[int]) -> Outcome:
        assert type(items) is list
        return F if 4 in items else P

    assert ddmin(test, deque([9, 4, 5])).failing == [4]  # type: ignore[call-overload]
    assert dd(test, deque([9]), deque([9, 4, 5])).difference == [4]  # type: ignore[call-overload]
    assert ddmin(test, Indexed()).failing == [4]


def test_a_range_stays_a_set_of_intervals() -> None:
    n = 3_842_577_240
    result = dd(lambda numbers: F if 123_456_789 in numbers else P, range(0), range(n))
    assert result.difference == parse("123456789")
    assert result.executed <= 32


def test_a_passing_case_is_found_inside_the_failing_one() -> None:
    result = dd(lambda text: F if "x" in text else P, "abc", "a-b-x-c")
    assert result.difference == "x"
    assert result.passing.replace("-", "") == "abc"
    with pytest.raises(PassNotContainedError, match="'z'"):
        dd(lambda text: P, "az", "abc")
    with pytest.raises(PassNotContainedError):
        dd(lambda numbers: P, range(5, 9), range(8))


def test_the_end_points_are_tested_first() -> None:
    with pytest.raises(DoesNotFailError) as not_failing:
        ddmin(lambda text: P, "abc")
    assert (not_failing.value.slug, not_failing.value.exit_code) == ("does-not-fail", 3)
    assert "alone" in not_failing.value.hint
    with pytest.raises(DoesNotPassError) as not_passing:
        dd(lambda text: F, None, "abc")
    assert (not_passing.value.slug, not_passing.value.exit_code) == ("does-not-pass", 3)
    with pytest.raises(DoesNotFailError):
        dd(lambda text: P, "abc", "abc")
    with pytest.raises(DoesNotPassError):
        dd(lambda text: F if "b" in text else U, None, "abc")
    assert ddmin(lambda text: F if "b" in text else U, "abc").failing == "b", "ddmin only needs that nothing fails not"


def test_options_of_the_functions_for_scripts() -> None:
    seen: list[str] = []

    def test(text: str) -> Outcome:
        seen.append(text)
        return F if "c" in text and "f" in text else P

    reported: list[Any] = []
    result = ddmin(
        test, "abcdefgh", monotone=True, predict=lambda text: U if text == "abcd" else None, on_test=reported.append
    )
    assert result.failing == "cf"
    assert "abcd" not in seen
    assert len(seen) == len(reported) + 2 == result.executed + 2
    assert ddmin(test, "abcdefgh", max_tests=1).search.stopped_by == "tests"
    assert ddmin(test, "abcdefgh", time_limit_s=0).search.stopped_by == "time"


def test_the_package_gives_the_functions_and_loads_them_when_used() -> None:
    assert replay_dd.ddmin is ddmin
    assert replay_dd.isolate is dd
    assert all(getattr(replay_dd, name) is not None for name in replay_dd.__all__)
    with pytest.raises(AttributeError):
        _ = replay_dd.no_such_thing
    program = "import sys, replay_dd; print([m for m in sys.modules if m.startswith('replay_dd.')])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("kind", [set, frozenset])
def test_sets(kind: Callable[[str], Any]) -> None:
    seen = []

    def test(items: Any) -> Outcome:
        assert type(items) is kind
        seen.append(items)
        return F if {"b", "e"} <= items else P

    assert ddmin(test, kind("fedcba")).failing == kind("be")
    # Sorted order decides what is tested, not hash order: first nothing, then all, then the first half.
    assert seen[:3] == [kind(""), kind("abcdef"), kind("abc")]
    result = dd(test, kind("bd"), kind("abcdef"))
    assert result.difference == kind("e")
    assert kind("bd") <= result.passing
    with pytest.raises(PassNotContainedError, match="lacks 'w', 'x', 'y' and 1 more of"):
        dd(test, kind("azyxw"), kind("abcdef"))


def test_dictionaries() -> None:
    settings = OrderedDict(zebra=1, cache=2, apple=3, fast=4)
    seen = []

    def test(some: dict[str, int]) -> Outcome:
        assert type(some) is dict
        seen.append(list(some))
        return F if some.get("cache") == 2 and "fast" in some else P

    assert ddmin(test, dict(settings)).failing == {"cache": 2, "fast": 4}
    assert seen[2] == ["zebra", "cache"], "in the order of insertion"
    assert dd(test, {"fast": 4, "zebra": 1}, settings).difference == {"cache": 2}
    with pytest.raises(PassNotContainedError, match="lacks 'fast' of the passing case, or has another value"):
        dd(test, {"fast": 5}, settings)
    with pytest.raises(PassNotContainedError, match="'slow'"):
        dd(test, {"slow": 5}, settings)


@pytest.mark.parametrize(
    ("items", "told"),
    [
        ((letter for letter in "abc"), "a generator can be read only once"),
        (iter([1, 2]), "a list_iterator can be read only once"),
        ({1, "a"}, "cannot be sorted: '<' not supported"),
        ({frozenset("a"), frozenset("b")}, "cannot be sorted: they have no total order"),
        ({float("nan"), 1.0}, "cannot be sorted: they have no total order"),
        (7, "an int cannot be taken apart"),
        (OnlyIndexed(), "an OnlyIndexed cannot be taken apart"),
        (HasKeys(), "a HasKeys cannot be taken apart"),
        (Outcome.PASS, "an Outcome cannot be taken apart"),
    ],
)
def test_what_cannot_be_taken_apart_is_refused_in_words(items: Any, told: str) -> None:
    with pytest.raises(ArgumentError, match=told) as caught:
        ddmin(lambda some: F, items)
    assert caught.value.slug == "argument"
    assert caught.value.hint
    assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize(
    ("passing", "failing"),
    [
        (b"a", "abc"),
        (b"", "abc"),
        ("a", b"abc"),
        (["a"], "abc"),
        ("a", ["a", "b"]),
        ({"a"}, ["a", "b"]),
        (["a"], {"a", "b"}),
        ({"a"}, {"a": 1}),
        ([("a", 1)], {"a": 1}),
        ("12", range(3)),
        ({"a": 1}, range(3)),
        ("12", range(0, 9, 2)),
        (["1"], IntervalSet.range(0, 3)),
        (5, "abc"),
    ],
)
def test_two_cases_must_be_of_one_kind(passing: Any, failing: Any) -> None:
    with pytest.raises(ArgumentError, match="they must be of one kind") as caught:
        dd(lambda some: F, passing, failing)
    assert f"of type {type(passing).__name__} and the failing case of type" in caught.value.message


def test_kinds_that_go_together() -> None:
    def test(items: Any) -> Outcome:
        return F if 3 in items else P

    for passing in ([1], (1,), deque([1])):
        for failing in ([1, 2, 3], (1, 2, 3)):
            result = dd(test, passing, failing)
            assert result.difference == type(failing)([3])
    for passing in ([1], range(1, 2), IntervalSet.range(1, 2), {1}, (1,)):
        for numbers in (range(1, 4), IntervalSet.range(1, 4), range(3, 0, -1), range(1, 4, 2)):
            assert dd(test, passing, numbers).difference == IntervalSet.range(3, 4)
    both = dd(test, b"\1", bytearray(b"\1\2\3"))
    assert type(both.failing) is bytearray
    assert both.difference == bytearray(b"\3")
    assert type(dd(test, bytearray(b"\1"), b"\1\2\3").failing) is bytes


def test_elements_that_do_not_equal_themselves_are_found() -> None:
    nan = float("nan")
    assert dd(lambda items: F if 2.0 in items else P, [nan], [nan, 2.0]).difference == [2.0]


def test_each_element_of_the_passing_case_needs_one_of_its_own() -> None:
    with pytest.raises(PassNotContainedError, match="element 1 of the passing case, 'a'"):
        dd(lambda items: P, ["a", "a"], ["a", "b"])
    with pytest.raises(PassNotContainedError):
        dd(lambda items: P, "ba", "ab")
    assert dd(lambda items: F if "b" in items else P, ["a", "a"], ["a", "b", "a"]).difference == ["b"]


def test_stepped_ranges_cost_nothing() -> None:
    numbers = range(0, 4_000_000_000, 2)

    def test(some: IntervalSet) -> Outcome:
        assert isinstance(some, IntervalSet)
        return F if 123_456_780 in some else P

    result = ddmin(test, numbers)
    assert result.failing == parse("123456780")
    assert dd(test, range(0, 100, 2), numbers).difference == parse("123456780")
    assert dd(test, range(0, 100, 4), range(0, 123_456_800, 2)).difference == parse("123456780")
    assert dd(test, range(98, -1, -2), numbers[::-1]).difference == parse("123456780")
    assert dd(test, range(0), numbers).difference == parse("123456780")
    with pytest.raises(PassNotContainedError, match="3 is not in range"):
        dd(test, [2, 3], numbers)
    with pytest.raises(PassNotContainedError, match="3 is not in range"):
        dd(test, range(0, 7, 3), numbers)
    with pytest.raises(PassNotContainedError):
        dd(test, range(-2, 4, 2), numbers)
    with pytest.raises(PassNotContainedError):
        dd(test, range(0, 4_000_000_002, 4_000_000_000), numbers)


def test_the_positions_of_a_stepped_range_within_another() -> None:
    for passing in (range(4, 20, 4), range(16, 3, -4), [4, 8, 12, 16]):
        result = dd(lambda some: F if 6 in some else P, passing, range(0, 40, 2), max_tests=0)
        assert list(result.passing) == [4, 8, 12, 16]
        assert result.search.c_pass == parse("2 4 6 8")


@pytest.mark.parametrize("returned", [None, True, False, "FAIL", 1, 0, [Outcome.FAIL], Outcome])
@pytest.mark.parametrize("jobs", [1, 3])
def test_only_an_outcome_is_an_outcome(returned: Any, jobs: int) -> None:
    with pytest.raises(NotAnOutcomeError) as caught:
        ddmin(lambda text: returned, "abc", jobs=jobs)
    assert repr(returned)[:10] in caught.value.message
    assert caught.value.slug == "not-an-outcome"
    assert "Outcome.FAIL" in caught.value.hint


@pytest.mark.parametrize("jobs", [1, 3])
def test_what_comes_later_must_be_an_outcome_as_well(jobs: int) -> None:
    def test(text: str) -> Any:
        return P if not text else F if text == "abcd" else None

    with pytest.raises(NotAnOutcomeError, match="returned None"):
        ddmax(test, None, "abcd", jobs=jobs)


def test_a_test_must_not_be_asynchronous() -> None:
    async def test(text: str) -> Outcome:
        return F

    with pytest.raises(NotAnOutcomeError, match="a coroutine") as caught:
        ddmin(test, "abc")  # type: ignore[call-overload]
    assert "asyncio.run" in caught.value.hint


@pytest.mark.parametrize("function", ALL)
def test_unknown_options_are_named_with_the_known_ones(function: Any) -> None:
    ends = ("abc",) if function in (ddmin, prefix_bisection, simplify) else (None, "abc")
    with pytest.raises(
        ArgumentError, match=rf"{function.__name__}\(\) has no option 'job'; did you mean 'jobs'\?"
    ) as caught:
        function(lambda text: F, *ends, job=3)
    known = caught.value.hint
    assert "executor, jobs, max_tests, monotone, on_test" in known
    assert ("split" in known) == (function not in (prefix_bisection, simplify))
    assert ("order" in known) == (function in (ddmin, ddmax))
    assert ("carry_offset" in known) == (function is dd)
    with pytest.raises(ArgumentError, match=r"has no option 'zzzzz'$"):
        function(lambda text: F, *ends, zzzzz=3)


def test_other_arguments_that_cannot_be_right() -> None:
    with pytest.raises(ArgumentError, match="the test is 'abc'"):
        ddmin("abc", "abc")  # type: ignore[call-overload]
    with pytest.raises(ArgumentError, match="executor is 4"):
        ddmin(lambda text: F, "abc", executor=4)  # type: ignore[call-overload]
    with pytest.raises(ArgumentError, match=r"dd\(\) was given no failing case"):
        dd(lambda text: F, "abc")  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="jobs"):
        ddmin(lambda text: F if text else P, "abc", jobs=0)


@pytest.mark.parametrize("function", [ddmin, prefix_bisection, simplify])
def test_what_fails_without_anything_is_simplified_to_nothing(function: Any) -> None:
    seen = []

    def test(text: str) -> Outcome:
        seen.append(text)
        return F

    result = function(test, "abc")
    assert (result.failing, result.difference, result.passing) == ("", "", "")
    assert (result.complete, result.executed, result.requested) == (True, 0, 0)
    assert result.search.stopped_by is None
    assert result.search.statistics == ()
    assert seen == ["", "abc"]
    assert function(test, "").failing == ""
    # As in the Debugging Book, only if all of it fails as well.
    with pytest.raises(DoesNotFailError):
        function(lambda text: P if text else F, "abc")
    with pytest.raises(DoesNotFailError):
        function(lambda text: P, "")


def test_the_offset_is_carried_unless_told_otherwise() -> None:
    def test(items: IntervalSet) -> Outcome:
        return P if not items else F if items in (parse("0 2"), parse("0-2")) else U

    # The move that leaves {0, 2} was at the second of three parts: is the next round to begin there?
    left = {True: [parse("0"), parse("2")], False: [parse("2"), parse("0")]}
    for carried in (True, False):
        steps = dd(test, None, range(3), carry_offset=carried).search.statistics
        moved = [step.deltas_left for step in steps].index(2)
        asked = [step.configuration for step in steps[moved + 1 :]]
        assert list(dict.fromkeys(asked)) == left[carried]
    assert dd(test, None, range(3)).search.statistics == dd(test, None, range(3), carry_offset=True).search.statistics
