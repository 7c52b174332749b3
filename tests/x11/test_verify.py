"""The ways in which a recorded session is tried."""

from __future__ import annotations

from typing import Any

import pytest

from recorders import x11_verify
from replay_dd.events.model import Pace
from replay_dd.events.run import Conditions

NO_SESSION: Any = None


@pytest.mark.parametrize(("later_s", "waited"), [(0.0, [0.0]), (0.5, [0.0, 0.5, 5.0]), (2.0, [0.0, 2.0, 10.0])])
def test_at_the_fastest_pace_a_late_failure_is_waited_for_twice(
    later_s: float, waited: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(x11_verify, "linger_of", lambda *_, **__: later_s)
    ways = list(x11_verify._ways(NO_SESSION, (), Conditions()))
    assert [way.linger_s for way in ways if way.pace is Pace.FAST] == waited
    others = [way for way in ways if way.pace is not Pace.FAST]
    assert [(way.pace, way.linger_s) for way in others] == [(pace, 0.0) for pace in Pace if pace is not Pace.FAST]
