"""Locks of the program that the scheduler takes in its stead."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from replay_dd.schedules.virtual import Region, VirtualLock
from tests.runtime.programs import DEFAULT, output_of, run_program
from tests.runtime.virtual_runs import lines_of, outputs_with, region, runs_with

OWN_LOCK = """
    import threading
    class Stock:
        def __init__(self):
            self.{name} = threading.{kind}()
            self.left = 10
        def take(self):
            left = self.left
            self.left = left - 1
        def put(self):
            with self.{name}:
                left = self.left
                self.left = left + 1
        def both(self):
            left = self.left
            with self.{name}:
                self.left = left + 1
            self.left = self.left - 1
    stock = Stock()
    def work(*steps):
        for _ in range(10):
            for step in steps: step()
    threads = [threading.Thread(target=work, args=steps) for steps in {steps}]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    print(stock.left)
"""


@pytest.mark.once
@pytest.mark.parametrize("kind", ["Lock", "RLock", "Condition"])
def test_a_lock_of_the_program_is_taken(kind: str, tmp_path: Path) -> None:
    text = OWN_LOCK.replace("{kind}", kind).replace("{name}", "_lock")
    text = text.replace("{steps}", "[(stock.take,), (stock.put,)]")
    take = region(text, "Stock.take", "left = self.left", "self.left = left - 1")
    take = replace(take, last=take.first + 1)
    assert len(outputs_with(tmp_path, text, VirtualLock((take,)))) > 1  # `put` does not know of that lock
    assert outputs_with(tmp_path, text, VirtualLock((take,), "self._lock")) == {"10\n"}


@pytest.mark.once
@pytest.mark.parametrize("kind", ["Lock", "RLock"])
def test_a_lock_that_is_taken_once_more_inside_stays_taken(kind: str, tmp_path: Path) -> None:
    text = OWN_LOCK.replace("{kind}", kind).replace("{name}", "_lock")
    text = text.replace("{steps}", "[(stock.both,), (stock.both, stock.put, stock.take)]")
    both, take = lines_of(text, "def both")[0], lines_of(text, "def take")[0]
    regions = (Region("prog.py", "Stock.both", both + 1, both + 4), Region("prog.py", "Stock.take", take + 1, take + 2))
    seeds = (11, 17)
    for run in runs_with(tmp_path, text, VirtualLock(regions, "self._lock"), seeds):
        assert output_of(run) == "10\n"
    for half in (regions[:1], regions[1:]):
        assert {output_of(run) for run in runs_with(tmp_path, text, VirtualLock(half, "self._lock"), seeds)} > {"10\n"}


@pytest.mark.once
@pytest.mark.parametrize("kind", ["Lock", "RLock"])
def test_a_region_under_that_lock_does_not_wait_for_itself(kind: str, tmp_path: Path) -> None:
    text = OWN_LOCK.replace("{kind}", kind).replace("{name}", "_lock")
    text = text.replace("{steps}", "[(stock.take,), (stock.put,)]")
    take, put = lines_of(text, "def take")[0], lines_of(text, "def put")[0]
    regions = (Region("prog.py", "Stock.take", take + 1, take + 2), Region("prog.py", "Stock.put", put + 2, put + 3))
    assert outputs_with(tmp_path, text, VirtualLock(regions, "self._lock")) == {"10\n"}


@pytest.mark.once
def test_a_lock_that_is_not_found_is_told(tmp_path: Path) -> None:
    text = OWN_LOCK.replace("{kind}", "Lock").replace("{name}", "_lock")
    text = text.replace("{steps}", "[(stock.take,), (stock.put,)]")
    take = region(text, "Stock.take", "self.left = left - 1")
    for expression in ("self.left", "self.gone", "gone._lock"):
        run = run_program(tmp_path, text, replace(DEFAULT, virtual=VirtualLock((take,), expression)))
        place = f"prog.py:{take.first}"
        assert f"`{expression}` is no lock at {place}, so it was not taken there" in run.log.ending.notes


WAITS_INSIDE = """
    import threading
    condition, ready, trace = threading.Condition({lock}), [], []
    def consume():
        if not ready:
            with condition:
                condition.wait()
        trace.append("got it")
    def produce():
        ready.append(1)
        with condition:
            condition.notify()
    threads = [threading.Thread(target=one) for one in (consume, produce)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    print(trace)
"""


@pytest.mark.parametrize("lock", ["", "threading.Lock()"])
def test_a_condition_that_waits_inside_gives_its_lock_back(lock: str, tmp_path: Path) -> None:
    """The check and the wait become one step, so no notification is missed, and the notifier can come."""
    text = WAITS_INSIDE.replace("{lock}", lock).replace("            with condition:\n                ", "            ")
    check = region(text, "consume", "if not ready", "condition.wait")
    change = region(text, "produce", "ready.append")
    for run in runs_with(tmp_path, text, VirtualLock((check, change), "condition")):
        assert output_of(run) == "['got it']\n"


@pytest.mark.once
def test_a_condition_that_waits_in_a_lock_taken_once_more_gives_it_back(tmp_path: Path) -> None:
    text = WAITS_INSIDE.replace("{lock}", "threading.Lock()")
    check = region(text, "consume", "if not ready", "condition.wait")
    change = region(text, "produce", "ready.append")
    for run in runs_with(tmp_path, text, VirtualLock((check, change), "condition"), (9,)):
        assert output_of(run) == "['got it']\n"
