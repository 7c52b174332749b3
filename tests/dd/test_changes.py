from __future__ import annotations

import random
from collections import deque
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from replay_dd import Change, deltas_between, isolate
from replay_dd.dd import EMPTY, IntervalSet
from replay_dd.dd.alignment import ANCHOR_LENGTHS, MOST_EDITS, align
from replay_dd.errors.user import ArgumentError
from replay_dd.experiment.functions import dd1999, ddmax, ddmin, ddplus, prefix_bisection
from replay_dd.outcome import Outcome
from tests.dd.support import F, P, parse

texts = st.text("abc", max_size=14)


def longest_common(left: str, right: str) -> int:
    best = [0] * (len(right) + 1)
    for letter in left:
        before = 0
        for at, other in enumerate(right, 1):
            before, best[at] = best[at], before + 1 if letter == other else max(best[at], best[at - 1])
    return best[-1]


def check(left: Any, right: Any) -> int:
    """That an alignment is one; how many elements it has in common."""
    done_left = done_right = 0
    matches = align(left, right)
    for at_left, at_right, length in matches:
        assert length > 0
        assert at_left >= done_left
        assert at_right >= done_right
        assert (at_left, at_right) != (done_left, done_right) or not at_left, "two stretches touch"
        assert left[at_left : at_left + length] == right[at_right : at_right + length]
        done_left, done_right = at_left + length, at_right + length
    assert done_left <= len(left)
    assert done_right <= len(right)
    return sum(match.length for match in matches)


@given(texts, texts)
@settings(max_examples=200)
@example("", "")
@example("a", "")
def test_few_changes_are_found_as_few_as_can_be(left: str, right: str) -> None:
    assert check(left, right) == longest_common(left, right)


@given(texts, texts, st.sets(st.integers(0, 30)))
@settings(max_examples=200)
def test_every_subset_of_the_changes_gives_a_mixture(before: str, after: str, chosen: set[int]) -> None:
    changes = deltas_between(before, after)
    assert changes.apply(EMPTY) == before
    assert changes.apply(changes.all) == after
    assert len(changes) == changes.all.count == len(list(changes))
    some = IntervalSet.of(chosen) & changes.all
    # One change at a time, from the last one, so that positions stay what they were.
    expected = before
    for number in sorted(some, reverse=True):
        change = changes[number]
        end = change.position + len(change.removed)
        assert expected[change.position : end] == change.removed
        assert len(change.removed) <= 1
        assert len(change.inserted) <= 1
        assert change.removed != change.inserted
        expected = expected[: change.position] + change.inserted + expected[end:]
    assert changes.apply(some) == changes.build(some) == expected
    assert changes.difference(some) == tuple(changes[number] for number in some)


def test_a_change_says_what_goes_and_what_comes() -> None:
    changes = deltas_between("the old cat sat", "the new cat sat down")
    assert list(changes) == [
        Change(4, "o", "n"),
        Change(5, "l", "e"),
        Change(6, "d", "w"),
        *(Change(15, "", letter) for letter in " down"),
    ]
    assert changes.apply(parse("0-2")) == "the new cat sat"
    assert changes.apply(parse("0 3-7")) == "the nld cat sat down"
    assert repr(changes) == "<8 changes from 15 to 20 elements>"
    assert (changes.before, changes.after) == ("the old cat sat", "the new cat sat down")
    assert list(deltas_between("abcd", "ad")) == [Change(1, "b", ""), Change(2, "c", "")]
    for outside in (parse("8"), parse("7-8"), IntervalSet.range(-1, 1)):
        with pytest.raises(IndexError):
            changes.apply(outside)


def test_what_is_contained_is_only_added_to() -> None:
    before = [1, 2, 3, 4]
    assert all(not change.removed for change in deltas_between(before, [0, 1, 7, 2, 3, 8, 9, 4]))


@pytest.mark.parametrize("length", [*ANCHOR_LENGTHS, 3])
def test_many_changes_are_anchored_at_what_occurs_once(length: int) -> None:
    # Stretches of that length are kept, between more changes than are counted exactly; none occurs twice.
    kept = [[f"{number}.{place}" for place in range(length)] for number in range(MOST_EDITS)]
    left: list[str] = []
    right: list[str] = []
    for number, stretch in enumerate(kept):
        left += [*stretch, f"left {number}", "often"]
        right += [*stretch, f"right {number}", "often", f"more {number}"]
    assert check(left, right) == MOST_EDITS * (length + 1)


