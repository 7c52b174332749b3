"""What a thread had done already when another one came too early."""

from __future__ import annotations

from dataclasses import replace

import pytest

from replay_dd.schedules.isolating.answer import GuiltySwitch
from replay_dd.schedules.isolating.failing_range import FailingRange
from replay_dd.schedules.model import Place
from replay_dd.schedules.observed.observation import Access, Observation, StackFrame, Value
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.both import (
    with_first_half,
    with_first_step,
    with_overlapping_calls,
    with_own_check,
    with_stale_check,
)
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.story.kinds import kind_of
from replay_dd.schedules.story.sentences import summary_of
from tests.schedules.logs import PASSED
from tests.schedules.story.made_accesses import NOTHING, access, number, switch
from tests.schedules.story.test_victim import seen


def looked(thread: str, found: object, **more: object) -> Access:
    return access(thread, 1, 1, "reads", tested=True, old=number(found), **more)


def stored_after(*accesses: Access, **more: object) -> tuple[Conflict, Observation]:
    """Thread 0.1 stores last; what thread 0.2 does stands between."""
    failing = seen(*accesses)
    others = tuple(one for one in failing.accesses if one.thread == "0.2")
    own = tuple(one for one in failing.accesses if one.thread == "0.1")
    right = Edge(own[-1], others, inferred=False)
    return Conflict("0.1", None, right, None, others, own[:-1], own[-1:])._replace(**more), failing  # type: ignore[arg-type]


WHOLE = ("whole", 7, "")
CLOSES = access("0.1", 5, 9, "stores", new=number(True))


def test_two_that_found_the_same_both_go_on() -> None:
    conflict, failing = stored_after(looked("0.1", False), looked("0.2", False), CLOSES)
    assert kind_of(conflict, PASSED) == kinds.ORDER_VIOLATION
    told = with_own_check(conflict, failing)
    assert told.looked == failing.accesses[0]
    assert kind_of(told, PASSED) == kinds.CHECK_THEN_ACT
    assert summary_of(kinds.CHECK_THEN_ACT, told).startswith("Threads 0.1 and 0.2 both found False in Thing.x")


@pytest.mark.parametrize(
    ("look", "act", "words"),
    [
        ({"thing": WHOLE}, {"thing": WHOLE, "does": "calls", "detail": "append('a')"}, "adds to it"),
        ({"thing": WHOLE}, {"thing": WHOLE, "does": "calls", "detail": "pop()"}, "takes from it"),
        ({"does": "checks", "old": number(True)}, {"does": "calls", "detail": "discard('a')"}, "takes it away"),
        ({"does": "checks", "old": number(False)}, {"does": "calls", "detail": "add('a')"}, "adds it"),
        ({"does": "calls", "detail": "get('a')"}, {"does": "deletes", "old": number(1)}, "takes it away"),
    ],
)
def test_two_that_found_the_same_may_add_or_take_away(
    look: dict[str, object], act: dict[str, object], words: str
) -> None:
    acts = access("0.1", 5, 9, "stores", writes=True)._replace(**{"old": number(1), **act})  # type: ignore[arg-type]
    looks = [looked(thread, True)._replace(**look) for thread in ("0.1", "0.2")]  # type: ignore[arg-type]
    told = with_own_check(*stored_after(*looks, acts))
    assert kind_of(told, PASSED) == kinds.CHECK_THEN_ACT
    assert words in summary_of(kinds.CHECK_THEN_ACT, told)
    in_vain = acts._replace(does="deletes", old=NOTHING)
    assert with_own_check(*stored_after(*looks, in_vain)).looked is None


def test_a_look_at_a_container_is_not_the_same_if_an_item_was_added_in_between() -> None:
    counts = [looked(thread, True)._replace(thing=WHOLE) for thread in ("0.1", "0.2")]
    adds = access("0.1", 5, 9, "calls", WHOLE, detail="append(1)", writes=True, old=number(1))
    assert with_own_check(*stored_after(*counts, adds)).looked is not None
    item = access("0.2", 2, 2, "stores", ("item", 7, "1"), old=NOTHING)
    assert with_own_check(*stored_after(counts[0], item, counts[1], adds)).looked is None


def test_what_a_thread_uses_after_its_look_does_not_hide_the_look() -> None:
    """As in ``if self.fd >= 0: os.close(self.fd)``."""
    uses = access("0.1", 2, 2, "reads", old=number(False))
    conflict, failing = stored_after(looked("0.1", False), uses, looked("0.2", False), CLOSES)
    assert with_own_check(conflict, failing).looked == failing.accesses[0]


def test_two_looks_are_not_the_same_if_anyone_stored_in_between() -> None:
    """What was there came back: the second one was meant to find it."""
    gone, back = (access("0.2", 2, 2, "stores", new=number(value)) for value in (True, False))
    conflict, failing = stored_after(looked("0.2", False), gone, back, looked("0.1", False), CLOSES)
    assert with_own_check(conflict, failing) is conflict


