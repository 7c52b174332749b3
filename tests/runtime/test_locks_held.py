"""Which locks an observed run says that a thread holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_dd.schedules.running.target import Plan
from tests.runtime.programs import output_of, run_program

ALL = Plan(observed={"": (0, 1 << 62)})
TAKES = """
    import threading

    class Stock:
        left = 3
        guard = threading.{kind}()

    def sell():
        Stock.left -= 1
        if Stock.guard.acquire({how}):
            Stock.left -= 1
            Stock.guard.release()
        Stock.left -= 1

    seller = threading.Thread(target=sell)
    seller.start()
    seller.join()
    print(Stock.left)
"""


@pytest.mark.parametrize("kind", ["Lock", "RLock"])
@pytest.mark.parametrize("how", ["", "blocking=False"])
def test_a_lock_that_is_free_is_held_however_it_was_taken(kind: str, how: str, tmp_path: Path) -> None:
    run = run_program(tmp_path, TAKES.format(kind=kind, how=how), ALL)
    assert output_of(run) == "0\n"
    seen = run.accesses
    stores = [one for one in seen.accesses if one.does == "stores" and one.thing[2] == "left" and one.thread == "0.1"]
    assert [[seen.locks[lock] for lock in one.held] for one in stores] == [[], ["Stock.guard"], []]
    taken = [one.place.line for one in seen.accesses if one.does == "acquires" and one.name == "Stock.guard"]
    assert taken == [stores[0].place.line + 1]


def test_a_lock_that_was_not_free_is_not_held(tmp_path: Path) -> None:
    text = TAKES.replace(
        "seller.start()\n    seller.join()", "with Stock.guard:\n        seller.start()\n        seller.join()"
    )
    run = run_program(tmp_path, text.format(kind="Lock", how="blocking=False"), ALL)
    assert output_of(run) == "1\n"
    assert {one.held for one in run.accesses.accesses if one.thread == "0.1" and one.does == "stores"} == {()}
