"""Locks that cover no more than they must."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from replay_dd.schedules.experiments import experiments as module
from replay_dd.schedules.experiments.experiments import Budget
from replay_dd.schedules.experiments.narrow import bodies_called, covers, is_one_step, narrowed
from replay_dd.schedules.experiments.proposals import (
    outermost,
    without_gaps,
)
from replay_dd.schedules.experiments.sources import Sources
from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.story.conflict import Conflict
from replay_dd.schedules.virtual import VirtualLock
from tests.schedules.experiments.fakes import access, program_with
from tests.schedules.experiments.thing_program import (
    GET,
    LOCK,
    PUT,
    READ,
    RESET,
    TEXT,
    UPDATE,
    WRITE,
    conflict,
    region,
    seen,
)

pytestmark = pytest.mark.once


def test_what_is_only_called_from_another_region_needs_no_lock_of_its_own() -> None:
    around, inside = region(UPDATE, 3, 6), region(PUT, 11, 12)
    assert outermost((around, inside), seen(READ, WRITE)) == (around,)
    elsewhere = access("0.2", ("work", 91), (PUT, 12), does="stores")
    assert outermost((around, inside), seen(READ, WRITE, elsewhere)) == (around, inside)
    assert outermost((around, region(RESET, 18)), seen(READ, WRITE)) == (around, region(RESET, 18))


def test_instead_of_a_statement_what_it_calls_may_be_locked(sources: Sources) -> None:
    within = [VirtualLock((region(UPDATE, 3, 7),))]
    assert list(bodies_called(VirtualLock((region("Thing.both", 15),)), seen(READ, WRITE), sources)) == within
    several = VirtualLock((region(UPDATE, 3, 6),))
    assert list(bodies_called(several, seen(READ, WRITE), sources)) == []
    of_program = VirtualLock((region("Thing.both", 15),), "self.lock")
    assert list(bodies_called(of_program, seen(READ, WRITE), sources)) == []


def test_a_lock_is_narrowed_to_the_statements_that_are_needed(sources: Sources) -> None:
    lock = VirtualLock((region(RESET, 17, 20), region(UPDATE, 3, 7)), "self.lock")

    def needs(*lines: int) -> VirtualLock:
        def holds(tried: VirtualLock) -> bool:
            assert tried.taking == "self.lock"
            return all(any(one.first <= line <= one.last for one in tried.regions) for line in lines)

        return narrowed(lock, sources, holds, 100)

    assert needs(4).regions == (region(UPDATE, 4),)
    assert needs(3, 6).regions == (region(UPDATE, 3, 6),)
    assert needs(18, 4).regions == (region(RESET, 18), region(UPDATE, 4))


def test_narrowing_leaves_no_gap_to_a_with_that_takes_the_same_lock(tmp_path: Path) -> None:
    """Others may come in where a lock is given back and taken again; with a virtual one, hardly a schedule shows it."""
    text = "def renew():\n    with lock:\n        a = 1\n    b = 2\n    with lock:\n        c = 3\n    d = 4\n"
    sources = Sources(program_with(tmp_path, prog_py=text))
    whole = VirtualLock((region("renew", 2, 7),), "lock")
    tried: list[VirtualLock] = []

    def holds(one: VirtualLock) -> bool:
        tried.append(one)
        return any(part.first <= 4 <= part.last for part in one.regions)

    assert narrowed(whole, sources, holds, 100).regions == (region("renew", 2, 6),)
    assert all(one.regions != (region("renew", 4),) for one in tried)
    other = replace(whole, taking="")
    assert narrowed(other, sources, holds, 100).regions == (region("renew", 4),)
    assert without_gaps(VirtualLock((region("renew", 4),), "self.lock"), sources).regions == (region("renew", 2, 6),)
    taken = VirtualLock((region("renew", 2, 3), region("renew", 7)), "self.lock")
    assert without_gaps(taken, sources).regions == (region("renew", 5, 7),)  # where it is not taken already


def test_narrowing_ends_where_nothing_more_may_be_tried(sources: Sources) -> None:
    lock = VirtualLock((region(UPDATE, 3, 7),))
    tried: list[VirtualLock] = []

    def holds(one: VirtualLock) -> bool:
        tried.append(one)
        return False

    assert narrowed(lock, sources, holds, 3) == lock
    assert len(tried) == 3


def test_a_lock_around_one_statement_moves_into_what_that_calls(
    sources: Sources, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As long as it holds there; what it was before stays at hand, should too few schedules have decided."""
    around, body = VirtualLock((region("Thing.both", 15),)), VirtualLock((region(UPDATE, 3, 7),))
    monkeypatch.setattr(module, "narrowed", lambda lock, *_: lock)
    twins = SimpleNamespace(failing=seen(READ, WRITE)[0], passing=seen()[1])
    found: Any = SimpleNamespace(failing=SimpleNamespace(program=program_with(tmp_path, prog_py=TEXT)))
    for holding, expected in (({around, body}, [body, around]), ({around}, [around])):
        trials: Any = SimpleNamespace(holds=lambda lock, *_, passing, holding=holding: lock in holding)
        search = module._Search(found, found, twins, conflict(None, None), trials, found, Budget(), 0)  # type: ignore[arg-type]
        assert search._narrowed(around, [0], passing=False) == expected


