"""What cannot be explained costs the story, never the answer."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from replay_dd.errors.program import NotControlledError
from replay_dd.report.story import story_as_json, story_as_text
from replay_dd.schedules.isolating.answer import GuiltySwitch
from replay_dd.schedules.model import Log, Switch
from replay_dd.schedules.observed.observation import Observation, Value
from replay_dd.schedules.story import explain as module
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.at_switch import conflict_of, conflicts_elsewhere
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.story.explain import Explanation, explain
from replay_dd.schedules.story.kinds import kind_of
from replay_dd.schedules.story.links import Link, Links
from replay_dd.schedules.story.order_trials import OrderTrials
from replay_dd.schedules.story.story import HangTold, Story
from replay_dd.schedules.story.twins import Twins, observe_twins
from tests.schedules.logs import FAILED, log_of
from tests.schedules.story.made_accesses import Y, access, number, switch
from tests.schedules.story.test_victim import ITEM, raising, seen

SWITCH = Switch("0.1", 5, "0.2", False, False, None, 5, 5)


def isolated(
    *,
    verified: bool = True,
    flaky: bool = False,
    switch: Switch | None = SWITCH,
    interrupted: bool = False,
    complete: bool = True,
) -> Any:
    return SimpleNamespace(
        switch=None if switch is None else GuiltySwitch(switch, None),
        isolation=SimpleNamespace(
            verified=verified,
            circumstance=SimpleNamespace(flaky=flaky),
            interrupted=interrupted,
            complete=complete,
        ),
        failing_range=None,
        needed=None,
        passing=log_of([]),
        failing=log_of([SWITCH], FAILED),
    )


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (isolated(switch=None), "no switch was isolated"),
        (isolated(verified=False, complete=False), "the search was stopped before it was complete"),
        (isolated(verified=False), "the final runs do not replay exactly"),
        (isolated(flaky=True), "the final runs do not replay exactly"),
        # Ctrl-C after the proof: the answer holds, but nobody waits for more runs.
        (isolated(interrupted=True), "interrupted"),
    ],
)
def test_some_answers_have_no_story(found: Any, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "observe_twins", lambda *_: pytest.fail("a run is made"))
    explanation = explain(found)
    assert (explanation.why_not, explanation.interrupted) == (why, why == "interrupted")


@pytest.mark.parametrize(
    ("raised", "why"),
    [
        (NotControlledError("It is gone."), "It is gone."),
        (KeyboardInterrupt(), "interrupted"),
        (ZeroDivisionError("by 0"), "what was seen cannot be told (ZeroDivisionError: by 0)"),
    ],
)
def test_a_failure_to_explain_is_told_in_one_line(
    raised: BaseException, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> Twins:
        raise raised

    monkeypatch.setattr(module, "observe_twins", fail)
    explanation = explain(isolated())
    assert explanation.why_not == why
    assert " ".join(" ".join(story_as_text(explanation, log_of([]).program)).split()) == f"story none: {why}"
    assert story_as_json(explanation, log_of([]).program) == {"why_not": why}


def test_without_a_common_thing_there_is_no_story(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = Twins(Observation((), {}), Observation((), {}))
    monkeypatch.setattr(module, "observe_twins", lambda *_: nothing)
    assert explain(isolated()).why_not == "no access to a common thing was seen at the switch"


def test_a_run_that_passes_as_an_update_is_lost_tells_nothing_of_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    reads, others = access("0.1", 4, 4, "reads"), access("0.2", 1, 5, "stores")
    passing = seen(reads, others, access("0.1", 5, 6, "stores", place=reads.place))
    monkeypatch.setattr(module, "observe_twins", lambda *_: Twins(Observation((), {}), passing))
    found = isolated()
    found.switch = GuiltySwitch(SWITCH, switch(5))
    why_not = "the passing run passes by chance: an update of Thing.x (prog.py:4) is lost there"
    assert explain(found).why_not == why_not
    monkeypatch.setattr(module, "observe_twins", lambda *_: Twins(Observation((), {}), seen(reads, others)))
    assert explain(found).why_not == "no access to a common thing was seen at the switch"


def test_what_the_standard_library_did_meanwhile_is_not_seen_unless_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reads = access("0.1", 4, 4, "reads")
    wants = access("0.2", 1, 5, "wants", ("lock", 7, ""), place=replace(reads.place, instruction="CALL"))
    monkeypatch.setattr(module, "observe_twins", lambda *_: Twins(seen(reads, wants), seen(reads)))
    why_not = explain(isolated()).why_not
    assert why_not.startswith("no access to a common thing was seen at the switch; what the standard library did")
    assert "`--trace-include PACKAGE`" in why_not
    for other in (wants._replace(place=reads.place), wants._replace(does="acquires")):
        monkeypatch.setattr(module, "observe_twins", lambda *_, other=other: Twins(seen(reads, other), seen(reads)))
        assert explain(isolated()).why_not == "no access to a common thing was seen at the switch"


def test_why_there_is_no_story_is_told_as_it_was_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "observe_twins", lambda *_: Twins(Observation((), {}), Observation((), {})))
    monkeypatch.setattr(module, "_told", lambda *_: Explanation(None, "they make no difference"))
    assert explain(isolated()).why_not == "they make no difference"


def test_orders_are_tried_as_long_as_the_search_may_take(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[float | None] = []
    monkeypatch.setattr(module, "observe_twins", lambda *_: Twins(Observation((), {}), Observation((), {})))
    monkeypatch.setattr(
        module, "_told", lambda trials, _: (limits.append(trials.ends_at), Explanation(None, "nothing"))[1]
    )
    for ends_at in (None, 5.0):
        explain(isolated(), ends_at=ends_at)
    assert limits == [None, 5.0]


def test_of_a_race_that_did_not_lead_to_the_hang_only_proved_orders_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    look, store = access("0.2", 1, 5, "reads"), access("0.1", 5, 6, "stores")
    links = Links((Link(look, store, False, "the other way round, it fails, too"), Link(look, store, True)))
    race = Explanation(Story(kinds.CHECK_THEN_ACT, (), "", ()), links=links)
    hangs = Story(kinds.LOCK_ORDER, (), "", (), hang=cast(Any, ()))
    told: list[Explanation] = []
    monkeypatch.setattr(module, "_race", lambda *_: race)
    nothing = Observation((), {})
    monkeypatch.setattr(
        module, "observe_twins", lambda *_: Twins(nothing, nothing, failing_hang=cast(Any, SimpleNamespace()))
    )
    for story in (hangs, hangs._replace(kind=kinds.NEVER_COMES, hang=HangTold(cast(Any, ()), cast(Any, ())))):
        monkeypatch.setattr(module, "tell_deadlock", lambda *_, story=story: story)
        told.append(explain(isolated()))
    assert [[link.proved for link in one.links.tried] for one in told] == [[True], [False, True]]


def test_only_accesses_are_observed() -> None:
    log = log_of([SWITCH], FAILED)
    lines: Log = replace(log, settings=replace(log.settings, granularity="line"))
    assert "`line`" in observe_twins(lines, lines, SWITCH, None, 1).why_not


def test_conflicts_at_the_other_choices_that_a_failure_needs() -> None:
    look, other, store = (
        access("0.1", 4, 4, "reads", tested=True, old=Value("None", "NoneType", -1)),
        access("0.2", 1, 5, "stores"),
        access("0.1", 5, 6, "stores"),
    )
    found, twins = isolated(), SimpleNamespace(failing=seen(look, other, store))
    found.needed, found.choices = object(), (SWITCH, replace(switch(4), forced=True), switch(5), switch(9))
    conflicts = list(conflicts_elsewhere(found, GuiltySwitch(switch(9), None), twins))  # type: ignore[arg-type]
    assert [one.right.access.number for one in conflicts if one.right is not None] == [3, 3]
    assert {one.left.access.number for one in conflicts if one.left is not None} == {1}
    found.choices = (SWITCH,)
    assert list(conflicts_elsewhere(found, GuiltySwitch(SWITCH, None), twins)) == []  # type: ignore[arg-type]
    found.needed = None
    assert list(conflicts_elsewhere(found, GuiltySwitch(switch(9), None), twins)) == []  # type: ignore[arg-type]


def test_that_both_have_seen_the_same_says_more_than_the_look_that_failed() -> None:
    """Both find a token that is used up, and renew it; the one that does it last is refused."""
    token, used = access("0.1", 1, 1, "reads", tested=True), access("0.1", 4, 4, "deletes", ITEM)
    look, stores = token._replace(thread="0.2", global_time=5), access("0.1", 5, 7, "stores")
    check = access("0.2", 6, 8, "checks", ITEM, tested=True, old=number(False))
    failing, passing = seen(token, used, look, stores, check), seen(check._replace(old=number(True)))
    found = isolated()
    found.failing = replace(found.failing, ending=raising(7))
    twins: Any = SimpleNamespace(failing=failing, passing=passing)
    conflict = conflict_of(found, GuiltySwitch(SWITCH, None), twins)
    assert (conflict.looked, kind_of(conflict, raising(7))) == (failing.accesses[0], kinds.CHECK_THEN_ACT)
    twins.failing = seen(used, stores._replace(thing=Y), check)  # where nothing but an order is seen, the look counts
    assert conflict_of(found, GuiltySwitch(SWITCH, None), twins).thread == "0.2"


def test_what_the_story_is_about_is_no_other_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Farther from another choice, the very order may be found that was proved already."""
    look, store, other = (
        access("0.2", 1, 5, "reads"),
        access("0.1", 5, 6, "stores"),
        access("0.1", 9, 9, "stores", Y),
    )
    failing = seen(look, access("0.2", 2, 8, "reads", Y), store, other)
    known, new = Link(look, store, True), Link(failing.accesses[1], other, True)
    conflict = Conflict("0.1", None, Edge(store, (look,), inferred=False), None, (), (), ())
    found = isolated()
    found.needed, found.choices = SimpleNamespace(minimal=True), (replace(SWITCH, time=9, global_time=7),)
    for link, told in ((known, ()), (new, (new,))):
        twins: Any = SimpleNamespace(failing=failing, failing_hang=None)
        trials = OrderTrials(found, twins, None, None)  # type: ignore[arg-type]
        monkeypatch.setattr(OrderTrials, "links", lambda *_, link=link: (conflict, Links((link,), 2)))
        assert module._other_orders(trials, GuiltySwitch(SWITCH, None), conflict, Links((known,))) == [*told]


