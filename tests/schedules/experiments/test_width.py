"""Locks of updates alone, and how much a lock holds."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from replay_dd.schedules.experiments import experiments as module
from replay_dd.schedules.experiments.experiments import Budget
from replay_dd.schedules.experiments.sources import Sources
from replay_dd.schedules.experiments.width import is_much_narrower, lock_of_updates, width_of
from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.virtual import VirtualLock
from tests.schedules.experiments.fakes import access, program_with
from tests.schedules.experiments.thing_program import LOCK, PUT, RESET, TEXT, conflict, region, seen

pytestmark = pytest.mark.once

BOTH = "Thing.both"
# One statement reads and stores; another thread stores under a lock that the statement does not take.
READ = access("0.1", ("work", 90), (BOTH, 15), (RESET, 20))
STORE = access("0.1", ("work", 90), (BOTH, 15), (RESET, 20), does="stores")
OTHER = access("0.2", ("work", 91), (PUT, 12), does="stores", held=(LOCK,))
LOOK = access("0.3", ("work", 92), (BOTH, 14))
CALLS = [access("0.1", ("work", 90), (BOTH, 15), (RESET, line), thing=("attribute", 2, "more")) for line in (18, 20)]
UPDATES = VirtualLock((region(PUT, 12), region(RESET, 20)))
AROUND = VirtualLock((region(BOTH, 14, 15),), "self.lock")


def test_who_stores_is_locked_and_not_who_only_looks(sources: Sources) -> None:
    told = conflict(READ, STORE, OTHER, LOOK)
    assert lock_of_updates(told, seen(READ, STORE, OTHER, LOOK)[0], sources) == UPDATES


@pytest.mark.parametrize(
    ("left", "right", "more"),
    [
        (None, STORE, ()),
        (READ, None, ()),
        (READ, READ, ()),  # two looks
        (READ, STORE._replace(thing=("attribute", 1, "other")), ()),
        # Under it another lock is taken: it might be waited for in a circle.
        (READ, STORE, (access("0.2", ("work", 91), (PUT, 12), does="acquires", thing=("lock", LOCK, "")),)),
    ],
)
def test_what_is_no_update_or_takes_locks_has_none(
    left: Access | None, right: Access | None, more: tuple[Access, ...], sources: Sources
) -> None:
    assert lock_of_updates(conflict(left, right, OTHER), seen(READ, STORE, OTHER, *more)[0], sources) is None


def test_a_lock_around_calls_is_wider_than_one_of_what_they_update() -> None:
    failing = seen(*CALLS, *CALLS, READ, STORE, OTHER, LOOK)[0]
    assert (width_of(UPDATES, failing), width_of(AROUND, failing)) == (5, 7)
    one = VirtualLock(UPDATES.regions[:1])
    assert is_much_narrower(one, AROUND, failing)
    assert not is_much_narrower(UPDATES, AROUND, failing), "hardly less is held"
    inside = VirtualLock((region(PUT, 11, 12), region(BOTH, 14, 15)))
    assert not is_much_narrower(one, inside, failing), "that can be narrowed"


@pytest.mark.parametrize("holds", [True, False])
def test_around_calls_a_lock_of_the_updates_is_tried_first(holds: bool, tmp_path: Path) -> None:
    more = [access("0.1", ("work", 90), (BOTH, 14), thing=("attribute", 2, "more"))] * 9
    failing = seen(*more, READ, STORE, OTHER)[0]
    found: Any = SimpleNamespace(failing=SimpleNamespace(program=program_with(tmp_path, prog_py=TEXT)))
    twins: Any = SimpleNamespace(failing=failing, passing=seen()[1])
    trials: Any = SimpleNamespace(holds=lambda lock, *_, passing: holds and lock == UPDATES)
    told = conflict(READ, STORE, OTHER)
    search = module._Search(found, found, twins, told, trials, found, Budget(), 0)
    assert search._narrowed(AROUND, [0], passing=False) == ([UPDATES, AROUND] if holds else [AROUND])
