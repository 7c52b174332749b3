"""A run that goes round in a circle is recognised from its last yield points."""

from __future__ import annotations

from replay_dd.schedules.model import Place
from replay_dd.schedules.running.repeating import repeated


def place(line: int, instruction: str = "") -> Place:
    return Place("prog.py", "/prog.py", line, 0, "work", instruction, gil_reachable=True)


def test_the_shortest_circle_is_told_line_by_line() -> None:
    points = [("0.1", place(1, "a")), ("0.1", place(1, "b")), ("0.2", place(5)), ("0.1", place(2))]
    before = [("0", place(9))]
    assert repeated(before + points * 6) == (("0.1", "prog.py", 1), ("0.2", "prog.py", 5), ("0.1", "prog.py", 2))


def test_what_came_round_twice_only_is_no_circle() -> None:
    points = [("0.1", place(line)) for line in range(1, 5)]
    assert repeated(points * 2) == ()
    assert len(repeated(points * 3)) == 4


def test_one_thread_more_or_another_instruction_is_another_way() -> None:
    points = [("0.1", place(1)), ("0.1", place(2))]
    assert repeated([*points * 3, ("0.2", place(2))]) == ()
    assert repeated([*points * 2, ("0.1", place(1)), ("0.1", place(2, "other"))]) == ()


def test_an_end_that_is_the_beginning_is_told_once() -> None:
    points = [("0.1", place(1, "a")), ("0.1", place(2)), ("0.1", place(1, "b"))]
    assert repeated(points * 3) == (("0.1", "prog.py", 1), ("0.1", "prog.py", 2))


def test_yield_points_without_a_place_are_passed_over() -> None:
    assert repeated([("0.1", place(1)), ("0.1", None)] * 3) == (("0.1", "prog.py", 1),)
    assert repeated([]) == ()
