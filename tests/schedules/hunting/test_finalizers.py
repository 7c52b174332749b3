"""Which programs have finalizers, and the plans of a hunt that call them."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from replay_dd.schedules.failures.signature import signature_of
from replay_dd.schedules.hunting.finalizers import COLLECT, collecting_plans, has_finalizers
from replay_dd.schedules.hunting.hunt import hunt
from replay_dd.schedules.hunting.options import HuntListener, HuntOptions
from replay_dd.schedules.model import Settings
from replay_dd.schedules.running.target import Plan, describe_program

# Sessions in a circle give their slot back when they are forgotten.
SESSIONS = """
import threading
lock = threading.Lock()
free = []
class Session:
    def __init__(self):
        self.itself = self
    def {name}(self):
        with lock:
            free.append(1)
def work():
    for number in range(3):
        with lock:
            free.append(0)
        Session()
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


@pytest.mark.parametrize(
    ("text", "has"),
    [
        ("class A:\n    def __del__(self): pass\n", True),
        ("from weakref import finalize\n", True),
        ("class A:\n    def __delitem__(self, key): pass\n", False),
        ("", False),
    ],
)
def test_the_sources_tell_whether_there_are_finalizers(text: str, has: bool, tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("x = 1\n")
    (tmp_path / "two.py").write_text(text)
    program = describe_program(("two.py",), directory=tmp_path)
    installed = {"package.py": tmp_path / "site-packages" / "package.py", "of.py": tmp_path / "dist-packages" / "of.py"}
    for package in installed.values():
        package.parent.mkdir()
        package.write_text("import weakref\n")
    files = dict.fromkeys(["one.py", "two.py", "gone.py", *installed], "")
    known = replace(program, files=files, paths={short: str(path) for short, path in installed.items()})
    assert has_finalizers(known) == has


def test_a_third_of_the_plans_collects_until_there_were_enough() -> None:
    counts = [collecting_plans(number) for number in range(1000)]
    assert counts[:8] == [0, 1, 1, 1, 2, 2, 2, 3]
    assert counts[-1] == counts[500] == 100


@pytest.mark.parametrize("name", ["__del__", "close"])
def test_a_hunt_collects_where_there_are_finalizers(name: str, tmp_path: Path) -> None:
    (tmp_path / "prog.py").write_text(SESSIONS.format(name=name))
    plans: list[Plan] = []
    listener = HuntListener(on_run=lambda number, plan, signature: plans.append(plan))
    program = describe_program((sys.executable, "prog.py"), directory=tmp_path)
    found = hunt(program, Settings(), HuntOptions(runs=12), listener=listener)
    assert any(COLLECT in plan.options for plan in plans) == (name == "__del__")
    assert (found.failing is not None) == (name == "__del__")
    assert found.coverage is not None
    assert found.coverage.collecting == sum(COLLECT in plan.options for plan in plans)
    if found.failing is not None:
        assert signature_of(found.failing.ending).kind == "deadlock"
        assert [switch.trigger for switch in found.failing.switches if switch.collects] == [*found.failing.triggers]
