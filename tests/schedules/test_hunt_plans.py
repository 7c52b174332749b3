"""What a hunt tries, and what it learns: its plans are the same for any number of jobs."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import pytest

from replay_dd.schedules.failure_signature import Signature
from replay_dd.schedules.hunt import Hunt, hunt
from replay_dd.schedules.hunt_plans import LAG
from replay_dd.schedules.model import Settings
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


def hunted(text: str, folder: Path, runs: int, jobs: int = 1) -> tuple[Hunt, list[tuple[str, tuple[object, ...]]]]:
    """What a hunt found in a program, and its plans."""
    path = folder / "prog.py"
    path.write_text(textwrap.dedent(text) + textwrap.dedent(RUN))
    plans = []

    def on_run(number: int, plan: Plan, signature: Signature) -> None:
        plans.append((str(plan), plan.triggers))

    program = describe_program((sys.executable, path.name), directory=folder)
    found = hunt(program, Settings(), runs=runs, jobs=jobs, simplify=False, on_run=on_run)
    return found, plans


@pytest.mark.once
def test_a_circle_of_locks_is_closed_by_the_second_run(tmp_path: Path) -> None:
    found, plans = hunted(CIRCLE, tmp_path, 10)
    assert found.runs == 2
    assert found.failing is not None
    assert len(found.failing.ending.deadlock) >= 4
    assert plans[1][0] == "3 preemptions at conflicts"


@pytest.mark.once
def test_the_threads_are_also_run_in_the_opposite_order(tmp_path: Path) -> None:
    found, plans = hunted(BACKWARDS, tmp_path, 10)
    assert found.failing is not None
    assert plans[found.runs - 1][0] == "threads in order, latest first"


@pytest.mark.once
def test_a_second_preemption_is_learnt_from_the_run_of_the_first(tmp_path: Path) -> None:
    found, plans = hunted(TWICE, tmp_path, 60)
    assert found.failing is not None
    assert any(label == "2 preemptions at conflicts" for label, _ in plans)


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
