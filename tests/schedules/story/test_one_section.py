"""Sections under one lock: which of their accesses a conflict is about."""

from __future__ import annotations

from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.conflict import Conflict
from replay_dd.schedules.story.kinds import kind_of
from replay_dd.schedules.story.one_section import with_one_thing
from tests.schedules.logs import PASSED
from tests.schedules.story.made_accesses import access, conflict_of, number

VALUE, EXPIRES, CLOSED = (("attribute", 1, key) for key in ("value", "expires", "closed"))
GUARD = (3,)


def section(thread: str, time: int, global_time: int, *does: str) -> list[Access]:
    """A section under the guard, such as ``reads value``, one access a yield point."""
    found = []
    for number_, words in enumerate(does):
        what, key = words.split()
        thing = ("attribute", 1, key)
        same = key == "expires"
        new = number(1) if same else number(2)
        one = access(thread, time + number_, global_time + number_, what, thing, held=GUARD)
        found.append(one._replace(new=new) if what == "stores" else one)
    return found


def conflict(*others: str) -> Conflict:
    accesses = [
        *section("0.1", 1, 1, "reads value", "reads expires"),
        *section("0.2", 1, 5, *others),
        *section("0.1", 3, 20, "reads closed", "reads value", "stores value", "stores expires"),
    ]
    return conflict_of(accesses, 3, 3)


def names(one: Conflict) -> tuple[str, str]:
    assert one.left is not None
    assert one.right is not None
    return one.left.access.name, one.right.access.name


def test_what_others_have_changed_is_told_and_not_what_is_beside_it() -> None:
    at_edges = conflict("reads value", "stores value", "stores expires", "stores closed")
    assert names(at_edges) == ("Thing.expires", "Thing.closed")
    found = with_one_thing(at_edges)
    assert names(found) == ("Thing.value", "Thing.value")
    assert found.right is not None
    assert found.right.access.does == "stores"
    assert kind_of(found, PASSED) == kinds.LOST_UPDATE


def test_to_store_the_same_value_again_changes_nothing() -> None:
    at_edges = conflict("stores expires", "stores closed")
    assert with_one_thing(at_edges) == at_edges


def test_without_a_common_lock_the_edges_stay() -> None:
    at_edges = conflict("stores value", "stores expires", "stores closed")
    assert at_edges.left is not None
    unguarded = tuple(other._replace(held=()) for other in at_edges.left.others)
    one = at_edges._replace(left=at_edges.left._replace(others=unguarded))
    assert with_one_thing(one) == one


def test_accesses_of_another_section_do_not_count() -> None:
    at_edges = conflict("stores value", "stores expires", "stores closed")
    apart = tuple(one if one.thing == EXPIRES else one._replace(held=()) for one in at_edges.before)
    assert with_one_thing(at_edges._replace(before=apart)) == at_edges._replace(before=apart)


def test_one_thing_at_both_edges_stays() -> None:
    accesses = [
        *section("0.1", 1, 1, "reads closed", "reads value"),
        *section("0.2", 1, 5, "stores value", "stores closed"),
        *section("0.1", 3, 20, "stores value", "stores closed"),
    ]
    at_edges = conflict_of(accesses, 3, 3)
    assert names(at_edges) == ("Thing.value", "Thing.value")
    assert with_one_thing(at_edges) == at_edges


def test_of_one_instruction_the_access_to_the_same_thing_is_told() -> None:
    """To open a file looks at the working directory, too."""
    folder, report = ("process", 0, "cwd"), ("file", -1, "report")
    accesses = [
        access("0.1", 2, 2, "stores", folder),
        access("0.2", 1, 5, "stores", folder, new=number(3)),
        access("0.2", 2, 6, "open", report, writes=True),
        access("0.1", 3, 8, "open", report, writes=True),
        access("0.1", 3, 9, "reads", folder),
    ]
    at_edges = conflict_of(accesses, 3, 3)
    assert names(at_edges) == ("Thing.cwd", "Thing.report")
    found = with_one_thing(at_edges)
    assert names(found) == ("Thing.cwd", "Thing.cwd")
    assert kind_of(found, PASSED) == kinds.OVERWRITTEN
