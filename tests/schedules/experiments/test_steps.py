"""What the other threads of a conflict do, as steps to lock."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_dd.schedules.experiments.sources import Sources
from replay_dd.schedules.experiments.statements import Statements
from replay_dd.schedules.experiments.steps import steps_of_both
from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.virtual import Region
from tests.schedules.experiments.fakes import access, program_with

pytestmark = pytest.mark.once

TEXT = """\
def pop():
    if head == tail:
        return None
    return slots[tail]
def work():
    for _ in range(2):
        pop()
def push():
    head = 1
"""
HEAD, SLOT = ("attribute", 1, "head"), ("item", 2, "0")


def look(thing: tuple[str, int, str], line: int, number: int) -> Access:
    return access("0.2", ("work", 7), ("pop", line), thing=thing, number=number)


def region(function: str, first: int, last: int = 0) -> Region:
    return Region("prog.py", function, first, last or first)


def test_a_look_at_one_thing_and_then_at_the_other_is_one_step(tmp_path: Path) -> None:
    """What follows in the next round is another step: no lock has to be kept over the whole loop."""
    sources = Sources(program_with(tmp_path, prog_py=TEXT))
    looks = [look(HEAD, 2, 1), look(SLOT, 4, 2), look(HEAD, 2, 5), look(SLOT, 4, 6)]
    stores = access("0.3", ("push", 9), does="stores", thing=HEAD, number=4)
    one = access("0.1", ("push", 9), does="stores", thing=HEAD)
    sizes = steps_of_both(one, [*looks[2:], stores, *looks[:2], *looks], sources, 6)
    assert sizes[0] == [region("pop", 2, 4), region("push", 9)]
    assert sizes[1] == [region("work", 7), region("push", 9)]
    assert steps_of_both(one, [looks[0], looks[2], stores], sources, 6) == []


@pytest.mark.parametrize(
    ("text", "lines", "line", "repeats"),
    [
        ("for one in all():\n    one.use()\n", (1, 2), 2, True),
        ("for one in all():\n    one.use()\n", (2, 2), 2, False),
        ("for one in all():\n    one.use()\n", (1, 2), 1, False),  # what it goes through is found once
        ("while left():\n    take()\n", (1, 2), 1, True),
        ("total = [one.value for one in all]\n", (1, 1), 1, True),
        ("total = one() + other()\n", (1, 1), 1, True),
        ("total = one()\n", (1, 1), 1, False),
    ],
)
def test_what_may_be_called_twice_in_a_line(text: str, lines: tuple[int, int], line: int, repeats: bool) -> None:
    assert Statements(text).may_repeat(lines, line) is repeats


def test_the_steps_of_a_loop_are_many_though_it_finds_once_what_it_goes_through() -> None:
    text = "for one in all():\n    one.use()\n"
    assert Statements(text).may_repeat((1, 2), 1, steps=True)
    assert not Statements(text).may_repeat((2, 2), 1, steps=True)
