"""Which order passes, as both runs show it."""

from __future__ import annotations

from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.story.order import passing_order
from tests.schedules.story.made_accesses import access
from tests.schedules.story.test_victim import seen

CLASS, INSTANCE = 8, 5


def one(thread: str, time: int, does: str, holder: int = INSTANCE) -> Access:
    thing = ("attribute", holder, "count")
    return access(thread, time, time, does, thing, holder_type="type" if holder == CLASS else "Counter")


def test_a_look_at_what_only_the_class_has_is_that_at_the_instance_once_it_has_its_own() -> None:
    """`counter.count += 1`: who comes first reads the `count` of the class."""
    failing = seen(
        *(one("0.1", 1, "reads", CLASS), one("0.1", 1, "reads")),
        *(one("0.2", 1, "reads", CLASS), one("0.2", 1, "reads"), one("0.2", 2, "stores"), one("0.1", 2, "stores")),
    )
    passing = seen(
        *(one("0.1", 1, "reads", CLASS), one("0.1", 1, "reads"), one("0.1", 2, "stores")),
        *(one("0.2", 1, "reads"), one("0.2", 2, "stores")),
    )
    read, stored, own = failing.accesses[3:]
    conflict = Conflict("0.1", None, Edge(own, (read, stored), inferred=False), None, (), (), ())
    order = passing_order(conflict, failing, passing)
    assert order is not None
    assert (order[0], order[1]) == (own, read)
