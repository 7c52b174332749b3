from __future__ import annotations

import pytest

from replay_dd.pytest_plugin.budget import Budget, seconds_of


@pytest.mark.parametrize("text, seconds", [("90", 90), ("60s", 60), ("1.5m", 90), ("2h", 7200)])
def test_lengths_of_time(text: str, seconds: float) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "0", "0s", "-1s", "ten", "10 minutes", "1d", "1e3"])
def test_what_is_no_length_of_time(text: str) -> None:
    with pytest.raises(ValueError, match="is not a length of time such as 60s"):
        seconds_of(text)


def test_without_a_total_each_test_has_its_own_time() -> None:
    assert Budget(60, None, spent_s=1e6).share_s(left=1000, expected=1000) == 60
    assert Budget(60, None).share_s(left=1000, expected=1000, test_s=5) == 5


def test_a_total_is_shared_among_as_many_tests_as_are_expected_to_start_threads() -> None:
    budget = Budget(60, 100, spent_s=20)
    assert budget.share_s(left=100, expected=15.2) == pytest.approx(5)
    assert budget.share_s(left=100, expected=1) == pytest.approx(8)
    assert budget.share_s(left=1, expected=1) == 60


def test_the_first_tests_with_threads_leave_time_for_those_that_nobody_expected() -> None:
    budget = Budget(60, 100)
    for _ in range(30):
        assert budget.share_s(left=50, expected=1) > 0
        budget.spent_s += budget.share_s(left=50, expected=1)
    assert budget.share_s(left=50, expected=1) > 0.2


def test_nothing_is_left_once_the_total_is_spent() -> None:
    assert Budget(60, 100, spent_s=101).share_s(left=3, expected=3) == 0
