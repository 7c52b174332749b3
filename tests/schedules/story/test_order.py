"""Which order passes, as both runs show it."""

from __future__ import annotations

from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.story.order import contradicts, other_way_round, passing_order
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


def test_a_passing_run_may_show_the_order_of_the_failing_one() -> None:
    """It passes as a third thread stores, too: its steps are none of those that the other order would bring about."""
    failing = seen(one("0.1", 1, "stores"), one("0", 1, "reads"))
    stored, read = failing.accesses
    right = Conflict("0", None, Edge(read, (stored,), inferred=False), None, (), (), ())
    left = Conflict("0", Edge(read, (stored,), inferred=False), None, None, (), (), ())
    alike, other = seen(stored, one("0.2", 1, "stores"), read), seen(read, stored)
    assert passing_order(right, failing, alike) is None
    assert other_way_round(right) == (read, stored)
    assert other_way_round(left) == (stored, read)
    assert contradicts((read, stored), failing, alike)
    assert not contradicts((read, stored), failing, other)
    assert not contradicts((read, stored), failing, seen(stored))
