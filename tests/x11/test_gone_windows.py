"""Which window an event was for that has gone by now."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any, cast

import pytest

from recorders.x11_gone import GoneWindows
from replay_dd.events.model import Ending, EndingKind, InputKind, Rectangle

pytestmark = pytest.mark.once

ENDED = Ending(EndingKind.EXIT, "exit status 0")


def gone_of(*endings: Ending | None) -> GoneWindows:
    """Windows of a program on a display of its own, which is asked for its ending so often."""
    told = iter(endings)
    program = SimpleNamespace(ending=lambda: next(told), wait_for_end=lambda limit_s: next(told))
    return GoneWindows(cast(Any, program), cast(Any, SimpleNamespace(connection=None)), threading.Event())


def test_the_window_seen_last_is_the_one() -> None:
    gone = gone_of()
    gone.note(0, Rectangle(0, 0, 100, 100))
    gone.note(1, Rectangle(50, 50, 100, 100))
    assert [gone.at(*place) for place in ((10, 10), (60, 60), (149, 149), (150, 60))] == [0, 1, 1, None]
    gone.note(0, Rectangle(0, 0, 70, 70))
    assert [gone.at(*place) for place in ((60, 60), (80, 80))] == [0, 1]


def test_a_program_without_windows_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    windows: list[list[object]] = [[], [], [object()]]
    monkeypatch.setattr("recorders.x11_gone.top_windows", lambda connection: windows.pop(0))
    gone = gone_of(None, None, ENDED, None)
    gone.note(0, Rectangle(0, 0, 100, 100))
    assert gone.took_it(InputKind.BUTTON_PRESS)
    assert not gone.took_it(InputKind.BUTTON_PRESS)  # by now it has another window


def test_a_program_that_has_had_no_window_is_not_waited_for() -> None:
    assert not gone_of(None).took_it(InputKind.BUTTON_PRESS)


@pytest.mark.parametrize("ending", [None, ENDED])
def test_a_motion_waits_for_nothing(ending: Ending | None) -> None:
    gone = gone_of(ending)
    gone.note(0, Rectangle(0, 0, 100, 100))
    assert gone.took_it(InputKind.MOVE) is (ending is not None)
