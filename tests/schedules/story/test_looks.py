"""Conflicts that a look shows which found another value than in the passing run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from replay_dd.schedules.isolating.answer import GuiltySwitch
from replay_dd.schedules.model import Switch
from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.story.kinds import kind_of
from replay_dd.schedules.story.looks import conflict_of_choice, with_early_look
from tests.schedules.logs import PASSED
from tests.schedules.story.made_accesses import Y, access, conflict_of, number
from tests.schedules.story.test_victim import seen

JOIN = Switch("0", 9, "0.3", True, False, None, 2, 2)


def started_in_order(order: list[str], found: int) -> Observation:
    """Thread 0.3 stores what thread 0.1 looks at, and the main thread looks at something else at the end."""
    stores = [access("0.3", 1, 3, "stores", new=number(2)), access("0.3", 2, 4, "stores", Y)]
    looks = [access("0.1", 1, 5, "reads", old=number(found))]
    parts = {"0.3": stores, "0.1": looks}
    start, end = access("0", 8, 1, "reads", Y), access("0", 10, 9, "reads", Y)
    return seen(start, *(one for name in order for one in parts[name]), end)


def choice(**more: object) -> GuiltySwitch:
    return GuiltySwitch(JOIN, replace(JOIN, to="0.1", **more))  # type: ignore[arg-type]


def test_a_choice_is_between_the_two_threads_that_could_go_on() -> None:
    failing, passing = started_in_order(["0.3", "0.1"], 2), started_in_order(["0.1", "0.3"], 1)
    conflict = conflict_of_choice(failing, passing, choice())
    assert conflict is not None
    assert conflict.thread == "0.1"
    assert conflict.right is not None
    assert (conflict.right.access.does, [other.does for other in conflict.right.others]) == ("reads", ["stores"])
    assert kind_of(conflict, PASSED) == kinds.ORDER_VIOLATION


def test_a_choice_that_changes_no_look_shows_no_conflict() -> None:
    failing, passing = started_in_order(["0.3", "0.1"], 1), started_in_order(["0.1", "0.3"], 1)
    assert conflict_of_choice(failing, passing, choice()) is None


def test_a_look_that_nobody_in_between_has_changed_shows_no_conflict() -> None:
    """As one at how many threads have come to a barrier: they have come there before."""
    failing, passing = (
        seen(
            access("0", 8, 1, "reads", Y), access("0.3", 1, 3, "reads"), access("0.1", 1, 5, "reads", old=number(found))
        )
        for found in (1, 2)
    )
    assert conflict_of_choice(failing, passing, GuiltySwitch(replace(JOIN, to="0.3"), replace(JOIN, to="0.1"))) is None


@pytest.mark.parametrize("other", [choice(forced=False), choice(time=10), GuiltySwitch(JOIN, None)])
def test_a_preemption_is_no_choice(other: GuiltySwitch) -> None:
    failing, passing = started_in_order(["0.3", "0.1"], 2), started_in_order(["0.1", "0.3"], 1)
    assert conflict_of_choice(failing, passing, other) is None


def signed_in(order: list[str]) -> list[Access]:
    """Threads 0.1 and 0.2 count themselves, and thread 0.3 looks at the count."""
    count, accesses = 0, []
    for thread in order:
        accesses.append(access(thread, 5, 5, "reads", old=number(count)))
        if thread != "0.3":
            count += 1
            accesses.append(access(thread, 5, 5, "stores", old=number(count - 1), new=number(count)))
    return accesses


def late_update(order: list[str]) -> tuple[Conflict, Observation]:
    failing = seen(*signed_in(order))
    own = tuple(one for one in failing.accesses if one.thread == "0.1")
    stretch = tuple(one for one in failing.accesses if one.thread != "0.1")
    edge = Edge(own[0], tuple(one for one in stretch if one.writes), inferred=False)
    return Conflict("0.1", None, edge, None, stretch, (), own), failing


def test_of_updates_in_another_order_the_look_between_them_is_told() -> None:
    conflict, failing = late_update(["0.2", "0.3", "0.1"])
    told = with_early_look(conflict, failing, seen(*signed_in(["0.1", "0.2", "0.3"])))
    assert told.right is not None
    assert told.right.access.does == "stores"
    assert [(other.thread, other.does) for other in told.right.others] == [("0.3", "reads")]


@pytest.mark.parametrize(("does", "told"), [("stores", True), ("reads", False)])
def test_an_update_of_before_is_no_part_of_it_but_a_look_of_before_is(does: str, told: bool) -> None:
    conflict, failing = late_update(["0.2", "0.3", "0.1"])
    before = access("0.1", 1, 0, does)
    conflict = conflict._replace(left=Edge(before, conflict.stretch, inferred=False))
    found = with_early_look(conflict, failing, seen(*signed_in(["0.1", "0.2", "0.3"])))
    assert (found.left is None) == told
    assert (found is not conflict) == told


def test_a_look_that_finds_the_same_is_not_told() -> None:
    conflict, failing = late_update(["0.3", "0.2", "0.1"])
    assert with_early_look(conflict, failing, seen(*signed_in(["0.3", "0.1", "0.2"]))) is conflict


def test_another_look_in_another_function_need_not_rest_on_the_first() -> None:
    look, store = access("0.1", 1, 1, "reads", tested=True), access("0.2", 1, 6, "stores")
    later = access("0.1", 9, 9, "reads", tested=True)
    elsewhere = later._replace(place=replace(later.place, function="main"))
    assert kind_of(conflict_of([look, store, elsewhere], 2, 5), PASSED) == kinds.NON_REPEATABLE_READ
    # In the same function, or where that is the edge of the range, it may well act on what it has seen.
    assert kind_of(conflict_of([look, store, later], 2, 5), PASSED) == kinds.CHECK_THEN_ACT
    assert kind_of(conflict_of([look, store, elsewhere._replace(time=5)], 2, 5), PASSED) == kinds.CHECK_THEN_ACT


def test_who_has_seen_the_first_step_of_a_change_looks_in_between() -> None:
    """A bank takes money from one account, and adds it to another one: the sum is read in between."""
    conflict, failing = late_update(["0.2", "0.3", "0.1"])
    passing = seen(*signed_in(["0.1", "0.2", "0.3"]))
    takes = access("0.1", 1, 0, "stores", Y)
    sees = access("0.3", 4, 1, "reads", Y)
    seen_by_others = access("0.2", 4, 1, "reads", Y)
    first = Edge(takes, (seen_by_others, sees), inferred=False)
    told = with_early_look(conflict._replace(left=first), failing, passing)
    assert told.left == first._replace(others=(sees,))
    assert kind_of(told, PASSED) == kinds.TORN_UPDATE
    for other in (first._replace(inferred=True), first._replace(others=(seen_by_others,))):
        assert with_early_look(conflict._replace(left=other), failing, passing).left is None
