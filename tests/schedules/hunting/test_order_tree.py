"""Every order of events is run once, and then it is known that there are no others."""

from __future__ import annotations

from math import comb

import pytest

from replay_dd.schedules.hunting.order_tree import Drawn, OrderTree
from replay_dd.schedules.runtime.splitmix import Generator

pytestmark = pytest.mark.once


def simulated(counts: dict[str, int], first: tuple[str, ...], seed: int) -> Drawn:
    """The draws of a run: a thread is a candidate as long as it has events; of one there is no draw."""
    left, drawn, random = dict(counts), [], Generator(seed)
    while sum(count > 0 for count in left.values()) > 1:
        candidates = [name for name, count in left.items() if count]
        number = len(drawn)
        chosen = first[number] if number < len(first) else candidates[random.below(len(candidates))]
        left[chosen] -= 1
        drawn.append((chosen, candidates))
    return drawn


@pytest.mark.parametrize("estimate", [{}, {"0.1": 3, "0.2": 4}, {"0.1": 90}])
def test_each_order_comes_once_whatever_the_estimate(estimate: dict[str, int]) -> None:
    counts = {"0.1": 3, "0.2": 4}
    tree, met = OrderTree(estimate), set()
    for number in range(comb(7, 3)):
        assert not tree.exhausted
        first = tree.next(Generator(number))
        assert first is not None
        drawn = simulated(counts, first, number)
        tree.take(first, drawn)
        met.add(tuple(chosen for chosen, _ in drawn))
    assert len(met) == tree.orders == comb(7, 3)
    assert tree.exhausted
    assert tree.next(Generator(1)) is None


def test_runs_that_are_still_to_come_do_not_hide_orders() -> None:
    counts = {"0.1": 2, "0.2": 2, "0.3": 1}
    tree, waiting, met = OrderTree(counts), [], set()
    for number in range(200):
        first = tree.next(Generator(number))
        if first is None:
            break
        waiting.append(first)
        if len(waiting) > 4:
            drawn = simulated(counts, waiting[0], number)
            tree.take(waiting.pop(0), drawn)
            met.add(tuple(chosen for chosen, _ in drawn))
    assert len(met) == tree.orders == 30
    assert tree.exhausted


def test_threads_that_never_meet_have_one_order() -> None:
    tree = OrderTree({})
    first = tree.next(Generator(1))
    assert first == ()
    tree.take(first, [])
    assert tree.exhausted
    assert tree.orders == 1
