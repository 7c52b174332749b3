"""What a thread has left for itself in a thread-local object."""

from __future__ import annotations

from dataclasses import replace

import pytest

from replay_dd.schedules.observed.observation import Access, Observation, StackFrame, Value
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


def in_call(one: Access, line: int, function: str, within: tuple[StackFrame, ...] = ()) -> Access:
    place = replace(one.place, line=line, function=function)
    return one._replace(place=place, stack=(StackFrame("prog.py", "prog.py", line, function, True), *within))


RUNS = StackFrame("pool.py", "pool.py", 58, "run", False)


@pytest.mark.parametrize(
    ("outer", "is_left"),
    [
        ((RUNS, RUNS), True),
        ((RUNS, RUNS._replace(line=60)), False),  # the call may still go on
        ((RUNS, RUNS._replace(function="other")), True),
    ],
)
def test_another_function_that_is_called_next_finds_what_is_left(
    outer: tuple[StackFrame, StackFrame], is_left: bool
) -> None:
    stored, look = in_call(sets(), 1, "as_tenant", outer[:1]), in_call(looks(), 5, "anonymous", outer[1:])
    missing = in_call(looks("0.2", old=NOTHING), 5, "anonymous", outer[1:])
    assert (find_left_over(seen(stored, look), seen(stored, missing)) is not None) is is_left


def test_what_init_has_stored_is_as_good_as_nothing() -> None:
    """The class gives each thread something at first, just after the thread has asked for it."""

    def made(thread: str, line: int, caller: str) -> Access:
        one = in_call(sets(thread), 9, "Request.__init__")._replace(holder_type="Request", name="self.user")
        return one._replace(stack=(*one.stack, StackFrame("prog.py", "prog.py", line, caller, True), RUNS))

    stored, look = in_call(sets(), 1, "as_tenant", (RUNS,)), in_call(looks(), 5, "anonymous", (RUNS,))
    unknown = in_call(looks("0.2", old=Value("?", "", -1)), 5, "anonymous", (RUNS,))
    passing = seen(stored, made("0.1", 1, "as_tenant"), unknown, made("0.2", 5, "anonymous"))
    assert find_left_over(seen(stored, made("0.1", 1, "as_tenant"), look), passing) is not None
    assert find_left_over(seen(stored, look), seen(stored, unknown)) is None, "whether it found something is not known"
    only_made = seen(made("0.1", 1, "as_tenant"), look)
    assert find_left_over(only_made, passing) is None, "no call has stored it"
    elsewhere = made("0.2", 6, "anonymous")
    assert find_left_over(seen(stored, look), seen(stored, unknown, elsewhere)) is None