def test_more_edits_than_are_counted_exactly() -> None:
    # No stretch occurs once, and both sides differ everywhere: what stands at the same place is compared.
    left = ["ab"[number % 2] for number in range(4 * MOST_EDITS)]
    right = ["cb"[number % 2] for number in range(4 * MOST_EDITS)]
    assert check(left, right) == 2 * MOST_EDITS
    # A part of another length is no reason to give up what surrounds it.
    assert check("x" * 3000, "x" * 1000) == 1000
    assert check("<" + "x" * 3000 + ">", "<" + "y" * 1000 + ">") == 2


@given(st.integers(0, 2**32), st.integers(0, 400))
@settings(max_examples=25)
def test_alignments_of_long_sequences_are_alignments(seed: int, edits: int) -> None:
    chance = random.Random(seed)
    left = chance.choices("abcdefgh", k=1500)
    right = list(left)
    for _ in range(edits):
        place = chance.randrange(len(right))
        right[place : place + chance.randrange(3)] = chance.choices("abcdefgh", k=chance.randrange(3))
    common = check(left, right)
    assert common >= len(left) - 4 * edits
    assert align(left, right) == align(left, right)


def test_effort_is_limited() -> None:
    # Quadratic alignment of these would take hours: they are answered within the time limit of a test.
    chance = random.Random(1)
    numbers = list(range(20_000))
    shuffled = chance.sample(numbers, len(numbers))
    changes = deltas_between(numbers, shuffled)
    assert changes.apply(changes.all) == shuffled
    assert check("ab" * 10_000, "ba" * 10_000) == 19_999
    assert check(numbers, numbers[10_000:] + numbers[:10_000]) == 10_000
    left, right = (chance.choices("acgt", k=20_000) for _ in range(2))
    assert check(left, right) >= 3_000


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"abc", b"axc"),
        (bytearray(b"abc"), b"axc"),
        ([1, [2], {3: 4}], [1, [5], {3: 4}]),
        ((1, 2, 3), [1, 9, 3]),
        ([1, 0], [True, False]),
        ([1.0], [1]),
        ([], [1]),
    ],
)
def test_kinds(before: Any, after: Any) -> None:
    changes = deltas_between(before, after)
    mixed = changes.apply(changes.all)
    assert type(mixed) is type(before)
    assert list(map(repr, mixed)) == list(map(repr, after))
    assert changes.apply(EMPTY) == before


def test_other_sequences_become_lists() -> None:
    changes = deltas_between(deque("abc"), deque("adc"))
    assert changes.apply(changes.all) == ["a", "d", "c"]


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("abc", b"abc", "they must be of one kind"),
        ("abc", ["a"], "they must be of one kind"),
        ({1}, [1], "set is not one"),
        ([1], {1: 2}, "dict is not one"),
        (range(4), range(5), "range is not one"),
        (1, 2, "int is not one"),
    ],
)
def test_what_cannot_be_aligned_is_refused_in_words(before: Any, after: Any, told: str) -> None:
    with pytest.raises(ArgumentError, match=told) as caught:
        deltas_between(before, after)
    assert caught.value.hint


def test_the_hint_fits_the_kind() -> None:
    for case, advice in (({1}, "sorted(...)"), ({1: 2}, "list(settings.items())"), (range(3), "list(...)")):
        with pytest.raises(ArgumentError) as caught:
            deltas_between(case, case)  # type: ignore[call-overload]
        assert advice in caught.value.hint


def test_every_function_takes_a_difference_in_the_place_of_a_collection() -> None:
    before, after = "retries = 3\ntimeout = 10\n", "retry = 3\ntimeout = 99\nfast = yes\n"

    def test(text: str) -> Outcome:
        return F if "timeout = 99" in text else P

    changes = deltas_between(before, after)
    nines = {Change(22, "1", "9"), Change(23, "0", "9")}
    isolated = isolate(test, changes)
    assert set(isolated.difference) < nines
    assert (test(isolated.passing), test(isolated.failing)) == (P, F)
    assert ddmin(test, changes).failing == before.replace("10", "99")
    assert set(ddmin(test, changes).difference) == nines
    assert ddmin(test, changes).passing == before
    assert prefix_bisection(test, changes).difference == ddmin(test, changes).difference
    assert set(dd1999(test, changes).difference) == set(ddplus(test, changes).difference) == nines
    assert set(ddmax(test, changes).difference) < nines
    assert ddmax(test, changes).failing == after
    assert "they" not in ddmin(test, changes, predict=lambda text: None).failing


def test_a_difference_stands_alone() -> None:
    changes = deltas_between("a", "b")
    for ends in (("a", changes), (changes, "b")):
        with pytest.raises(ArgumentError) as caught:
            isolate(lambda text: P, *ends)  # type: ignore[call-overload]
        assert "deltas_between(passing, failing)" in caught.value.hint