@pytest.mark.parametrize(
    "accesses",
    [
        (looked("0.1", True), looked("0.2", False), CLOSES),
        (looked("0.2", False), CLOSES),
        (looked("0.1", False)._replace(tested=False), looked("0.2", False), CLOSES),
        (looked("0.1", False), looked("0.2", False)._replace(tested=False), CLOSES),
        (looked("0.1", False), access("0.1", 2, 2, "stores"), looked("0.2", False), CLOSES),
        (looked("0.1", True), looked("0.2", True), CLOSES),  # it stores what both have found
    ],
)
def test_one_that_found_something_else_or_never_looked_did_not_go_on_as_well(accesses: tuple[Access, ...]) -> None:
    conflict, failing = stored_after(*accesses)
    assert with_own_check(conflict, failing) is conflict


def made_by_each(*, untold: bool = False) -> tuple[Access, ...]:
    """As in ``try: return self._value``, where the exception says that nothing is there yet."""
    looks = [access(thread, 1, 1, "reads", old=NOTHING) for thread in ("0.1", "0.2")]
    stores = [access(thread, 5, 5, "stores", new=Value("", "Connection", 9)) for thread in ("0.2", "0.1")]
    return (*looks, *(stores[1:] if untold else stores))


def test_two_that_missed_what_each_then_makes_both_found_nothing() -> None:
    told = with_own_check(*stored_after(*made_by_each()))
    assert told.looked is not None
    assert kind_of(told, PASSED) == kinds.CHECK_THEN_ACT
    assert summary_of(kinds.CHECK_THEN_ACT, told).startswith("Threads 0.1 and 0.2 both found nothing in Thing.x")


def test_who_misses_something_and_makes_nothing_decides_nothing() -> None:
    conflict, failing = stored_after(*made_by_each(untold=True))
    assert with_own_check(conflict, failing) is conflict
    assert kind_of(conflict, PASSED) == kinds.TOO_EARLY


def a_range(first: int, *, begins_turn: bool = False) -> FailingRange:
    return FailingRange(switch(first), switch(5), "ValueError", True, True, PASSED, PASSED, begins_turn)  # type: ignore[arg-type]


def passing_at(time: int, line: int, function: str = "work") -> GuiltySwitch:
    place = Place("prog.py", "prog.py", line, 1, function, "CALL", True)
    return GuiltySwitch(switch(5), replace(switch(time), place=place))


def test_what_is_done_before_it_is_noted_is_a_torn_update() -> None:
    conflict, _ = stored_after(looked("0.2", False), CLOSES)
    told = with_first_step(conflict, passing_at(2, line=3), a_range(3))
    assert told.since is not None
    assert kind_of(told, PASSED) == kinds.TORN_UPDATE
    assert "passes prog.py:3 and stores Thing.x (prog.py:5) only then" in summary_of(kinds.TORN_UPDATE, told)


@pytest.mark.parametrize(
    ("guilty", "found"),
    [
        (passing_at(1, line=3), a_range(3)),  # nobody knows what is between
        (passing_at(2, line=3), a_range(3, begins_turn=True)),
        (passing_at(2, line=3), None),
        (passing_at(2, line=3, function="other"), a_range(3)),
        (passing_at(2, line=5), a_range(3)),
        (GuiltySwitch(switch(5), None), a_range(3)),
    ],
)
def test_no_first_step_is_told_that_the_range_does_not_show(guilty: GuiltySwitch, found: FailingRange | None) -> None:
    conflict, _ = stored_after(looked("0.2", False), CLOSES)
    assert with_first_step(conflict, guilty, found) is conflict


OWN = StackFrame("prog.py", "prog.py", 3, "main", True)
INSIDE = StackFrame("pack/it.py", "/lib/site-packages/pack/it.py", 70, "It.go", True)


def in_package(one: Access, **more: object) -> Access:
    place = Place("pack/it.py", INSIDE.path, 70, 1, "It.go", "LOAD_ATTR", True)
    return one._replace(stack=(INSIDE, OWN), place=place)._replace(**more)  # type: ignore[arg-type]


def test_calls_of_a_package_overlap() -> None:
    conflict, failing = stored_after(in_package(looked("0.2", False)), in_package(CLOSES))
    stopped = replace(failing, switch_stacks={("0.1", 5): (INSIDE, OWN)})
    told = with_overlapping_calls(conflict, passing_at(2, line=3), stopped)
    assert told.inside == OWN
    assert kind_of(told, PASSED) == kinds.CONCURRENT_USE
    assert "has not come back from its call of pack (prog.py:3)" in summary_of(kinds.CONCURRENT_USE, told)


