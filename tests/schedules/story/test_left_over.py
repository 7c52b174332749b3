"""What a thread has left for itself in a thread-local object."""

from __future__ import annotations

import pytest

from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.kinds import kind_of
from replay_dd.schedules.story.left_over import find_left_over, help_of_left_over
from tests.schedules.logs import PASSED
from tests.schedules.story.made_accesses import NOTHING, access, number
from tests.schedules.story.test_victim import seen


def of(thread: str) -> tuple[str, int, str]:
    return ("local", 3, f"user of thread {thread}")


def sets(thread: str = "0.1") -> Access:
    return access(thread, 1, 1, "stores", of(thread), name="request.user")


def looks(thread: str = "0.1", **more: object) -> Access:
    return access(thread, 2, 2, "reads", of(thread), name="request.user", **more)


PASSING = seen(sets(), looks(), looks("0.2", old=NOTHING))


def test_a_later_call_of_the_same_thread_finds_what_is_left() -> None:
    failing = seen(sets(), looks(), looks())
    conflict = find_left_over(failing, PASSING)
    assert conflict is not None
    assert (conflict.thread, conflict.looked) == ("0.1", failing.accesses[0])
    assert conflict.right is not None
    assert conflict.right.access == failing.accesses[2]
    assert kind_of(conflict, PASSED) == kinds.LEFT_OVER


@pytest.mark.parametrize(("found", "task", "is_left"), [("ann", 0, True), ("bob", 0, False), ("ann", 2, False)])
def test_a_context_variable_is_left_over_as_it_was_stored_outside_of_tasks(
    found: str, task: int, is_left: bool
) -> None:
    """Another value is that of another context, which `run()` has entered; each task of an event loop has its own."""
    more = {"holder_type": "ContextVar", "task": task}
    stored = sets()._replace(new=number("ann"), **more)  # type: ignore[arg-type]
    failing = seen(stored, looks(old=number("ann"), **more), looks(old=number(found), **more))
    conflict = find_left_over(failing, seen(stored, looks(**more), looks("0.2", old=NOTHING, **more)))
    assert (conflict is not None) == is_left
    if conflict is not None and conflict.right is not None:
        assert "copy_context().run" in help_of_left_over(conflict.right.access)


@pytest.mark.parametrize(
    ("failing", "passing"),
    [
        (seen(sets(), looks(), sets(), looks()), PASSING),  # each call sets it
        (seen(sets(), looks(), looks("0.2", old=NOTHING)), PASSING),
        (seen(sets(), looks(), looks()), seen(sets(), looks(), looks(), looks("0.2", old=NOTHING))),
        # The passing run does, too.
        (seen(sets(), looks(), looks()), seen(sets(), looks())),  # and never finds nothing
        (seen(sets()._replace(thing=("attribute", 3, "user")), looks(), looks()), PASSING),
    ],
)
def test_nothing_is_left_over(failing: Observation, passing: Observation) -> None:
    assert find_left_over(failing, passing) is None
