"""Virtual locks and orders: what the scheduler keeps although the program does not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from replay_dd.schedules.failures.signature import signature_of
from replay_dd.schedules.log import read_log, write_log
from replay_dd.schedules.model import Settings
from replay_dd.schedules.running.runner import Runner
from replay_dd.schedules.running.target import Plan
from replay_dd.schedules.runtime.accelerator import accelerator
from replay_dd.schedules.virtual import Region, VirtualBarrier, VirtualLock, VirtualNotifyAll, VirtualOrder
from tests.runtime.programs import DEFAULT, assert_same, output_of, random_walk, replayed, run_program
from tests.runtime.virtual_runs import SEEDS, lines_of, outputs_with, region, runs_with

LOST_UPDATE = """
    import threading
    class Counter:
        value = 0
        def add(self):
            before = self.value
            self.value = before + 1
        def add_twice(self):
            self.add()
            self.add()
    counter = Counter()
    def work():
        for _ in range(20):
            counter.add_twice()
    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    print(counter.value)
"""


ADD = region(LOST_UPDATE, "Counter.add", "before = self", "self.value = before")


def test_only_one_thread_is_inside(tmp_path: Path) -> None:
    assert len(outputs_with(tmp_path, LOST_UPDATE, None)) > 1
    assert outputs_with(tmp_path, LOST_UPDATE, VirtualLock((ADD,))) == {"120\n"}


@pytest.mark.once
def test_what_is_called_from_a_region_is_inside(tmp_path: Path) -> None:
    caller = region(LOST_UPDATE, "Counter.add_twice", "self.add()")
    assert outputs_with(tmp_path, LOST_UPDATE, VirtualLock((caller,))) == {"120\n"}


@pytest.mark.once
def test_a_region_that_is_entered_again_inside_is_one(tmp_path: Path) -> None:
    caller = region(LOST_UPDATE, "Counter.add_twice", "self.add()")
    assert outputs_with(tmp_path, LOST_UPDATE, VirtualLock((ADD, caller))) == {"120\n"}


@pytest.mark.once
def test_half_of_a_region_does_not_help(tmp_path: Path) -> None:
    half = region(LOST_UPDATE, "Counter.add", "before = self")
    assert outputs_with(tmp_path, LOST_UPDATE, VirtualLock((half,))) != {"120\n"}


def test_a_run_with_a_lock_replays_from_its_log(tmp_path: Path) -> None:
    lock = VirtualLock((ADD,))
    for run in runs_with(tmp_path, LOST_UPDATE, lock, SEEDS[:2]):
        assert run.log.settings.virtual == lock
        write_log(run.log, tmp_path / "run.log")
        assert_same(run, replayed(read_log(tmp_path / "run.log")))


@pytest.mark.once
def test_a_forked_run_is_the_same_and_the_next_one_has_no_lock(tmp_path: Path) -> None:
    fresh = run_program(tmp_path, LOST_UPDATE, replace(random_walk(9), virtual=VirtualLock((ADD,))))
    with Runner(fresh.log.program, fresh.log.settings.with_virtual(None)) as runner:
        assert_same(fresh, runner.run(replace(random_walk(9), virtual=VirtualLock((ADD,))), 60))
        without = runner.run(random_walk(9), 60)
        assert runner.why_fresh == ""
    assert without.log.settings.virtual is None
    assert_same(without, run_program(tmp_path, LOST_UPDATE, random_walk(9)))


@pytest.mark.skipif(accelerator is None, reason="no accelerator was compiled for this Python")
def test_it_is_the_same_with_and_without_the_accelerator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = replace(random_walk(9), virtual=VirtualLock((ADD,)))
    with_accelerator = run_program(tmp_path, LOST_UPDATE, plan)
    monkeypatch.setenv("REPLAY_DD_ACCELERATOR", "off")
    without = run_program(tmp_path, LOST_UPDATE, plan)
    assert "accelerator" not in without.backend
    assert without.backend != with_accelerator.backend
    assert_same(with_accelerator, without)


@pytest.mark.once
def test_thread_times_are_those_of_the_run_without_a_lock(tmp_path: Path) -> None:
    lock = VirtualLock((ADD,))
    times = [run.log.ending.thread_times for run in (*runs_with(tmp_path, LOST_UPDATE, lock, SEEDS[:2]),)]
    assert all(one == run_program(tmp_path, LOST_UPDATE).log.ending.thread_times for one in times)


BLOCKS_INSIDE = """
    import threading
    def inside():
        entered.set()
        allowed.wait()
        return 1
    def outside():
        entered.wait()
        trace.append("others run")
        {allow}
    def second():
        entered.wait()
        inside()
    entered, allowed, trace = threading.Event(), threading.Event(), []
    threads = [threading.Thread(target=one) for one in (inside, second, outside)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    print(trace)
"""


@pytest.mark.once
def test_who_waits_inside_lets_others_run_that_do_not_enter(tmp_path: Path) -> None:
    text = BLOCKS_INSIDE.replace("{allow}", "allowed.set()")
    lock = VirtualLock((region(text, "inside", "entered.set()", "return 1"),))
    assert outputs_with(tmp_path, text, lock) == {"['others run']\n"}


@pytest.mark.once
def test_a_deadlock_tells_of_the_virtual_lock(tmp_path: Path) -> None:
    text = BLOCKS_INSIDE.replace("{allow}", "inside()")
    lock = VirtualLock((region(text, "inside", "entered.set()", "return 1"),))
    ending = run_program(tmp_path, text, replace(DEFAULT, virtual=lock)).log.ending
    waits = {waiter.thread: waiter.explanation for waiter in ending.deadlock}
    assert waits["0.2"] == "waits for the virtual lock, which thread 0.1 has"


LEAVES = """
    import threading
    def fails():
        value = box[0]
        raise KeyError(value)
    def gives():
        value = box[0]
        yield value
        box[0] = value + 1
        yield value
    def recurses(depth):
        value = box[0]
        if depth:
            recurses(depth - 1)
    def work():
        for what in (fails, gives, recurses):
            try:
                {use}
            except KeyError:
                pass
            turn()
    def turn():
        seen.append(threading.current_thread().name)
    box, seen = [0], []
    threads = [threading.Thread(target=work, name=name) for name in "ab"]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    print(box, "".join(seen))
"""


@pytest.mark.parametrize(
    ("use", "function"),
    [("fails()", "fails"), ("next(gives())", "gives"), ("recurses(3)", "recurses")],
)
def test_a_region_is_left_however_its_function_ends(use: str, function: str, tmp_path: Path) -> None:
    """Otherwise the other thread would wait for ever, or until the first one ends."""
    text = LEAVES.replace("{use}", use)
    start = lines_of(text, f"def {function}")[0]
    lock = VirtualLock((Region("prog.py", function, start + 1, start + 3),))
    mixed = False
    for run in runs_with(tmp_path, text, lock, (9, 11, 12, 14, 17)):
        assert signature_of(run.log.ending).kind == "passed"
        mixed = mixed or output_of(run).split()[1] not in ("aaabbb", "bbbaaa")
    assert mixed


@pytest.mark.once
def test_a_thread_that_ends_inside_leaves(tmp_path: Path) -> None:
    text = """
        import threading
        def work():
            seen.append(1)
        seen = []
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(len(seen))
    """
    assert outputs_with(tmp_path, text, VirtualLock((region(text, "work", "seen.append"),))) == {"3\n"}


EARLY = """
    import threading
    box = {}
    def make():
        box["made"] = 1
        box["ready"] = 2
    def use():
        seen.append(box.get("made"))
    seen = []
    threads = [threading.Thread(target=one) for one in (use, make)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    print(seen)
"""


@pytest.mark.once
def test_a_thread_waits_until_another_one_has_passed(tmp_path: Path) -> None:
    order = VirtualOrder(region(EARLY, "use", "seen.append"), region(EARLY, "make", '"made"'))
    assert len(outputs_with(tmp_path, EARLY, None)) > 1
    runs = runs_with(tmp_path, EARLY, order)
    assert {output_of(run) for run in runs} == {"[1]\n"}
    assert all(run.log.settings.virtual == order for run in runs)
    assert_same(runs[1], replayed(runs[1].log))


@pytest.mark.once
def test_a_thread_waits_until_others_have_passed_as_often_as_it_needs(tmp_path: Path) -> None:
    text = """
        import threading
        lock, made, seen = threading.Lock(), [], []
        def make(count):
            for number in range(count):
                with lock:
                    made.append(number)
        def use():
            seen.append(len(made))
        threads = [threading.Thread(target=use), *(threading.Thread(target=make, args=(n,)) for n in (1, 2))]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(seen)
    """
    order = VirtualOrder(region(text, "use", "seen.append"), region(text, "make", "with lock", "made.append"), 3)
    assert len(outputs_with(tmp_path, text, None)) > 1
    runs = runs_with(tmp_path, text, order)
    assert {output_of(run) for run in runs} == {"[3]\n"}
    assert_same(runs[1], replayed(runs[1].log))


TURNS = """
    import threading
    parts, seen = [0, 0, 0], []
    def work(own):
        for turn in (1, 2):
            parts[own] = turn
            seen.append(sum(part >= turn for part in parts))
    threads = [threading.Thread(target=work, args=(own,)) for own in range(3)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    print(seen)
"""


@pytest.mark.once
def test_threads_wait_for_each_other_each_time(tmp_path: Path) -> None:
    barrier = VirtualBarrier(region(TURNS, "work", "seen.append"), ("0.1", "0.2", "0.3"))
    assert outputs_with(tmp_path, TURNS, None) != {"[3, 3, 3, 3, 3, 3]\n"}
    runs = runs_with(tmp_path, TURNS, barrier)
    assert {output_of(run) for run in runs} == {"[3, 3, 3, 3, 3, 3]\n"}
    assert all(run.log.settings.virtual == barrier for run in runs)
    assert_same(runs[1], replayed(runs[1].log))


@pytest.mark.once
def test_nobody_waits_at_a_barrier_for_a_thread_that_has_ended(tmp_path: Path) -> None:
    text = TURNS.replace("in (1, 2)", "in (1, 2)[:1 + bool(own)]").replace("print(seen)", "print(len(seen))")
    barrier = VirtualBarrier(region(text, "work", "seen.append"), ("0.1", "0.2", "0.3"))
    assert outputs_with(tmp_path, text, barrier) == {"5\n"}


@pytest.mark.once
def test_what_never_happens_is_waited_for_in_vain(tmp_path: Path) -> None:
    order = VirtualOrder(region(EARLY, "use", "seen.append"), Region("prog.py", "make", 900, 900))
    ending = run_program(tmp_path, EARLY, replace(DEFAULT, virtual=order)).log.ending
    assert any("virtual order" in waiter.explanation for waiter in ending.deadlock)


@pytest.mark.once
def test_who_waits_in_the_earlier_lines_has_come_there(tmp_path: Path) -> None:
    text = """
        import threading
        condition, trace = threading.Condition(), []
        def consume():
            with condition:
                condition.wait()
            trace.append("got it")
        def produce():
            with condition:
                condition.notify()
        threads = [threading.Thread(target=one) for one in (consume, produce)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(trace)
    """
    order = VirtualOrder(
        Region("prog.py", "produce", *[lines_of(text, "def produce")[0] + 1] * 2), region(text, "consume", ".wait()")
    )
    assert any(run.log.ending.deadlock for run in runs_with(tmp_path, text, None))
    assert outputs_with(tmp_path, text, order) == {"['got it']\n"}


def test_a_signal_handler_runs_while_the_main_thread_waits_to_enter(tmp_path: Path) -> None:
    text = """
        import signal, threading
        def inside(name):
            trace.append(name)
            if name == "other":
                arrived.set()
                signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)
                handled.wait()
        def handle(*_):
            trace.append("handled")
            handled.set()
        trace, handled, arrived = [], threading.Event(), threading.Event()
        signal.signal(signal.SIGUSR1, handle)
        thread = threading.Thread(target=inside, args=("other",))
        thread.start()
        arrived.wait()
        inside("main")
        thread.join()
        print(trace)
    """
    lock = VirtualLock((region(text, "inside", "trace.append", "handled.wait()"),))
    assert outputs_with(tmp_path, text, lock) == {"['other', 'handled', 'main']\n"}


@pytest.mark.once
def test_settings_tell_which_one_is_there() -> None:
    lock = VirtualLock((ADD,))
    order = VirtualOrder(ADD, ADD)
    settings = Settings()
    assert settings.virtual is None
    assert settings.with_virtual(lock).virtual == lock
    assert settings.with_virtual(lock).with_virtual(order).virtual == order
    assert settings.with_virtual(order).with_virtual(None) == settings
    barrier = VirtualBarrier(ADD, ("0.1", "0.2"))
    assert settings.with_virtual(order).with_virtual(barrier).virtual == barrier
    assert Plan().virtual is None


NOTIFIED = """
    import threading, time
    condition, woken = threading.Condition(), []
    def wait():
        with condition:
            woken.append(condition.wait(9))
    def notify():
        with condition:
            condition.notify()
    threads = [threading.Thread(target=wait) for _ in range(3)]
    for thread in threads: thread.start()
    time.sleep(1)
    notify()
    for thread in threads: thread.join()
    print(sum(woken))
"""


def test_a_notification_wakes_all_threads_only_in_its_lines(tmp_path: Path) -> None:
    everybody = VirtualNotifyAll((region(NOTIFIED, "notify", "condition.notify()"),))
    assert outputs_with(tmp_path, NOTIFIED, None) == {"1\n"}
    runs = runs_with(tmp_path, NOTIFIED, everybody)
    assert {output_of(run) for run in runs} == {"3\n"}
    assert all(run.log.settings.virtual == everybody for run in runs)
    write_log(runs[1].log, tmp_path / "all.log")
    assert_same(runs[1], replayed(read_log(tmp_path / "all.log")))
    elsewhere = VirtualNotifyAll((region(NOTIFIED, "notify", "with condition"),))
    assert outputs_with(tmp_path, NOTIFIED, elsewhere) == {"1\n"}
    two = NOTIFIED.replace("condition.notify()", "condition.notify(2)")
    assert outputs_with(tmp_path, two, everybody) == {"2\n"}
