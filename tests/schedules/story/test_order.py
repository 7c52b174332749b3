"""Which order passes, as both runs show it."""

from __future__ import annotations

from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.story.order import is_kept, passing_order
from replay_dd.schedules.story.passes import IN_THIS_ORDER, passes_in_words
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


def test_no_order_is_promised_that_the_passing_run_does_not_have() -> None:
    """The passing run adds twice before the look, and the failing run once: both add before they look."""

    def added(time: int) -> Access:
        return access("0.1", time, time, "calls", ("whole", INSTANCE, ""), detail="append()")

    look = access("0", 1, 9, "reads", ("whole", INSTANCE, ""))
    failing, passing = seen(added(1), look), seen(added(1), added(2), look)
    first, then = failing.accesses
    assert is_kept(first, then, failing, passing)
    assert not is_kept(first, then, failing, seen(look, added(1)))
    assert not is_kept(first, then, failing, seen(added(1)))
    conflict = Conflict("0", None, Edge(then, (first,), inferred=False), None, (), (), ())
    assert passes_in_words("race", conflict, None).startswith("if thread 0 reads")
    assert passes_in_words("race", conflict, None, lambda *_: True) == IN_THIS_ORDER
