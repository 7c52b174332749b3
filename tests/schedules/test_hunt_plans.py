"""What a hunt tries, and what it learns: its plans are the same for any number of jobs."""

from __future__ import annotations

import sys
import textwrap
from collections import Counter
from pathlib import Path

import pytest

from replay_dd.schedules.failure_signature import Signature
from replay_dd.schedules.fork_server_client import Runner
from replay_dd.schedules.hunt import Hunt, hunt
from replay_dd.schedules.hunt_plans import LAG
from replay_dd.schedules.hunt_strategies import RandomPlans
from replay_dd.schedules.model import Program, Settings
from replay_dd.schedules.target import Plan, describe_program

CIRCLE = """
    import threading

    forks = [threading.Lock() for _ in range(4)]

    def eat(number):
        with forks[number]:
            with forks[(number + 1) % 4]:
                pass

    threads = [threading.Thread(target=eat, args=(number,)) for number in range(4)]
    """

BACKWARDS = """
    import threading

    value = 0

    def third():
        assert value != 2

    def second():
        global value
        if value == 1:
            value = 2

    def first():
        global value
        value = 1

    threads = [threading.Thread(target=one) for one in (third, second, first)]
    """

# The reader has to be stopped between its two reads, and the writer before: two preemptions.
TWICE = """
    import threading

    head = tail = 0

    def write():
        global head, tail
        for number in (1, 2):
            head = number
            tail = number

    def read():
        before = head
        assert tail - before < 2

    threads = [threading.Thread(target=one) for one in (write, read)]
    """

WORDS = """
    import threading

    text = []
    noises = {"a": [None], "b": [None]}  # two lists of one address would be taken for one

    def say(word, before, between):
        noise = noises[word]
        for _ in range(before):
            noise[0] = 0
        text.append(word)
        for _ in range(between):
            noise[0] = 0
        text.append(word)

    threads = [threading.Thread(target=say, args=one) for one in (("a", 0, 20), ("b", 40, 1))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print("".join(text))
    """

SAFE = """
    import threading

    guard = threading.Lock()
    value = 0

    def add():
        global value
        with guard:
            value += 1

    threads = [threading.Thread(target=add) for _ in range(2)]
    """

RUN = """
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    """


def failures(text: str, folder: Path, runs: int) -> set[str]:
    """The plans that fail of a hunt that no failure ends."""
    failed = set()

    def on_run(number: int, plan: Plan, signature: Signature) -> None:
        if signature.failed:
            failed.add(str(plan))

    hunt(_program(text, folder), Settings(), runs=runs, failure="not this one", simplify=False, on_run=on_run)
    return failed


def _program(text: str, folder: Path, run: str = RUN) -> Program:
    path = folder / "prog.py"
    path.write_text(textwrap.dedent(text) + textwrap.dedent(run))
    return describe_program((sys.executable, path.name), directory=folder)


def hunted(text: str, folder: Path, runs: int, jobs: int = 1) -> tuple[Hunt, list[tuple[str, tuple[object, ...]]]]:
    """What a hunt found in a program, and its plans."""
    plans = []

    def on_run(number: int, plan: Plan, signature: Signature) -> None:
        plans.append((str(plan), plan.triggers))

    found = hunt(_program(text, folder), Settings(), runs=runs, jobs=jobs, simplify=False, on_run=on_run)
    return found, plans


@pytest.mark.once
def test_a_circle_of_locks_is_closed_by_the_first_run_that_knows_the_threads(tmp_path: Path) -> None:
    found, plans = hunted(CIRCLE, tmp_path, 10)
    assert found.runs == 3
    assert found.failing is not None
    assert len(found.failing.ending.deadlock) >= 4
    assert plans[2][0] == "3 preemptions at conflicts"


SOLD_TWICE = """
    import threading

    seats, sold = 1, []

    def buy(name):
        global seats
        if seats > 0:
            sold.append(name)
            seats -= 1

    threads = [threading.Thread(target=buy, args=(name,)) for name in "abc"]
    """


@pytest.mark.once
def test_a_bug_that_most_schedules_show_is_found_by_the_first_run(tmp_path: Path) -> None:
    program = _program(SOLD_TWICE + RUN + "    assert seats == 0\n", tmp_path, run="")
    found = [hunt(program, Settings(), runs=30, seed=seed * 100, jobs=1 + seed % 2) for seed in range(6)]
    assert sum(one.failures[0].runs == 1 and one.runs == 2 for one in found) >= 3
    for one in found:  # whatever the failing run was, both logs are easy to read
        assert one.passing is not None
        assert one.failing is not None
        assert not one.passing.triggers
        assert len(one.failing.triggers) == 1


@pytest.mark.once
def test_a_single_run_takes_the_default_schedule(tmp_path: Path) -> None:
    found, plans = hunted(SOLD_TWICE, tmp_path, 1)
    assert found.runs == 1
    assert plans == [("default", ())]


@pytest.mark.once
def test_the_threads_are_also_run_in_the_opposite_order(tmp_path: Path) -> None:
    assert "threads in order, latest first" in failures(BACKWARDS, tmp_path, 12)


@pytest.mark.once
def test_a_second_preemption_is_learnt_from_the_run_of_the_first(tmp_path: Path) -> None:
    assert "2 preemptions at conflicts" in failures(TWICE, tmp_path, 80)


@pytest.mark.once
def test_orders_of_conflicting_events_are_drawn_evenly(tmp_path: Path) -> None:
    path = tmp_path / "prog.py"
    path.write_text(textwrap.dedent(WORDS))
    program = describe_program((sys.executable, path.name), directory=tmp_path)
    orders: Counter[bytes] = Counter()
    with Runner(program, Settings()) as runner:
        random = RandomPlans(runner.run(Plan("profile"), 60))
        random.learn(runner.run(Plan("profile"), 60).touches)
        for seed in range(120):
            orders[runner.run(random.plan(0, seed), 60).output.strip()] += 1
    assert len(orders) == 6, "of two and two events there are six orders, however much else the threads do"
    assert min(orders.values()) >= 8


@pytest.mark.once
def test_plans_do_not_depend_on_the_number_of_jobs(tmp_path: Path) -> None:
    assert hunted(SAFE, tmp_path, 30)[1] == hunted(SAFE, tmp_path, 30, jobs=LAG)[1]


@pytest.mark.once
def test_more_jobs_than_plans_may_lag_behind_make_no_other_plans(tmp_path: Path) -> None:
    assert hunted(SAFE, tmp_path, 30)[1] == hunted(SAFE, tmp_path, 30, jobs=2 * LAG)[1]


@pytest.mark.once
def test_what_a_hunt_without_a_failure_covered(tmp_path: Path) -> None:
    found, plans = hunted(SAFE, tmp_path, 60)
    coverage = found.coverage
    assert found.failing is None
    assert coverage is not None
    assert coverage.tried == sum("at conflicts" in label or "at a conflict" in label for label, _ in plans)
    assert 0 < coverage.orders_seen <= coverage.orders_known
    assert coverage.exhausted >= 1, "this program has only a few conflicts"
    assert coverage.exhaustive == coverage.tried
    assert not coverage.sampled
    assert coverage.all_orders == 2, "of the two threads either takes the lock first"
