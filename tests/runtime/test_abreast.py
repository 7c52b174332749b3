"""The strategy that brings threads abreast, with a baton that only says who is ready."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from replay_dd.schedules.runtime.baton.strategy import Question
from replay_dd.schedules.runtime.channel import LOCK
from replay_dd.schedules.runtime.strategies.abreast import ANY, CHANGES, LOOKS, Abreast

pytestmark = pytest.mark.once
READ, STORE, TAKE = ("value", False), ("value", True), (LOCK, True)


def turns(strategy: Abreast, programs: dict[str, list[tuple[str, bool]]]) -> list[tuple[str, str]]:
    """Who makes which access, in the order in which the strategy lets them; threads come to these accesses."""
    threads = {name: cast("Any", SimpleNamespace(name=name, time=0, path=(int(name),))) for name in programs}
    baton = cast("Any", SimpleNamespace(is_ready=lambda thread: True, threads=list(threads.values())))
    left = {name: list(accesses) for name, accesses in programs.items()}
    asked: set[str] = set()
    made: list[tuple[str, str]] = []
    running = next(iter(threads.values()))
    while left:
        forced = not left[running.name]
        if forced:
            del left[running.name]
            asked.discard(running.name)
            if not left:
                break
        elif running.name in asked:
            what, changes = left[running.name].pop(0)
            made.append((running.name, what if what == LOCK else "store" if changes else "read"))
            asked.discard(running.name)
            continue
        else:
            strategy.about_to(left[running.name][:1])
            asked.add(running.name)
        running.time += 1
        runnable = [threads[name] for name in left]
        default = runnable[0] if forced else running
        running = strategy.choose(baton, Question(running, runnable, default, forced))
    return made


def strategy(before: int, stops: int = 0, *, latest: bool = False, uneven: bool = False, drawn: int = 0) -> Abreast:
    return Abreast(before, stops, latest, uneven, drawn, 1)


INCREASE = {"1": [READ, STORE], "2": [READ, STORE]}


def test_all_have_looked_before_any_changes() -> None:
    made = turns(strategy(CHANGES), INCREASE)
    assert made == [("1", "read"), ("2", "read"), ("1", "store"), ("2", "store")]


def test_the_latest_comes_first_and_then_they_go_on_in_turn() -> None:
    three = {name: [READ, STORE] for name in "123"}
    made = turns(strategy(CHANGES, latest=True), three)
    assert made == [(name, "read") for name in "132"] + [(name, "store") for name in "132"]


def test_none_looks_before_all_want_to() -> None:
    made = turns(strategy(LOOKS), {"1": [STORE, READ], "2": [STORE, READ]})
    assert made == [("1", "store"), ("2", "store"), ("1", "read"), ("2", "read")]


@pytest.mark.parametrize("before", [CHANGES, LOOKS, ANY])
def test_they_stop_before_locks_in_any_case(before: int) -> None:
    made = turns(strategy(before), {"1": [TAKE, TAKE], "2": [TAKE, TAKE]})
    assert [name for name, _ in made] == ["1", "2", "1", "2"]


def test_after_so_many_stops_each_goes_on_alone() -> None:
    made = turns(strategy(CHANGES, 2), {"1": [STORE] * 4, "2": [STORE] * 4})
    assert [name for name, _ in made] == ["1", "2", "1", "1", "1", "2", "2", "2"]


def test_the_first_thread_goes_further_at_a_time() -> None:
    made = turns(strategy(CHANGES, uneven=True), {"1": [STORE] * 6, "3": [STORE] * 3})
    assert [name for name, _ in made][:8] == ["1", "1", "1", "3", "1", "1", "1", "3"]


def test_draws_are_those_of_the_seed() -> None:
    programs = {"1": [STORE] * 6, "2": [STORE] * 6}
    orders = {tuple(turns(Abreast(CHANGES, 0, False, False, 100, seed), programs)) for seed in range(8)}
    assert len(orders) > 4
    once, again = (turns(strategy(CHANGES, drawn=100), programs) for _ in range(2))
    assert once == again


def test_who_computes_for_long_lets_others_go_on() -> None:
    thread, other = (cast("Any", SimpleNamespace(name=name, time=0, path=(int(name),))) for name in "12")
    baton = cast("Any", SimpleNamespace(is_ready=lambda one: True, threads=[thread, other]))
    spinning = strategy(CHANGES)
    chosen = [spinning.choose(baton, Question(thread, [thread, other], thread, forced=False)) for _ in range(600)]
    assert other in chosen
