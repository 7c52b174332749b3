"""Which switches turn two accesses round, and what counts as turned."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from replay_dd.outcome import Outcome
from replay_dd.schedules.model import Ending, Frame, Switch, Trigger, UncaughtException
from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.running.target import Plan
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.story.links import ANOTHER_WAY, PASSES_TOO, Link, Links, try_links
from replay_dd.schedules.story.passes import turned_round
from replay_dd.schedules.story.refuted import as_tried, is_a_guess, without_refuted
from replay_dd.schedules.story.story import Story
from tests.schedules.logs import PASSED, log_of
from tests.schedules.story.made_accesses import access
from tests.schedules.story.test_victim import seen

pytestmark = pytest.mark.once

LOCK = ("lock", 9, "")
GUILTY = Trigger("0.1", 10, "0.2")


def section(thread: str, begins: int, does: str, *, held: tuple[int, ...] = (9,)) -> list[Access]:
    """A thread takes a lock, looks or stores at the second yield point after it, and goes on outside."""
    return [
        access(thread, begins - 1, 0, "wants", LOCK),
        access(thread, begins, 0, "acquires", LOCK),
        access(thread, begins + 2, 0, does, held=held),
        access(thread, begins + 9, 0, "reads", ("attribute", 5, "other")),
    ]


def links_of(
    failing: Observation,
    turned: Observation,
    ends: Callable[[Plan], bool],
    *,
    inferred: bool = False,
    switches: Sequence[Switch] = (),
    most_runs: int = 9,
    is_late: Callable[[], bool] = lambda: False,
) -> tuple[Links, list[Plan]]:
    """What is proved of a store of 0.1 after a look of 0.2; ``ends`` tells which plans turn both round."""
    plans: list[Plan] = []
    own = tuple(one for one in failing.accesses if one.thread == "0.1")
    others = tuple(one for one in failing.accesses if one.thread == "0.2")
    store = next(one for one in own if one.writes)
    look = next(one for one in others if one.does == "reads")

    def run(plan: Plan, time_limit_s: float | None) -> Any:
        plans.append(plan)
        return SimpleNamespace(log=log_of([], PASSED), accesses=turned if ends(plan) else failing)

    conflict = Conflict("0.1", None, Edge(store, (look,), inferred=inferred), None, others, (), own)
    ending = replace(PASSED, thread_times={"0.1": 90, "0.2": 90})
    judge: Any = SimpleNamespace(outcome=lambda log: Outcome.PASS)
    runner: Any = SimpleNamespace(run=run)
    switch: Any = SimpleNamespace(trigger=GUILTY, thread="0.1", time=10, to="0.2", global_time=40)
    log = log_of(switches, ending)
    limits: Any = {"time_limit_s": None, "most_runs": most_runs, "is_late": is_late}
    _, links = try_links(conflict, failing, log, switch, judge, runner, **limits)
    return links, plans


def test_sections_under_one_lock_are_turned_round_as_a_whole() -> None:
    theirs, own = section("0.2", 20, "reads"), section("0.1", 10, "stores")
    links, plans = links_of(seen(*theirs, *own), seen(*own, *theirs), lambda plan: len(plan.triggers) == 2)
    assert [set(plan.triggers) for plan in plans] == [{Trigger("0.2", 20, "0.1"), Trigger("0.1", 19, "0.2")}]
    assert [link.proved for link in links.tried] == [True]


def test_accesses_without_a_common_lock_are_turned_round_alone() -> None:
    theirs, own = section("0.2", 20, "reads"), section("0.1", 10, "stores", held=())
    links, plans = links_of(seen(*theirs, *own), seen(*own, *theirs), lambda plan: True)
    assert set(plans[0].triggers) == {Trigger("0.2", 22, "0.1"), Trigger("0.1", 13, "0.2")}
    assert [link.proved for link in links.tried] == [True]


@pytest.mark.parametrize("stands", [20, 21, 22])
def test_who_stands_there_already_gets_its_turn_only_later(stands: int) -> None:
    """It was stopped where it waits for the lock, or has taken it: to stop it there once more changes nothing."""
    theirs, own = section("0.2", 20, "reads"), section("0.1", 10, "stores")
    there = Switch("0.2", stands, "0.1", False, False, None, 30, 0)
    guilty = Switch("0.1", 10, "0.2", False, False, None, 40, 0)
    links, plans = links_of(
        seen(*theirs, *own), seen(*own, *theirs), lambda plan: GUILTY not in plan.triggers, switches=[there, guilty]
    )
    assert [set(plan.triggers) for plan in plans] == [{there.trigger, Trigger("0.1", 19, "0.2")}]
    assert [link.proved for link in links.tried] == [True]


@pytest.mark.parametrize(("stands", "then"), [(19, 30), (23, 30), (20, 50)])
def test_who_stands_elsewhere_or_there_only_later_is_stopped(stands: int, then: int) -> None:
    theirs, own = section("0.2", 20, "reads"), section("0.1", 10, "stores")
    there = Switch("0.2", stands, "0.1", False, False, None, then, 0)
    _, plans = links_of(seen(*theirs, *own), seen(*own, *theirs), lambda plan: True, switches=[there])
    assert Trigger("0.2", 20, "0.1") in plans[0].triggers


def test_who_lets_go_of_an_object_is_stopped_before_it_does() -> None:
    """That the object is gone is seen only after the instruction."""
    reference: dict[str, Any] = {"holder_type": "ReferenceType", "thing": ("item", 4, "")}
    lets_go = access("0.2", 20, 0, "stores", ("attribute", 5, "kept"))
    gone = access("0.2", 21, 0, "deletes", reads=True, writes=True, place=lets_go.place, **reference)
    asks = access("0.1", 10, 0, "reads", **reference)
    store = access("0.1", 11, 0, "stores", ("attribute", 6, "other"))
    failing, turned = seen(lets_go, gone, asks, store), seen(asks, store, lets_go, gone)
    own, others = failing.accesses[2], failing.accesses[1]
    runner: Any = SimpleNamespace(
        run=lambda plan, _: (plans.append(plan), SimpleNamespace(log=log, accesses=turned))[1]
    )
    plans: list[Plan] = []
    log = log_of([], replace(PASSED, thread_times={"0.1": 90, "0.2": 90}))
    conflict = Conflict("0.1", None, Edge(own, (others,), inferred=False), None, (others,), (), (own,))
    judge: Any = SimpleNamespace(outcome=lambda log: Outcome.PASS)
    switch: Any = SimpleNamespace(trigger=GUILTY, thread="0.1", time=10, to="0.2", global_time=40)
    _, links = try_links(conflict, failing, log, switch, judge, runner, time_limit_s=None, most_runs=9)
    assert Trigger("0.2", 20, "0.1") in plans[0].triggers
    assert [link.proved for link in links.tried] == [True]


def test_what_was_not_turned_round_proves_nothing() -> None:
    theirs, own = section("0.2", 20, "reads"), section("0.1", 10, "stores")
    links, _ = links_of(seen(*theirs, *own), seen(*own, *theirs), lambda plan: False)
    assert [(link.proved, link.why_not) for link in links.tried] == [(False, "they cannot be reversed alone")]


@pytest.mark.parametrize(
    ("limits", "why_not"),
    [({"most_runs": 0}, "no more runs were allowed"), ({"is_late": lambda: True}, "no time was left to try it")],
)
def test_what_may_not_be_tried_any_more_is_told(limits: Any, why_not: str) -> None:
    theirs, own = section("0.2", 20, "reads"), section("0.1", 10, "stores")
    links, plans = links_of(seen(*theirs, *own), seen(*own, *theirs), lambda plan: True, **limits)
    assert (plans, [(link.proved, link.why_not) for link in links.tried]) == ([], [(False, why_not)])


@pytest.mark.parametrize(
    ("why_not", "guess"),
    [
        (("it fails, too",), True),
        (("it passes, too, if their order stays and the switch comes later",), True),
        (("they cannot be reversed alone",), False),
        (("it fails, too", ""), False),
        ((), False),
    ],
)
def test_what_stands_in_and_is_disproved_is_a_guess(why_not: tuple[str, ...], guess: bool) -> None:
    failing = seen(*section("0.2", 20, "reads"), *section("0.1", 10, "stores"))
    look, store = failing.accesses[2], failing.accesses[6]
    links = Links(tuple(Link(look, store, not one, one) for one in why_not))
    conflict = Conflict("0.1", None, Edge(store, (look,), inferred=True), None, (look,), (), (store,))
    assert is_a_guess(conflict, links) == guess
    assert not is_a_guess(conflict._replace(right=Edge(store, (look,), inferred=False)), links)


@pytest.mark.parametrize("first_is_it", [True, False])
def test_a_side_that_stands_in_and_makes_no_difference_is_left_out(first_is_it: bool) -> None:
    failing = seen(access("0.1", 1, 1, "reads"), access("0.2", 1, 2, "stores"), access("0.1", 2, 3, "reads"))
    first, other, last = failing.accesses
    conflict = Conflict(
        *("0.1", Edge(first, (other,), inferred=not first_is_it), Edge(last, (other,), inferred=first_is_it)),
        *(None, (other,), (first,), (last,)),
    )
    proved, refuted = Link(first, other, True), Link(other, last, False, "the other way round, it fails, too")
    tried = Links((proved, refuted) if first_is_it else (refuted, proved))
    left_out = without_refuted(conflict, tried)
    assert (left_out.left is None, left_out.right is None) == (not first_is_it, first_is_it)
    assert without_refuted(conflict, Links(tried.tried[::-1])) == conflict
    assert without_refuted(left_out, tried) == left_out


def test_what_was_tried_in_vain_is_not_promised() -> None:
    failing = seen(*section("0.2", 20, "reads"), *section("0.1", 10, "stores"))
    look, store = failing.accesses[2], failing.accesses[6]
    story = Story("order violation", (), "0.2 reads before 0.1 stores; the other way round it passes.", ())
    assert as_tried(story, Links()) == as_tried(story, Links((Link(look, store, True),))) == story
    refuted = Links((Link(look, store, False, "the other way round, this failure is gone, but it ends with another"),))
    assert as_tried(story, refuted).summary == "0.2 reads before 0.1 stores."


def test_that_it_passes_the_other_way_round_is_not_told_if_it_fails_then() -> None:
    failing = seen(*section("0.2", 20, "reads"), *section("0.1", 10, "stores"))
    look, store = failing.accesses[2], failing.accesses[6]
    story = Story("order violation", (), "", (), passes=turned_round(look, store))
    assert story.passes.startswith("if thread 0.1 stores")
    refuted = Link(look, store, False, "the other way round, it fails, too")
    assert as_tried(story, Links((refuted,))).passes == ""
    assert as_tried(story, Links((refuted._replace(first=store, second=look),))).passes == story.passes
    assert as_tried(story, Links((refuted._replace(why_not="no more runs were allowed"),))).passes == story.passes


def test_the_order_that_was_proved_is_the_one_that_is_promised() -> None:
    """The passing run at the edge may pass for a reason of its own."""
    failing = seen(*section("0.2", 20, "reads"), *section("0.1", 10, "stores"))
    look, store = failing.accesses[2], failing.accesses[6]
    story = Story("check-then-act", (), "", (), passes=turned_round(look, store))
    vain = Link(look, store, False, "they cannot be reversed alone")
    proved = Link(store, look, True)
    assert as_tried(story, Links((proved, vain))).passes == turned_round(store, look)
    assert as_tried(story, Links((vain, Link(look, store, True)))).passes == story.passes
    other = Links((proved, vain._replace(second=store._replace(number=99, place=look.place))))
    assert as_tried(story, other).passes == story.passes
    assert as_tried(story, other, replaced=True).passes == turned_round(store, look)


@pytest.mark.parametrize(("comes_there", "why_not"), [(True, PASSES_TOO), (False, ANOTHER_WAY)])
def test_an_order_is_not_called_kept_where_the_other_thread_never_comes_there(comes_there: bool, why_not: str) -> None:
    """With the switch right beside it, the other thread may wait for a lock that this one has by then."""
    theirs, own = section("0.2", 20, "reads", held=()), section("0.1", 10, "stores", held=())
    failing = seen(*theirs, *own)
    beside = failing if comes_there else seen(*own)
    links, _ = links_of(failing, beside, lambda plan: True, inferred=True)
    assert [(link.proved, link.why_not) for link in links.tried] == [(False, why_not)]


@pytest.mark.parametrize(
    ("beside", "why_not"),
    [
        (("AssertionError", "['tea'] == ['tea']", 7), ""),
        (("KeyError", "'tea'", 7), "with the switch right beside it, it ends with KeyError: 'tea' (prog.py:7 in main)"),
        (("AssertionError", "no tea", 9), "with the switch right beside it, it ends with AssertionError: no tea"),
    ],
)
def test_right_beside_it_the_failure_may_tell_what_it_has_found_meanwhile(
    beside: tuple[str, str, int], why_not: str
) -> None:
    """The message of an assertion is made after the comparison: another thread may have come in between."""

    def failed(kind: str, text: str, line: int) -> Ending:
        error = UncaughtException("main", kind, text, (Frame("prog.py", line, "main", True),))
        return replace(PASSED, status=1, exceptions=(error,), thread_times={"0.1": 90, "0.2": 90})

    theirs, own = section("0.2", 20, "reads", held=()), section("0.1", 10, "stores", held=())
    failing, turned = seen(*theirs, *own), seen(*own, *theirs)
    runs = iter([(failed(*beside), failing), (PASSED, turned)])

    def run(plan: Plan, time_limit_s: float | None) -> Any:
        ending, accesses = next(runs)
        return SimpleNamespace(log=log_of([], ending), accesses=accesses)

    judge: Any = SimpleNamespace(outcome=lambda log: Outcome.UNRESOLVED if log.ending.exceptions else Outcome.PASS)
    runner: Any = SimpleNamespace(run=run)
    switch: Any = SimpleNamespace(trigger=GUILTY, thread="0.1", time=10, to="0.2", global_time=40)
    look, store = failing.accesses[2], failing.accesses[6]
    conflict = Conflict("0.1", None, Edge(store, (look,), inferred=True), None, (look,), (), (store,))
    log = log_of([], failed("AssertionError", "[] == ['tea']", 7))
    _, links = try_links(conflict, failing, log, switch, judge, runner, time_limit_s=None, most_runs=9)
    assert [link.proved for link in links.tried] == [not why_not]
    assert links.tried[0].why_not.startswith(why_not)
