"""What a hunt tries, and what it learns: its plans are the same for any number of jobs."""

from __future__ import annotations

import sys
import textwrap
from collections import Counter
from pathlib import Path

import pytest

from replay_dd.schedules.failures.signature import Signature
from replay_dd.schedules.hunting.hunt import Hunt, hunt
from replay_dd.schedules.hunting.options import HuntListener, HuntOptions
from replay_dd.schedules.hunting.plans import LAG, HuntPlans
from replay_dd.schedules.hunting.strategies import RandomPlans
from replay_dd.schedules.model import Program, Settings
from replay_dd.schedules.running.runner import Runner
from replay_dd.schedules.running.target import Plan, describe_program

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

# Each condition holds only if the writer is stopped at one place, each time at a later one.
STEP_BY_STEP = """
    import threading

    a = b = c = 0

    def write():
        global a, b, c
        a = 1
        b = 1
        c = 1
        a = 0
        b = 0

    def watch():
        if a == 1 and b == 0:
            if b == 1 and c == 0:
                assert c == 0

    threads = [threading.Thread(target=one) for one in (write, watch)]
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

    hunt(
        _program(text, folder),
        Settings(),
        HuntOptions(runs=runs, failure="not this one", simplify=False),
        listener=HuntListener(on_run=on_run),
    )
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

    found = hunt(
        _program(text, folder),
        Settings(),
        HuntOptions(runs=runs, jobs=jobs, simplify=False),
        listener=HuntListener(on_run=on_run),
    )
    return found, plans


@pytest.mark.once
def test_a_circle_of_locks_is_closed_first(tmp_path: Path) -> None:
    with Runner(_program(CIRCLE, tmp_path), Settings()) as runner:
        plan = next(HuntPlans(runner.run(Plan("profile"), 60), 0, 10, only_preemptions=True))
        ending = runner.run(plan, 60).log.ending
    assert str(plan) == "3 preemptions at conflicts"
    assert len(ending.deadlock) >= 4


TAKEN_TWICE = """
    import threading

    items = [1]

    def take():
        if items:
            items.pop()

    threads = [threading.Thread(target=take) for _ in range(2)]
    """


@pytest.mark.once
def test_the_first_run_brings_all_threads_abreast(tmp_path: Path) -> None:
    found, plans = hunted(TAKEN_TWICE, tmp_path, 10)
    assert found.failing is not None
    assert found.passing is not None
    assert [label for label, _ in plans] == ["threads abreast, changes to what others looked at first", "default"]
    assert found.passing.strategy == "default"


POLITE = """
    import threading, time

    wants = [False, False]

    def go(me, other):
        wants[me] = True
        while wants[other]:
            wants[me] = False
            time.sleep(0.01)
            wants[me] = True
        wants[me] = False

    threads = [threading.Thread(target=go, args=sides) for sides in ((0, 1), (1, 0))]
    """


@pytest.mark.once
def test_threads_that_make_way_for_each_other_are_kept_in_step(tmp_path: Path) -> None:
    found, _ = hunted(POLITE, tmp_path, 150)
    assert found.failing is not None
    assert found.failing.ending.hang is not None


@pytest.mark.once
def test_preemptions_alone_come_to_an_end(tmp_path: Path) -> None:
    with Runner(_program(SAFE, tmp_path), Settings()) as runner:
        first = runner.run(Plan("profile"), 60)
        plans = list(HuntPlans(first, 0, 1000, only_preemptions=True))
    assert 0 < len(plans) < 50
    assert all("at conflicts" in str(plan) or "at a conflict" in str(plan) for plan in plans)


@pytest.mark.once
def test_four_preemptions_are_found_where_each_leads_to_new_code(tmp_path: Path) -> None:
    assert "4 preemptions at conflicts" in failures(STEP_BY_STEP, tmp_path, 80)


@pytest.mark.once
def test_the_threads_are_also_run_in_the_opposite_order(tmp_path: Path) -> None:
    assert "threads in order, latest first" in failures(BACKWARDS, tmp_path, 20)


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


@pytest.mark.once
def test_who_is_let_in_and_sleeps_no_longer_leaves_out_the_run_in_which_it_sleeps(tmp_path: Path) -> None:
    late = """
    def late():
        time.sleep(0.01)
        add()

    threads = [threading.Thread(target=one) for one in (add, late)]
    """
    text = SAFE.replace("import threading", "import threading, time")
    text = text[: text.index("\n    threads =")] + late
    coverage = hunted(text, tmp_path, 30)[0].coverage
    assert coverage is not None
    assert coverage.sampled


LONG = """
    import threading

    taken, items = 0, [1]

    def take():
        global taken
        steps = [0]
        for _ in range(5_000):
            steps[0] += 1
        if items:
            items.pop()
        for _ in range(5_000):
            steps[0] += 1

    threads = [threading.Thread(target=take) for _ in range(2)]
    """


@pytest.mark.once
def test_the_first_run_brings_threads_abreast_after_a_long_way_too(tmp_path: Path) -> None:
    _, plans = hunted(LONG, tmp_path, 10)
    assert len(plans) == 2


@pytest.mark.once
def test_a_long_program_is_learnt_from_without_a_question_at_each_of_its_yield_points(tmp_path: Path) -> None:
    shared = LONG.replace("        steps = [0]\n", "").replace(
        "taken, items = 0, [1]", "taken, items, steps = 0, [1], [0]"
    )
    with Runner(_program(shared, tmp_path), Settings()) as runner:
        first = runner.run(Plan("profile"), 60)
    assert first.log.ending.global_time > 50_000
    random = RandomPlans(first)
    assert random.plan(0, 1).strategy == "pct", "no conflict is known yet"
    random.learn(first.touches)
    plans = [random.plan(turn, turn) for turn in range(70)]
    assert {plan.strategy for plan in plans} == {"uniform", "pct", "random", "profile"}
    assert all(plan.places for plan in plans if plan.strategy == "uniform")
    assert all(plan.options["longest"] > 1000 for plan in plans if plan.strategy == "random")
    likely = HuntPlans(first, 0, 10, only_preemptions=True)
    assert {plan.strategy for plan in likely} == {"profile"}
