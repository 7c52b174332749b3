"""The change that made a program racy, with the schedules held fixed."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_dd.bisect.mixtures import SchedulesOnMixtures
from replay_dd.changes.difference import Difference
from replay_dd.changes.isolate import isolate_changes
from replay_dd.changes.tree import read_tree
from replay_dd.changes.workshop import Target, Workshop
from replay_dd.dd import EMPTY
from replay_dd.errors.program import DoesNotFailError
from replay_dd.experiment.ending import Oracle
from replay_dd.outcome import Outcome
from replay_dd.schedules.replaying.record import settings_for_now
from replay_dd.schedules.running.target import describe_program
from tests.changes.versions import python, tree

pytestmark = pytest.mark.once

CALM = """\
import threading

lock = threading.Lock()
left = 10


def sell():
    global left
    with lock:
        left = left - len(note(left)) // 5


def note(amount):
    return str(amount).rjust(5)


threads = [threading.Thread(target=sell) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert left == 8, left
"""
RACY = (
    CALM.replace("def sell", "# Sells one.\ndef sell")
    .replace("with lock", "with threading.Lock()")
    .replace("str(amount).rjust(5)", 'f"{amount:>5}"')
)


def schedules(target: Target, seeds: int) -> SchedulesOnMixtures:
    return SchedulesOnMixtures(describe_program(target.command), settings_for_now(), seeds, 60)


def test_the_change_that_made_a_race_possible(tmp_path: Path) -> None:
    target = python("stock.py")
    old, new = tree(tmp_path / "old", {"stock.py": CALM}), tree(tmp_path / "new", {"stock.py": RACY})
    tried = schedules(target, 3)
    with Workshop(Difference(old, new), target, Oracle()) as workshop:
        workshop.in_copy(Difference(old, new).all, tried.hunt)
        assert len(tried.logs) == 1
        with pytest.raises(DoesNotFailError, match="passes: no failure in"):
            workshop.in_copy(EMPTY, schedules(target, 1).hunt)
    target.runner = tried.ending
    found = isolate_changes(old, new, target)
    assert found.isolation.verified
    (delta,) = found.guilty
    change = found.difference.line_change(delta)
    assert change is not None
    assert found.difference.files[0].after[change.new] == b"    with threading.Lock():\n"
    assert "AssertionError: 9" in found.isolation.failure.words


def test_a_mixture_that_cannot_run_says_which_names_it_misses(tmp_path: Path) -> None:
    target = python("stock.py")
    old = read_tree(tmp_path) | tree(tmp_path / "old", {"stock.py": RACY})
    new = tree(tmp_path / "new", {"stock.py": RACY.replace("note(left)", "noted(left)")})
    tried = schedules(target, 2)
    difference = Difference(old, new)
    with Workshop(difference, target, Oracle()) as workshop:
        workshop.in_copy(EMPTY, tried.hunt)
        target.runner = tried.ending
        assert workshop.run(EMPTY).verdict is Outcome.FAIL
        trial = workshop.trial(difference.all)
    assert trial.ending.verdict is Outcome.UNRESOLVED
    assert "noted" in trial.missing