def test_what_a_lock_is_about_stays_under_it() -> None:
    """The schedules at hand may not need all of it."""
    reads, stores = access("0.1", (UPDATE, 3), (GET, 9)), access("0.2", (RESET, 18), does="stores", held=(LOCK,))
    lock = VirtualLock((region(UPDATE, 3, 6), region(RESET, 18)))
    assert covers(lock, [reads, stores])
    assert not covers(VirtualLock(lock.regions[:1]), [reads, stores])
    assert covers(VirtualLock(lock.regions[:1], "self.lock"), [reads, stores]), "it holds a lock of the program there"
    assert not covers(VirtualLock(lock.regions[:1], "self.lock"), [stores._replace(held=())])


def test_narrowing_keeps_what_the_story_is_about(sources: Sources, tmp_path: Path) -> None:
    """The reader in one function, and who changes both things in another one: no schedule needed that here."""
    both = VirtualLock((region(RESET, 18, 20), region(UPDATE, 3, 6)))
    reads = access("0.1", (UPDATE, 3)), access("0.1", (UPDATE, 6))
    stores = access("0.2", (RESET, 18), does="stores"), access("0.2", (RESET, 20), does="stores")
    told = conflict(*reads, *stores)
    found: Any = SimpleNamespace(failing=SimpleNamespace(program=program_with(tmp_path, prog_py=TEXT)))
    twins = SimpleNamespace(failing=seen(*reads, *stores)[0], passing=seen()[1])
    trials: Any = SimpleNamespace(holds=lambda *_, passing: True)
    search = module._Search(found, found, twins, told, trials, found, Budget(), 0)  # type: ignore[arg-type]
    assert search._narrowed(both, [0], passing=False)[0] == both


def test_what_must_not_be_torn_apart_is_in_one_region() -> None:
    look, act = replace_held(READ), replace_held(WRITE)
    torn = conflict(look, act)
    assert is_one_step(VirtualLock((region(RESET, 18), region(UPDATE, 3, 6)), "self.lock"), torn)
    # That both are made under the lock already, each for itself, makes them no step.
    assert not is_one_step(VirtualLock((region(UPDATE, 3), region(UPDATE, 6)), "self.lock"), torn)
    assert not is_one_step(VirtualLock((region(RESET, 17, 20),), "self.lock"), torn)
    other = act._replace(thing=("attribute", 1, "other"))
    for loose in (conflict(look, None), conflict(None, act), conflict(look, other), with_inferred(torn)):
        assert not is_one_step(VirtualLock((region(UPDATE, 3, 6),)), loose)


def replace_held(access: Access) -> Access:
    return access._replace(held=(LOCK,))


def with_inferred(torn: Conflict) -> Conflict:
    assert torn.left is not None
    return torn._replace(left=torn.left._replace(inferred=True))
