"""Thread ids, thread time, and the order in which threads run."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_dd.schedules.model import Settings, Trigger
from tests.runtime.programs import (
    COUNTER,
    GRANULARITIES,
    assert_same,
    output_of,
    pct,
    random_walk,
    replayed,
    run_program,
    triggered,
)

NESTED = """
    import threading

    def leaf(number):
        for _ in range(number):
            threading.current_thread().name
        names.append(threading.current_thread().name)

    def branch(number):
        threads = [threading.Thread(target=leaf, args=(3 * number + i,), name=f"{number}.{i}") for i in (1, 2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    names = []
    threads = [threading.Thread(target=branch, args=(number,)) for number in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(sorted(names))
"""

ORDER = """
    import threading

    def work(number):
        seen.append(number)

    seen = []
    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    seen.append("main")
    for thread in threads:
        thread.join()
    print(*seen)
"""


def test_ids_are_paths_of_creation_under_every_schedule(tmp_path: Path) -> None:
    default = run_program(tmp_path, NESTED)
    assert sorted(default.log.ending.thread_times) == ["0", "0.1", "0.1.1", "0.1.2", "0.2", "0.2.1", "0.2.2"]
    assert output_of(default) == "['1.1', '1.2', '2.1', '2.2']\n"
    schedules = set()
    for seed in (4, 9, 11, 14, 17, 18):
        run = run_program(tmp_path, NESTED, random_walk(seed))
        assert output_of(run) == output_of(default)
        schedules.add(run.log.triggers)
    assert len(schedules) > 3


def test_the_time_of_a_thread_depends_on_its_own_way_alone(tmp_path: Path) -> None:
    runs = [run_program(tmp_path, NESTED, random_walk(seed)) for seed in (14, 17, 18)]
    assert len({tuple(run.log.ending.thread_times.items()) for run in runs}) == 1


def test_default_order_main_first_then_by_creation(tmp_path: Path) -> None:
    run = run_program(tmp_path, ORDER)
    assert output_of(run) == "main 0 1 2 3\n"
    assert run.log.triggers == ()
    # Main blocks and joins one after the other.
    assert [(switch.thread, switch.to) for switch in run.log.switches] == [
        ("0", "0.1"),
        ("0.1", "0.2"),
        ("0.2", "0.3"),
        ("0.3", "0.4"),
        ("0.4", "0"),
    ]
    assert all(switch.forced and switch.by_default for switch in run.log.switches)


def test_the_next_in_path_order_not_in_order_of_starting(tmp_path: Path) -> None:
    # 0.1 starts 0.1.1 last of all, and still it comes before 0.2.
    run = run_program(
        tmp_path,
        """
        import threading

        def first():
            inner = threading.Thread(target=seen.append, args=("inner",))
            inner.start()
            seen.append("outer")

        seen = []
        threads = [threading.Thread(target=first), threading.Thread(target=seen.append, args=("second",))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print(*seen)
        """,
    )
    assert output_of(run) == "outer inner second\n"


def test_a_thread_runs_until_it_blocks(tmp_path: Path) -> None:
    run = run_program(tmp_path, COUNTER)
    assert output_of(run) == "4\n"
    # Those who cannot go on give way, nobody else.
    assert all(switch.forced for switch in run.log.switches)


def lost_update(folder: Path, time: int) -> tuple[str, ...]:
    run = run_program(folder, COUNTER, triggered(("0.1", time, "0.2")))
    return (output_of(run).strip(), *[str(trigger) for trigger in run.log.ending.skipped])


def test_a_trigger_is_taken(tmp_path: Path) -> None:
    """Somewhere in the short life of thread 0.1, a switch to 0.2 loses its addition: there and only there."""
    whole = run_program(tmp_path, COUNTER).log.ending.thread_times["0.1"]
    results = [lost_update(tmp_path, time)[0] for time in range(1, whole)]
    assert set(results) == {"1", "4"}, "0.1 comes last, so its 1 stays"
    first, last = results.index("1"), len(results) - results[::-1].index("1")
    assert results[first:last] == ["1"] * (last - first), "one window"


def test_a_loop_over_local_variables_is_told_and_gives_way_at_granularity_gil(tmp_path: Path) -> None:
    text = """
        import threading, time
        def burn():
            number = 0
            while True: number += 1
        threading.Thread(target=burn, daemon=True).start()
        time.sleep(0.01)
        print("done")
        """
    run = run_program(tmp_path, text, time_limit_s=3)
    assert run.log.ending.timed_out
    assert any("at granularity access, a loop" in note for note in run.log.ending.notes)
    assert output_of(run_program(tmp_path, text, settings=Settings("gil"))) == "done\n"


def test_a_loop_that_may_wait_for_ever_is_told(tmp_path: Path) -> None:
    text = """
        import threading
        done = []
        thread = threading.Thread(target=done.append, args=(1,))
        thread.start()
        while not done:
            pass
        """
    run = run_program(tmp_path, text, time_limit_s=3, settings=Settings("sync"))
    assert run.log.ending.timed_out
    assert any("at granularity sync, a loop" in note for note in run.log.ending.notes)
    for granularity in ("line", "gil", "access"):
        output_of(run_program(tmp_path, text, settings=Settings(granularity)))


def test_a_taken_trigger_stands_in_the_log_as_a_preemption(tmp_path: Path) -> None:
    run = run_program(tmp_path, COUNTER, triggered(("0.1", 3, "0.3")))
    (taken,) = [switch for switch in run.log.switches if not switch.by_default]
    assert (taken.trigger, taken.forced) == (Trigger("0.1", 3, "0.3"), False)
    assert run.log.triggers == (Trigger("0.1", 3, "0.3"),)
    assert run.log.ending.skipped == ()
    assert taken.place is not None
    assert taken.place.function == "add"


def test_triggers_that_cannot_be_taken_are_told(tmp_path: Path) -> None:
    blocked = ("0.1", 2, "0")  # main waits for 0.1
    unborn = ("0.1", 3, "0.9")
    run = run_program(tmp_path, COUNTER, triggered(unborn, blocked, ("0.1", 9999, "0")))
    default = run_program(tmp_path, COUNTER)
    assert output_of(run) == "4\n"
    assert run.log.ending.digest == default.log.ending.digest
    # The third is not told: its time never came.
    assert run.log.ending.skipped == (Trigger(*blocked), Trigger(*unborn))


def test_any_set_of_triggers_is_a_legal_and_deterministic_run(tmp_path: Path) -> None:
    """Total semantics: whatever the triggers say, the run ends, and the same again."""
    names = ["0", "0.1", "0.2", "0.3", "0.4", "0.7"]
    state = 12345

    def number(limit: int) -> int:
        nonlocal state
        state = (state * 1103515245 + 12345) % 2**31
        return (state >> 8) % limit

    different = set()
    for _ in range(10):
        triggers = {(names[number(6)], number(60)): names[number(6)] for _ in range(1 + number(40))}
        plan = triggered(*((thread, time, to) for (thread, time), to in triggers.items()))
        first, second = (run_program(tmp_path, COUNTER, plan) for _ in range(2))
        assert output_of(first).strip() in {"1", "2", "3", "4"}
        assert_same(first, second)
        assert first.log.ending.skipped == second.log.ending.skipped
        # What was really done is a schedule of its own, with nothing to skip.
        again = replayed(first.log)
        assert_same(first, again)
        assert again.log.ending.skipped == ()
        different.add(first.log.ending.digest)
    assert len(different) > 5


@pytest.mark.parametrize("granularity", GRANULARITIES)
@pytest.mark.parametrize("strategy", ["random", "pct"])
def test_what_a_strategy_did_replays_exactly(strategy: str, granularity: str, tmp_path: Path) -> None:
    settings = Settings(granularity=granularity)
    times = dict(run_program(tmp_path, NESTED, settings=settings).log.ending.thread_times)
    preempted = 0
    for seed in (9, 14, 17) if strategy == "random" else (1, 2, 3):
        plan = random_walk(seed) if strategy == "random" else pct(seed, times)
        run = run_program(tmp_path, NESTED, plan, settings=settings)
        output_of(run)
        assert_same(run, replayed(run.log))
        preempted += sum(not switch.forced for switch in run.log.switches)
    if granularity != "sync":
        assert preempted, "otherwise this says nothing"


@pytest.mark.parametrize("strategy", ["random", "pct"])
def test_the_same_seed_gives_the_same_log(strategy: str, tmp_path: Path) -> None:
    times = dict(run_program(tmp_path, NESTED).log.ending.thread_times)
    logs = []
    for seed in (1, 1, 2):
        plan = random_walk(seed) if strategy == "random" else pct(seed, times)
        logs.append(run_program(tmp_path, NESTED, plan).log)
    assert logs[0].switches == logs[1].switches
    assert logs[0].ending.digest == logs[1].ending.digest
    assert logs[0].switches != logs[2].switches


def test_thread_time_does_not_depend_on_waiting(tmp_path: Path) -> None:
    """An operation on a lock is one yield point, whether it had to wait or not."""
    text = """
        import threading

        def work():
            for _ in range(5):
                with lock:
                    for _ in range(10):
                        len(order)
                    order.append(threading.current_thread().name)

        lock = threading.Lock()
        order = []
        threads = [threading.Thread(target=work, name=name) for name in "ab"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print(*order, sep="")
        """
    outputs, times, waited = set(), set(), 0
    for seed in (4, 9, 14, 17):
        run = run_program(tmp_path, text, random_walk(seed))
        outputs.add(output_of(run))
        times.add(tuple(sorted(run.log.ending.thread_times.items())))
        waited += sum(
            switch.forced and switch.thread != "0" and switch.place is not None for switch in run.log.switches
        )
    assert len(outputs) > 1
    assert waited > 2
    assert len(times) == 1


WAITS_IN_A_LOOP = """
    import itertools, threading, time

    class Flag:
        tries = 0

    def wait():
        LOOP
        print("seen")

    def tell():
        global flag
        NAP
        flag = True

    flag = False
    threads = [threading.Thread(target=wait), threading.Thread(target=tell)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    """


@pytest.mark.parametrize("nap", ["pass", pytest.param("time.sleep(60)", marks=pytest.mark.once)])
@pytest.mark.parametrize(
    ("loop", "least", "most"),
    [
        ("while not flag: pass", 5_000, 100_000),
        ("while True:\n            if flag: break\n            one = two = 3", 5_000, 100_000),
        ("for _ in itertools.repeat(None):\n            if flag: break", 1_000_000, 2_100_000),
        ("while not flag: Flag.tries += 1", 1_000_000, 2_100_000),
        ("while not flag: time.monotonic()", 1_000_000, 2_100_000),
    ],
    ids=["spins", "spins in two steps", "iterates", "counts", "reads the clock"],
)
def test_a_loop_that_waits_for_another_thread_ends(loop: str, least: int, most: int, nap: str, tmp_path: Path) -> None:
    text = WAITS_IN_A_LOOP.replace("LOOP", loop).replace("NAP", nap)
    run = run_program(tmp_path, text)
    assert output_of(run) == "seen\n"
    assert least <= run.log.ending.thread_times["0.1"] <= most
    assert run.log.triggers == ()
    assert_same(run, replayed(run.log))
    # A schedule that lets the other thread go first needs none of that.
    quick = run_program(tmp_path, text, triggered(("0.1", 2, "0.2")))
    assert output_of(quick) == "seen\n"
    assert quick.log.ending.thread_times["0.1"] < 100 or nap != "pass"


def test_the_order_in_which_threading_asks_its_locks_is_that_of_their_making(tmp_path: Path) -> None:
    """Until 3.12 it keeps them in a set; in the order of addresses, replays of these runs took another way."""
    for seed in (24, 32, 39, 44, 50):
        run = run_program(tmp_path, NESTED, random_walk(seed))
        assert_same(run, replayed(run.log))


@pytest.mark.parametrize("then", ["pass", "os.remove(made.__file__)"])
def test_modules_that_are_named_after_the_process_are_the_same_in_each_run(then: str, tmp_path: Path) -> None:
    text = """
        import importlib, os, sys, threading
        sys.path.insert(0, ".")
        name = f"made_{os.getpid()}"
        with open(f"{name}.py", "w") as file:
            file.write("def work():\\n    for number in range(3): seen.append(number)\\nseen = []\\n")
        importlib.invalidate_caches()
        made = importlib.import_module(name)
        {then}
        made.work()
        threads = [threading.Thread(target=made.work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print(sorted(made.seen))
    """
    text = text.replace("{then}", then)
    first = run_program(tmp_path, text)
    assert output_of(first) == "[0, 0, 0, 1, 1, 1, 2, 2, 2]\n"
    assert_same(first, replayed(first.log))
    run = run_program(tmp_path, text, random_walk(3))
    assert_same(run, replayed(run.log))


def test_a_thread_that_spins_inside_the_library_lets_others_run(tmp_path: Path) -> None:
    text = """
        import logging.handlers, queue, threading
        items = queue.Queue()
        listener = logging.handlers.QueueListener(items, logging.handlers.QueueHandler(items))
        listener.start()  # puts back whatever it gets
        items.put(logging.makeLogRecord({"msg": "again"}))
        {then}
        listener.stop()
        print("stopped")
    """
    # The listener has the record before the sentinel is there.
    at_once = text.replace("{then}", "pass")
    seen = triggered(*(("0", time, "0.1") for time in range(1, 40)))
    for plan in (seen, random_walk(6)):
        run = run_program(tmp_path, at_once, plan, time_limit_s=120)
        assert output_of(run) == "stopped\n"
        assert_same(run, replayed(run.log))
    # The others wait for the clock.
    run = run_program(tmp_path, text.replace("{then}", "import time; time.sleep(1)"), time_limit_s=120)
    assert output_of(run) == "stopped\n"
    assert_same(run, replayed(run.log))
