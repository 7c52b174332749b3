"""Objects have numbers of their own, also those that stand where another one stood before."""

from __future__ import annotations

import collections
import random
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from replay_dd.schedules.runtime.accelerator import accelerator
from replay_dd.schedules.runtime.strategies.profile import Identities

sees_deaths = pytest.mark.skipif(accelerator is None, reason="no accelerator was compiled")

# A process of its own: the destructors of both types stay taken over.
NESTED = """
from replay_dd.schedules.runtime.strategies.profile import Identities
identities = Identities()
nested = []
for _ in range(300_000):
    nested = [{"inner": nested}]
identities.number(nested)
del nested
print("gone")
"""


class Weak:
    pass


@sees_deaths
@pytest.mark.parametrize("make", [dict, list, lambda: collections.defaultdict(list), Weak])
def test_things_that_follow_each_other_have_different_numbers(make: Callable[[], Any]) -> None:
    identities = Identities()
    numbers = set()
    for _ in range(100):
        thing = make()
        numbers.add(identities.number(thing))
        assert identities.number(thing) in numbers
        del thing
    assert len(numbers) == 100


def test_another_type_at_the_same_address_has_another_number() -> None:
    identities = Identities()
    first, second = (1, 2), frozenset({1})
    number = identities.number(first)
    identities._known[id(second)] = identities._known[id(first)]  # as if it were at its address
    assert identities.number(second) != number == identities.number(first)


@sees_deaths
def test_each_keeps_its_number_while_others_come_and_go() -> None:
    identities, alone = Identities(), Identities()
    draw = random.Random(1)
    kept: list[tuple[Any, int]] = []
    given: set[int] = set()
    for _ in range(20_000):
        if draw.random() < 0.6 or not kept:
            thing: Any = draw.choice((dict, list))()
            number = identities.number(thing)
            assert number not in given
            given.add(number)
            kept.append((thing, number))
        else:
            kept.pop(draw.randrange(len(kept)))
        if kept:
            alone.number(draw.choice(kept)[0])
    assert [identities.number(thing) for thing, _ in kept] == [number for _, number in kept]
    assert len({alone.number(thing) for thing, _ in kept}) == len(kept)


@sees_deaths
def test_containers_within_containers_go_without_an_overflow() -> None:
    done = subprocess.run([sys.executable, "-c", NESTED], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "gone\n"), done.stderr
