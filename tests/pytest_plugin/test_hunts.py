"""What pytest's process does while it waits for a hunt."""

from __future__ import annotations

from signal import SIGINT, SIGKILL, Signals
from types import SimpleNamespace

import pytest

from replay_dd.pytest_plugin import hunts
from replay_dd.pytest_plugin.hunts import Hunts


@pytest.mark.once
@pytest.mark.parametrize(
    ("interrupts", "sent"), [(0, []), (1, [SIGINT]), (2, [SIGINT]), (3, [SIGINT, SIGKILL]), (4, [SIGINT, SIGKILL])]
)
def test_a_second_ctrl_c_does_not_cost_what_a_hunt_has_found(
    interrupts: int, sent: list[Signals], monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting: list[BaseException | None] = [*(KeyboardInterrupt() for _ in range(interrupts)), None]
    signals: list[Signals] = []

    def poll() -> None:
        error = waiting.pop(0)
        if error is not None:
            raise error

    monkeypatch.setattr(hunts, "poll", lambda: SimpleNamespace(register=lambda *_: None, poll=poll))
    monkeypatch.setattr(hunts, "kill", lambda _, number: signals.append(number))
    monkeypatch.setattr(hunts, "write_message", lambda *_: None)
    monkeypatch.setattr(hunts, "read_message", lambda *_: (True, "a race"))
    own = Hunts.__new__(Hunts)
    own._asking = own._answers = -1
    own._process = SimpleNamespace(pid=1)  # type: ignore[assignment]  # nothing else of it is used
    assert own._ask("hunt_test") == (True, "a race", interrupts > 0)
    assert signals == sent