def test_after_ctrl_c_no_look_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    failing = seen(access("0.2", 1, 5, "reads"), access("0.1", 5, 6, "stores"))
    order = Conflict("0.1", None, Edge(failing.accesses[1], failing.accesses[:1], inferred=False), None, (), (), ())

    def interrupted(*_: object) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "conflict_of", lambda *_, **__: order)
    monkeypatch.setattr(module, "_chain", lambda *_: module.NO_CHAIN)
    monkeypatch.setattr(OrderTrials, "links", interrupted)
    tried: list[object] = []
    monkeypatch.setattr(module, "conflicts_of_first_looks", lambda *_: tried.append(1) or iter(()))
    trials = OrderTrials(isolated(), Twins(failing, failing), None, None)  # type: ignore[arg-type]
    explanation = module._race(trials, GuiltySwitch(SWITCH, None))
    assert (explanation.interrupted, tried) == (True, [])
    assert explanation.story is not None
    assert explanation.story.kind == kinds.ORDER_VIOLATION


@pytest.mark.parametrize(("why_not", "elsewhere"), [("it fails, too", True), ("they cannot be reversed alone", False)])
def test_an_order_that_runs_disprove_gives_way_to_another_choice(
    why_not: str, elsewhere: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = seen(access("0.2", 1, 5, "reads"), access("0.1", 5, 6, "stores"))
    look, store = failing.accesses
    order = Conflict("0.1", None, Edge(store, (look,), inferred=False), None, (), (), ())
    tried = Links((Link(look, store, False, why_not),))
    other: Any = module.Explanation("another choice")  # type: ignore[arg-type]
    monkeypatch.setattr(module, "conflict_of", lambda *_, **__: order)
    monkeypatch.setattr(module, "try_conflict", lambda *_: (GuiltySwitch(SWITCH, None), (order, order, tried), False))
    for name in ("_of_first_look", "_of_outdated_check"):
        monkeypatch.setattr(module, name, lambda *_, **__: module.Explanation(None))
    monkeypatch.setattr(module, "_of_other_choice", lambda *_, **__: other)
    monkeypatch.setattr(module, "_chain", lambda *_: module.NO_CHAIN)
    trials = OrderTrials(isolated(), Twins(failing, failing), None, None)  # type: ignore[arg-type]
    assert (module._race(trials, GuiltySwitch(SWITCH, None)) is other) is elsewhere
