"""Contexts of `contextvars` that two threads enter at a time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from replay_dd.schedules.model import Ending, UncaughtException
from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.conflict import Conflict
from replay_dd.schedules.story.own_fault import WHY_NOT_TRIED, tell_own_fault
from replay_dd.schedules.story.shared_context import find_shared_context
from replay_dd.schedules.story.twins import Twins
from tests.schedules.logs import PASSED
from tests.schedules.story.made_accesses import access
from tests.schedules.story.test_victim import seen

TEXT = "cannot enter context: <_contextvars.Context object at 0x7f00> is already entered"
REFUSED = replace(PASSED, status=1, exceptions=(UncaughtException("main", "RuntimeError", TEXT, ()),))


def enters(thread: str, line: int, context: int = 3) -> Access:
    thing = ("object", context, "")
    return access(thread, line, line, "calls", thing, detail="run()", holder_type="Context", writes=True)


def story(failing: Observation) -> str:
    nothing = Conflict("0.1", None, None, None, (), (), ())
    found = tell_own_fault(nothing, Twins(failing, failing), REFUSED)
    assert found is not None
    assert found[1].kind == kinds.SHARED_CONTEXT
    assert found[1].kind in WHY_NOT_TRIED
    return f"{found[1].summary} {found[1].help}"


def test_a_context_is_given_to_two_tasks() -> None:
    text = story(seen(enters("0", 3), enters("0", 4), access("0", 9, 9, "reads")))
    assert "Thread 0 runs two calls in one context (prog.py:3, prog.py:4)" in text
    assert "a context of its own at prog.py:3 and prog.py:4" in text


def test_two_threads_enter_a_context() -> None:
    text = story(seen(enters("0", 1, 8), enters("0.1", 3), enters("0.2", 4)))
    assert "Thread 0.2 enters a context (prog.py:4) that thread 0.1 has entered (prog.py:3)" in text


def test_a_thread_was_refused_what_it_was_to_enter_last() -> None:
    """Two others have entered another context, one after the other."""
    ended = replace(REFUSED, exceptions=(replace(REFUSED.exceptions[0], where="0.2"),))
    uses = [enters("0.1", 3, 8), enters("0.2", 4, 8), enters("0.1", 5), enters("0.3", 6)]
    found = find_shared_context(seen(*uses), ended)
    assert found is not None
    assert [one.place.line for one in (*found.before, *found.stretch)] == [3, 4]


@pytest.mark.parametrize(
    ("failing", "ending"),
    [
        (seen(enters("0", 3), enters("0", 4)), PASSED),
        (seen(enters("0", 3), enters("0", 4, 8)), REFUSED),  # each has its own
        (seen(), REFUSED),
    ],
)
def test_no_context_is_known_to_be_entered_twice(failing: Observation, ending: Ending) -> None:
    assert find_shared_context(failing, ending) is None
