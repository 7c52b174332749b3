"""Whether what a thread has made of its first look is told, or only what it came across before it stored that."""

from __future__ import annotations

import pytest

from replay_dd.schedules.observed.flow import Flow
from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story import stale_store as module
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.story.links import FAILS_TOO, Link, Links
from replay_dd.schedules.story.stale_store import is_of_two_things, with_stale_store, with_stale_value
from tests.schedules.story.made_accesses import NOTHING, Y, access, conflict_of, number
from tests.schedules.story.test_victim import seen

ITEM = ("item", 4, "'visits'")
LOOK = access("0.1", 1, 1, "reads", ITEM, old=NOTHING, held=(7,))
STORES = access("0.2", 2, 2, "stores", ITEM, old=NOTHING, held=(7,))
COUNTS = access("0.2", 3, 3, "stores", Y, held=(7,))
SECOND = access("0.1", 4, 4, "reads", Y, held=(7,))
STORED = access("0.1", 5, 5, "stores", ITEM, old=number(1), held=(7,))
FAILS = f"the other way round, {FAILS_TOO}"
ALONE = "they cannot be turned round alone"


def told(*own: Access, proved: bool = True, why_not: str = ALONE, observed: bool = True) -> Access:
    """What stands at the right edge; one thread looks and stores, where another one stores in between."""
    failing = seen(*own[:1], STORES, COUNTS, *own[1:])
    look, stores, counts, second, *_ = failing.accesses
    sides = Edge(look, (stores,), inferred=False), Edge(second, (counts,), inferred=False)
    conflict = Conflict("0.1", *sides, None, (stores, counts), (look,), failing.accesses[3:])
    assert is_of_two_things(conflict)
    links = Links((Link(look, stores, proved), Link(counts, second, not why_not, why_not)))
    right = with_stale_store(conflict, links, failing, Flow() if observed else None).right
    assert right is not None
    assert right.others == ((stores,) if right.access.does == "stores" else (counts,))
    return right.access


@pytest.mark.parametrize("why_not", ["", FAILS, ALONE])
def test_under_one_lock_it_counts_what_was_made_of_the_first_look(why_not: str) -> None:
    assert told(LOOK, SECOND, STORED, why_not=why_not).does == "stores"


@pytest.mark.parametrize("held", [((7,), ()), ((), (7,)), ((8,), (7,))])
def test_what_is_not_under_one_lock_counts_only_if_the_second_look_does_not(
    held: tuple[tuple[int, ...], tuple[int, ...]],
) -> None:
    own = LOOK, SECOND._replace(held=held[0]), STORED._replace(held=held[1])
    assert told(*own).does == "reads"
    assert told(*own, why_not=FAILS).does == "stores"


def test_a_lock_that_was_given_back_in_between_does_not_count() -> None:
    between = access("0.1", 5, 5, "reads", ("attribute", 1, "z"))
    assert told(LOOK, SECOND, between, STORED._replace(number=6)).does == "reads"


def test_one_that_would_have_taken_it_away_found_nothing_as_well() -> None:
    vain = access("0.1", 1, 1, "deletes", ITEM, old=NOTHING)
    assert told(vain, SECOND, STORED).does == "stores"


def test_a_store_that_is_not_made_of_the_first_look_is_not_told() -> None:
    assert told(LOOK._replace(old=number(0)), SECOND, STORED).does == "reads"
    assert told(LOOK, SECOND, STORED, proved=False).does == "reads"
    assert told(LOOK, SECOND, STORED, observed=False).does == "reads"
    assert told(LOOK, SECOND, STORED._replace(thing=("item", 4, "'hits'"))).does == "reads"


@pytest.mark.parametrize(
    ("look", "told_of"),
    [
        ({}, "reads"),
        ({"tested": False}, "deletes"),
        ({"old": number(0)}, "deletes"),
        ({"held": (8,)}, "deletes"),
        ({"thing": ("item", 4, "'hits'")}, "deletes"),
    ],
)
def test_the_look_decides_and_not_what_was_taken_away_in_vain_after_it(look: dict[str, object], told_of: str) -> None:
    checks = LOOK._replace(**{"tested": True, **look})  # type: ignore[arg-type]
    vain = access("0.1", 2, 2, "deletes", ITEM, old=NOTHING, held=(7,))
    stores, stored = STORES._replace(number=3, global_time=3), STORED._replace(number=4, time=3)
    left = conflict_of([checks, vain, stores, stored], 3, 3).left
    assert left is not None
    assert left.access.does == told_of
    assert left.others == (stores,)


TEXT = access("0.1", 1, 1, "reads", Y)
TYPED = access("0", 1, 2, "stores", Y)
NEWER = access("0.2", 1, 3, "stores")
OLDER = access("0.1", 2, 4, "stores")


def without_left(*accesses: Access, **more: object) -> tuple[Conflict, Observation]:
    """A conflict of which only the store that comes last is known, with all that its run accessed."""
    failing = seen(*accesses)
    *rest, stored = failing.accesses
    own = tuple(one for one in rest if one.thread == stored.thread)
    stretch = tuple(one for one in rest if one not in own)
    right = Edge(stored, stretch[-1:], inferred=True)
    found = Conflict("0.1", None, right, None, stretch, own, (stored,))
    return found._replace(**more), failing  # type: ignore[arg-type]


def test_a_value_is_stale_if_others_changed_what_it_was_made_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "is_made_of", lambda stored, look, _: (stored.number, look.number) == (4, 1))
    found, failing = without_left(TEXT, TYPED, NEWER, OLDER)
    left = with_stale_value(found, failing, Flow()).left
    assert left == Edge(failing.accesses[0], (failing.accesses[1],), inferred=False)


@pytest.mark.parametrize(
    ("accesses", "more"),
    [
        ((TEXT, TYPED._replace(does="reads", writes=False), NEWER, OLDER), {}),
        ((TEXT, TYPED._replace(thing=("attribute", 1, "z")), NEWER, OLDER), {}),
        ((TEXT._replace(does="calls"), TYPED, NEWER, OLDER), {}),
        ((TEXT, TYPED, NEWER, OLDER._replace(does="reads", writes=False)), {}),
        ((TEXT, TYPED, NEWER, OLDER), {"never": True}),
        ((TEXT, TYPED, NEWER, OLDER), {"right": None}),
        ((TEXT, TYPED, NEWER, OLDER), {"left": Edge(NEWER, (), inferred=False)}),
    ],
)
def test_nothing_is_stale_if_nobody_changed_it_or_it_is_not_stored(
    accesses: tuple[Access, ...], more: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "is_made_of", lambda *_: True)
    found, failing = without_left(*accesses, **more)
    assert with_stale_value(found, failing, Flow()) is found


def test_a_value_whose_origin_was_not_observed_is_not_called_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    found, failing = without_left(TEXT, TYPED, NEWER, OLDER)
    assert with_stale_value(found, failing, None) is found
    monkeypatch.setattr(module, "is_made_of", lambda *_: False)
    assert with_stale_value(found, failing, Flow()) is found
