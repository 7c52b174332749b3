"""Locks that were made twice, so that each thread has its own."""

from __future__ import annotations

from replay_dd.schedules.observed.observation import Observation
from replay_dd.schedules.story.conflict import Conflict
from replay_dd.schedules.story.twin_guards import of_making, twin_guards
from tests.schedules.story.made_accesses import access, conflict_of, number

UNDER_ONE = access("0.1", 4, 4, "reads", held=(8,))
UNDER_OTHER = access("0.2", 1, 5, "stores", held=(9,))
STORES = access("0.1", 5, 9, "stores", held=(8,))


def torn(*, other: tuple[int, ...] = (9,)) -> Conflict:
    return conflict_of([UNDER_ONE, UNDER_OTHER._replace(held=other), STORES], 5, 5)


def seen(names: dict[int, str]) -> Observation:
    return Observation((), names)


def test_two_locks_got_from_one_place_are_twins() -> None:
    twins = {8: "Cache.lock", 9: "Cache.lock"}
    assert twin_guards(torn(), seen(twins)) == {8, 9}
    assert twin_guards(torn(), seen({8: "Cache.lock", 9: "Cache.other"})) == frozenset()
    assert twin_guards(torn(other=(8,)), seen(twins)) == frozenset(), "one lock keeps them apart"
    assert twin_guards(torn(other=()), seen(twins)) == frozenset()
    assert twin_guards(torn(), seen({})) == frozenset(), "locks without a name"


def test_to_take_a_lock_is_no_part_of_making_it() -> None:
    made = access("0.2", 1, 5, "stores", new=number("lock"))
    taken = access("0.2", 2, 6, "reads")
    conflict = conflict_of([access("0.1", 4, 4, "reads"), made, taken, STORES], 5, 5)
    assert conflict.right is not None
    assert [one.does for one in conflict.right.others] == ["stores", "reads"]
    right = of_making(conflict).right
    assert right is not None
    assert [one.does for one in right.others] == ["stores"]
    only_taken = replace_others(conflict, 1)
    assert of_making(only_taken) == only_taken


def replace_others(conflict: Conflict, first: int) -> Conflict:
    assert conflict.right is not None
    return conflict._replace(right=conflict.right._replace(others=conflict.right.others[first:]))