def test_calls_that_a_lock_keeps_apart_or_that_are_over_do_not_overlap() -> None:
    guilty = passing_at(2, line=3)
    conflict, failing = stored_after(in_package(looked("0.2", False)), in_package(CLOSES))
    back = replace(failing, switch_stacks={("0.1", 5): (OWN,)})
    assert with_overlapping_calls(conflict, guilty, back).inside is None
    inside = {("0.1", 5): (INSIDE, OWN)}
    locked, failing = stored_after(in_package(looked("0.2", False), held=(7,)), in_package(CLOSES, held=(7,)))
    assert with_overlapping_calls(locked, guilty, replace(failing, switch_stacks=inside)).inside is None
    own, failing = stored_after(looked("0.2", False), in_package(CLOSES))
    assert with_overlapping_calls(own, guilty, replace(failing, switch_stacks=inside)).inside is None


ADDS = access("0.1", 3, 1, "calls", WHOLE, writes=True, detail="append(x)")
TAKES = access("0.1", 5, 4, "calls", WHOLE, reads=True, writes=True, detail="pop(0)")
GOES_THROUGH = access("0.2", 1, 2, "iterates", WHOLE, reads=True)


def test_what_is_added_and_taken_away_in_one_function_is_one_change() -> None:
    conflict, failing = stored_after(ADDS, GOES_THROUGH, TAKES)
    assert kind_of(conflict, PASSED) == kinds.ORDER_VIOLATION
    told = with_first_half(conflict)
    assert told.left == Edge(failing.accesses[0], (failing.accesses[1],), inferred=False)
    assert kind_of(told, PASSED) == kinds.TORN_UPDATE
    assert "in two steps; thread 0.2 looks in between" in summary_of(kinds.TORN_UPDATE, told)


@pytest.mark.parametrize(
    "accesses",
    [
        (GOES_THROUGH, TAKES),
        (ADDS, GOES_THROUGH, TAKES._replace(detail="append(y)")),
        (ADDS, GOES_THROUGH, TAKES._replace(detail="sort()")),
        (ADDS._replace(detail="sort()"), GOES_THROUGH, TAKES),
        (ADDS._replace(place=TAKES.place), GOES_THROUGH, TAKES._replace(place=ADDS.place)),  # the next time round
        (ADDS._replace(place=replace(ADDS.place, function="other")), GOES_THROUGH, TAKES),
        (ADDS._replace(thing=("whole", 8, "")), GOES_THROUGH, TAKES),
        (ADDS, GOES_THROUGH._replace(writes=True), TAKES),
        (ADDS, ADDS._replace(place=TAKES.place, detail="clear()"), GOES_THROUGH, TAKES),  # that change was complete
    ],
)
def test_other_changes_of_a_container_are_no_halves_of_one(accesses: tuple[Access, ...]) -> None:
    conflict, _ = stored_after(*accesses)
    assert with_first_half(conflict) is conflict


@pytest.mark.parametrize("known", [{"left": Edge(ADDS, (), inferred=True)}, {"looked": ADDS}, {"right": None}])
def test_what_is_known_already_stays(known: dict[str, object]) -> None:
    conflict, _ = stored_after(ADDS, GOES_THROUGH, TAKES, **known)
    assert with_first_half(conflict) is conflict


def test_a_store_rests_on_a_check_of_another_thing_that_has_changed_since() -> None:
    """As in ``if number == self.newest: self.shown = answer``."""
    newest = ("attribute", 4, "newest")
    check = access("0.1", 1, 5, "reads", newest, tested=True, old=number(2))
    changes = access("0.2", 1, 5, "stores", newest, new=number(3))
    shows = access("0.2", 2, 6, "stores", new=number(3))
    conflict, failing = stored_after(check, changes, shows, CLOSES)
    told = with_stale_check(conflict)
    assert told.left == Edge(failing.accesses[0], (failing.accesses[1],), inferred=False)
    assert kind_of(told, PASSED) == kinds.CHECK_THEN_ACT
    unchanged, _ = stored_after(check, shows, CLOSES)
    assert with_stale_check(unchanged) is unchanged
    unasked, _ = stored_after(check._replace(tested=False), changes, shows, CLOSES)
    assert with_stale_check(unasked) is unasked
    elsewhere = check._replace(place=replace(check.place, function="other"))
    apart, _ = stored_after(elsewhere, changes, shows, CLOSES)
    assert with_stale_check(apart) is apart
    assert with_stale_check(conflict, of_same=True) is conflict  # it checks another thing
    torn = conflict._replace(since=check.place)
    assert with_stale_check(torn) is torn
    same, failing = stored_after(check._replace(thing=CLOSES.thing), changes, shows, CLOSES)
    assert with_stale_check(same, of_same=True).left == Edge(failing.accesses[0], (failing.accesses[2],), False)
