"""Invented inputs: the same ones each time, and the first failing one whatever the number of jobs."""

from __future__ import annotations

import pytest

from replay_dd.errors.user import ProgramNotFoundError
from replay_dd.experiment.ending import Oracle
from replay_dd.input.fuzz import Fuzzed, find_failing_input, invented
from replay_dd.input.target import Target

pytestmark = pytest.mark.once

HAS_Q = Target(("sh", "-c", "! grep -aq Q {}"), "input")


def test_inputs_follow_from_seed_and_number() -> None:
    assert invented(1, 2, 100) == invented(1, 2, 100)
    assert len({invented(seed, number, 100) for seed in range(3) for number in range(1, 9)}) == 24
    assert all(1 <= len(invented(0, number, 9)) <= 9 for number in range(1, 50))


def test_every_second_input_is_printable() -> None:
    assert all(invented(0, number, 1000).isascii() for number in range(1, 9, 2))
    assert not any(invented(0, number, 1000).isascii() for number in range(2, 20, 2))


def test_mutations_stay_near_the_source() -> None:
    source = b"".join(b"line %d of the source\n" % number for number in range(100))
    made = [invented(0, number, 1, source) for number in range(1, 30)]
    assert len({*made, source}) >= 29
    assert all(abs(len(one) - len(source)) < 8 * 64 for one in made)
    assert all(one[:200] in source or one[-200:] in source or len(one) > 1000 for one in made)


@pytest.mark.parametrize("jobs", [1, 4])
def test_the_first_failing_input_counts(jobs: int) -> None:
    numbers: list[int] = []
    fuzzed = find_failing_input(HAS_Q, Oracle(), runs=60, length=30, jobs=jobs, on_run=numbers.append)
    found = fuzzed.found
    assert found is not None
    assert b"Q" in found.content
    assert not any(b"Q" in invented(0, number, 30) for number in range(1, found.number))
    assert found.content == invented(0, found.number, 30)
    assert numbers == list(range(1, found.number + 1))
    assert fuzzed == Fuzzed(found, found.number)
    assert found.ending.words == "exit status 1"


def test_none_fails() -> None:
    numbers: list[int] = []
    fuzzed = find_failing_input(Target(("true",), "input"), Oracle(), runs=5, length=3, on_run=numbers.append)
    assert fuzzed == Fuzzed(None, 5)
    assert numbers == [1, 2, 3, 4, 5]


def test_a_time_budget_ends_it() -> None:
    fuzzed = find_failing_input(Target(("true",), "input"), Oracle(), runs=1000, length=3, jobs=2, time_budget_s=1e-9)
    assert fuzzed == Fuzzed(None, 1, "time")


def test_ctrl_c_tells_how_many_were_tried() -> None:
    def press_at_3(number: int) -> None:
        if number == 3:
            raise KeyboardInterrupt

    target = Target(("true",), "input")
    fuzzed = find_failing_input(target, Oracle(), runs=1000, length=3, jobs=2, on_run=press_at_3)
    assert fuzzed == Fuzzed(None, 3, "interrupt")
    assert find_failing_input(target, Oracle(), runs=2, length=3).tried == 2, "runs are possible after that"


def test_a_program_that_is_not_there() -> None:
    with pytest.raises(ProgramNotFoundError):
        find_failing_input(Target(("no-such-program",), "input"), Oracle(), runs=5, length=3, jobs=2)
    again = find_failing_input(Target(("true",), "input"), Oracle(), runs=2, length=3)
    assert again.found is None, "runs are possible after that"
