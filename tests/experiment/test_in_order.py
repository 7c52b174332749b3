"""Runs made ahead, and Ctrl-C while somebody waits for them."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from replay_dd.experiment import in_order
from replay_dd.experiment.in_order import runs_in_order
from replay_dd.experiment.process import LIVE


@pytest.fixture(autouse=True)
def reopened() -> Iterator[None]:
    with LIVE.reopened_after():
        yield


def test_runs_come_in_the_order_of_their_plans() -> None:
    assert list(runs_in_order(lambda plan: plan * 2, range(9), 3)) == [(plan, plan * 2) for plan in range(9)]


def test_ctrl_c_while_it_waits_for_the_runs_made_ahead_ends_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """It must reach the caller: what it raises in a destructor is lost."""
    killed = threading.Event()

    class Pool(in_order.ThreadPoolExecutor):
        def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
            if not killed.is_set():
                raise KeyboardInterrupt
            super().shutdown(wait, cancel_futures=cancel_futures)

    monkeypatch.setattr(in_order, "ThreadPoolExecutor", Pool)
    monkeypatch.setattr(in_order.LIVE, "kill_all", killed.set)
    runs = runs_in_order(lambda plan: plan == 0 or killed.wait(60), range(4), 2)
    assert next(runs) == (0, True)
    with pytest.raises(KeyboardInterrupt):
        runs.close()
    assert killed.is_set()
