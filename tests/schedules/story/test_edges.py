"""What single edges of a conflict say."""

from __future__ import annotations

from dataclasses import replace

import pytest

from replay_dd.schedules.observed.observation import NOTHING_OBSERVED, Observation, Thing, Value
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.story.edges import adds_holder, misses
from replay_dd.schedules.story.kinds import essential, kind_of
from replay_dd.schedules.story.sentences import summary_of
from replay_dd.schedules.story.victim import failed_access
from replay_dd.schedules.story.words import Letters
from tests.schedules.logs import PASSED
from tests.schedules.story.made_accesses import NOTHING, X, access, number, switch


@pytest.mark.parametrize(("thing", "decides"), [(X, True), (("global", 1, "x"), True), (("cell", 1, "x"), False)])
def test_who_finds_no_attribute_and_makes_it_has_decided_to(thing: Thing, decides: bool) -> None:
    first = access("0.1", 1, 1, "reads", thing, old=NOTHING)
    last = access("0.1", 2, 2, "stores", thing)
    assert misses(first, last) == decides
    assert not misses(first._replace(old=last.new), last)


@pytest.mark.parametrize(
    ("does", "detail", "in_vain"),
    [("deletes", "", True), ("calls", "pop('a', None)", True), ("calls", "append(1)", False), ("stores", "", False)],
)
def test_to_take_away_what_is_not_there_changes_nothing(does: str, detail: str, in_vain: bool) -> None:
    thing = ("item", 1, "'a'")
    vain = access("0.1", 1, 5, does, thing, detail=detail, writes=True, old=NOTHING)
    again = access("0.2", 1, 6, "deletes", thing, old=NOTHING)
    look = access("0.2", 1, 7, "reads", thing)
    assert vain.in_vain == in_vain
    assert again.conflicts(vain) == vain.conflicts(again) == (not in_vain)
    assert vain.conflicts(look) == look.conflicts(vain) == (not in_vain)
    assert vain.conflicts(look._replace(number=4))  # before that, there may have been something to take away
    assert again.conflicts(vain._replace(old=number(1)))


@pytest.mark.parametrize(("left", "in_vain"), [(2, True), (1, False)])
def test_a_list_that_stays_as_it_is_had_nothing_to_remove(left: int, in_vain: bool) -> None:
    whole, before = ("whole", 4, ""), Value("list of 2", "list", 4)
    after = before._replace(text=f"list of {left}")
    removes = access("0.1", 1, 1, "calls", whole, detail="remove('a')", reads=True, writes=True, old=before, new=after)
    assert (removes.in_vain, removes.changes) == (in_vain, not in_vain)
    assert Letters().does(removes) == f"remove('a'){': it is not there' if in_vain else ', then list of 1'}"
    failing = Observation((removes,), {})
    assert failed_access(failing, NOTHING_OBSERVED, switch(1), PASSED) == (removes if in_vain else None)
    assert not removes._replace(new=Value("?", "", -1)).in_vain


@pytest.mark.parametrize(("function", "kind"), [("work", kinds.LOST_UPDATE), ("open", kinds.CHECK_THEN_ACT)])
def test_what_another_function_took_away_in_vain_it_has_only_found_missing(function: str, kind: str) -> None:
    """``drop(user)`` and then ``open(user)``, and no ``counts[key] = counts.pop(key, 0) + 1``."""
    item = ("item", 4, "'ann'")
    vain = access("0.1", 1, 1, "calls", item, detail="pop('ann', None)", reads=True, writes=True, old=NOTHING)
    other = access("0.2", 2, 2, "stores", item, old=NOTHING)
    stored = access("0.1", 3, 3, "stores", item)
    stored = stored._replace(place=replace(stored.place, function=function))
    edges = Edge(vain, (other,), inferred=False), Edge(stored, (other,), inferred=False)
    conflict = Conflict("0.1", *edges, None, (other,), (vain,), (stored,))
    assert kind_of(conflict, PASSED) == kind
    assert ("both found nothing there" in summary_of(kind, conflict)) == (kind == kinds.CHECK_THEN_ACT)


@pytest.mark.parametrize(
    ("by", "taken", "told"),
    [
        ("0.2", {"does": "calls", "detail": "clear()"}, "0.2 has taken it out there (prog.py:5) and changed it (prog"),
        ("0.3", {"does": "stores"}, "after thread 0.3 has replaced it there (prog.py:5) and thread 0.2 has changed it"),
    ],
)
def test_an_object_may_be_used_when_it_is_no_longer_where_it_was_found(
    by: str, taken: dict[str, object], told: str
) -> None:
    idle = ("item", 4, "0")
    look = access("0.1", 1, 1, "reads", idle, old=Value("", "Connection", 9))
    takes = access(by, 5, 2, "calls", idle, writes=True)._replace(**taken)  # type: ignore[arg-type]
    closes = access("0.2", 6, 3, "stores", ("attribute", 9, "open"))
    use = access("0.1", 7, 4, "reads", ("attribute", 9, "open"), tested=True)
    edges = Edge(look, (takes,), inferred=False), Edge(use, (closes,), inferred=False)
    conflict = essential(Conflict("0.1", *edges, None, (takes, closes), (look,), (use,)), PASSED)
    assert kind_of(conflict, PASSED) == kinds.INVALIDATED
    summary = summary_of(kinds.INVALIDATED, conflict)
    assert summary.startswith("Thread 0.1 finds a Connection in Thing.0 (prog.py:1), but uses it (prog.py:7) only")
    assert told in summary
    other = edges[1]._replace(access=use._replace(thing=("attribute", 8, "open")))
    assert kind_of(conflict._replace(right=other), PASSED) == kinds.TORN_READ
    checked = edges[0]._replace(access=look._replace(tested=True))
    assert kind_of(conflict._replace(left=checked), PASSED) == kinds.CHECK_THEN_ACT


def test_what_is_taken_from_a_derived_container_changes_it_although_the_object_stays_the_same() -> None:
    cache = Value("", "Cache", 8)
    takes = access("0.1", 1, 5, "calls", ("whole", 1, ""), detail="popitem(False)", writes=True, old=cache, new=cache)
    look = access("0.2", 1, 7, "calls", ("whole", 1, ""), detail="__getitem__()", reads=True)
    assert takes.changes
    assert look.conflicts(takes)
    same = number([1])
    assert takes._replace(detail="remove(2)", old=same, new=same).in_vain


def test_an_object_is_added_before_its_attribute_is_set() -> None:
    adds = access("0.1", 1, 1, "calls", ("whole", 3, ""), detail="append(Room)", writes=True)
    sets = access("0.1", 2, 5, "stores", holder_type="Room")
    assert adds_holder(adds, sets)
    assert not adds_holder(adds._replace(detail="append(BigRoom)"), sets)
    assert not adds_holder(adds._replace(detail="remove(Room)"), sets)
    assert not adds_holder(adds, sets._replace(thing=("item", 1, "x")))
    assert not adds_holder(adds, sets._replace(does="reads"))
