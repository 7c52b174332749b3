"""Event loops that the library closes while another thread still uses them."""

from __future__ import annotations

import pytest

from replay_dd.schedules.observed.observation import Access, StackFrame
from replay_dd.schedules.story.closed_loops import help_of_closed_loop
from replay_dd.schedules.story.conflict import Conflict, Edge
from tests.schedules.story.made_accesses import Y, access

LOOP = ("object", 7, "")
LIBRARY = StackFrame("asyncio/selector_events.py", "/lib/selector_events.py", 99, "BaseSelectorEventLoop.close", False)
USE = access("0.1", 9, 9, "calls", LOOP, detail="call_soon_threadsafe()", holder_type="_UnixSelectorEventLoop")
CLOSE = access("0", 5, 5, "calls", LOOP, detail="close()", holder_type="_UnixSelectorEventLoop")
BY_LIBRARY = CLOSE._replace(stack=(LIBRARY, *CLOSE.stack))


def told(use: Access, close: Access) -> str:
    return help_of_closed_loop(Conflict("0.1", None, Edge(use, (close,), inferred=False), None, (close,), (), (use,)))


def test_the_thread_that_is_late_is_waited_for() -> None:
    assert "wait for thread 0.1 before the event loop is closed (prog.py:5)" in told(USE, BY_LIBRARY)


@pytest.mark.parametrize(
    ("use", "close"),
    [
        (USE, CLOSE),  # the program closes it: an order can be kept there
        (USE, BY_LIBRARY._replace(detail="stop()")),
        (USE, BY_LIBRARY._replace(holder_type="Connection")),
        (USE._replace(thing=Y), BY_LIBRARY),
        (USE._replace(thread="0"), BY_LIBRARY),
    ],
)
def test_of_anything_else_nothing_is_said(use: Access, close: Access) -> None:
    assert told(use, close) == ""
