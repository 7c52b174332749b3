"""Deadlocks are found, and the report names what threads wait for as their programs call it."""

from __future__ import annotations

import venv
from pathlib import Path

from replay_dd.schedules.failures.signature import signature_of
from replay_dd.schedules.model import Switch, Waiter
from tests.runtime.programs import (
    assert_same,
    output_of,
    replayed,
    run_command,
    run_program,
    triggered,
    write_program,
)

CIRCLE = """
    import threading

    first = threading.Lock()
    second = threading.RLock()

    def one():
        with first:
            with second:
                pass

    def two():
        with second:
            with first:
                pass

    threads = [threading.Thread(target=target) for target in (one, two)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""

# Thread 0.1 waits in the first of these, and so on. What is said of it stands behind it.
WAITS = """
    import threading
    from concurrent.futures import Future, as_completed, wait
    from queue import LifoQueue, Queue, SimpleQueue

    class Mine(Queue):
        def get(self):
            return super().get()

    def wait_on(condition):
        with condition:
            condition.wait_for(lambda: False)

    lock = threading.Lock()
    condition = threading.Condition()
    with_lock = threading.Condition(lock)
    with_rlock = threading.Condition(threading.RLock())
    event = threading.Event()
    semaphore = threading.Semaphore(0)
    bounded = threading.BoundedSemaphore(1)
    barrier = threading.Barrier(2)
    queue = Queue()
    full = LifoQueue(1)
    simple = SimpleQueue()
    future = Future()
    mine = Mine()
    bounded.acquire()
    full.put(None)

    waits = [
        lambda: wait_on(condition),  # to be notified of the Condition made at prog.py:15
        lambda: wait_on(with_lock),  # to be notified of the Condition with the Lock made at prog.py:14
        lambda: wait_on(with_rlock),  # to be notified of the Condition with the RLock made at prog.py:17
        lambda: wait_on(queue.not_empty),  # to be notified of the Condition with the Lock made at prog.py:22
        lambda: event.wait(),  # for the Event made at prog.py:18 to be set
        lambda: semaphore.acquire(),  # for the Semaphore made at prog.py:19 to be released
        lambda: bounded.__enter__(),  # for the BoundedSemaphore made at prog.py:20 to be released
        lambda: barrier.wait(),  # for other threads at the Barrier made at prog.py:21
        lambda: queue.get(),  # for an item in the Queue made at prog.py:22
        lambda: full.put(None),  # for room in the LifoQueue made at prog.py:23
        lambda: full.join(),  # for all items of the LifoQueue made at prog.py:23 to be done
        lambda: simple.get(),  # for an item in the SimpleQueue made at prog.py:24
        lambda: future.result(),  # for the result of the Future made at prog.py:25
        lambda: future.exception(),  # for the result of the Future made at prog.py:25
        lambda: wait([future]),  # for the results of Futures
        lambda: list(as_completed([future])),  # for the results of Futures
        lambda: mine.get(),  # for an item in the Mine made at prog.py:26
    ]
    for wait_somewhere in waits:
        threading.Thread(target=wait_somewhere).start()
"""

# The same code makes locks again and again, by different functions of the library and in different lines.
MADE_AGAIN = """
    import logging, threading

    def make():
        made = []
        for kind in (logging.Handler, threading.Condition):
            made.append(kind())
        made.append(threading.Condition())
        return made

    def wait_on(condition):
        with condition:
            condition.wait()

    thread = threading.Thread(target=make)
    thread.start()
    thread.join()
    for _ in range(3):
        handler, condition, other = make()
    for waited in (threading.Condition(handler.lock), condition, other):
        threading.Thread(target=wait_on, args=(waited,)).start()
"""

# The thread has been notified, and now cannot get the lock back.
NOTIFIED = """
    import threading, time
    condition = threading.Condition()
    event = threading.Event()
    def work():
        with condition:
            condition.wait()
    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(1)
    with condition:
        condition.notify()
        event.wait()
"""

LIBRARY_ONLY = """
    import queue, threading
    items = queue.Queue()
    thread = threading.Thread(target=items.get)
    thread.start()
    thread.join()
"""

# The thread waits in library code while the main thread sleeps; then it gets its item.
LIBRARY_WAITS = """
    import queue, threading, time
    items = queue.Queue()
    thread = threading.Thread(target=items.get)
    thread.start()
    time.sleep(1)
    items.put(1)
    thread.join()
"""

# It still waits there when the program ends, at the thread time that it had at its only switch.
LEFT_WAITING = """
    import queue, threading, time
    threading.Thread(target=queue.Queue().get, daemon=True).start()
    time.sleep(1)
"""


def waiters_of(folder: Path, text: str) -> dict[str, Waiter]:
    """Who waits, by thread, of a program that ends in a deadlock; its replay ends in the same one."""
    run = run_program(folder, text)
    again = replayed(run.log)
    assert_same(run, again)
    assert again.log.ending.deadlock == run.log.ending.deadlock
    assert signature_of(again.log.ending).same(signature_of(run.log.ending))
    return {waiter.thread: waiter for waiter in run.log.ending.deadlock}


def test_a_deadlock_is_found_and_explained(tmp_path: Path) -> None:
    run = run_program(tmp_path, CIRCLE)
    output_of(run)
    for time in range(1, 20):
        run = run_program(tmp_path, CIRCLE, triggered(("0.1", time, "0.2")))
        if run.log.ending.deadlock:
            break
    waiters = {waiter.thread: waiter for waiter in run.log.ending.deadlock}
    assert sorted(waiters) == ["0", "0.1", "0.2"]
    assert waiters["0.1"].explanation == "waits for the RLock made at prog.py:5, which thread 0.2 took at prog.py:13"
    assert waiters["0.2"].explanation == "waits for the Lock made at prog.py:4, which thread 0.1 took at prog.py:8"
    assert [(frame.line, frame.function) for frame in waiters["0.1"].frames] == [(9, "one")]
    assert [(frame.line, frame.function) for frame in waiters["0.2"].frames] == [(14, "two")]
    assert [frame.line for frame in waiters["0"].frames] == [21]
    assert signature_of(run.log.ending).text == "deadlock of the threads 0, 0.1, 0.2"


def test_who_waits_for_itself_and_who_ended_with_a_lock(tmp_path: Path) -> None:
    alone = run_program(tmp_path, "import threading\nlock = threading.Lock()\nlock.acquire()\nlock.acquire()")
    (waiter,) = alone.log.ending.deadlock
    assert waiter.explanation == "waits for the Lock made at prog.py:2, which thread 0 took at prog.py:3"
    text = "import threading\nlock = threading.Lock()\nt = threading.Thread(target=lock.acquire)\nt.start()\nt.join()\n"
    gone = run_program(tmp_path, text + "lock.acquire()")
    (waiter,) = gone.log.ending.deadlock
    assert waiter.explanation.startswith("waits for the Lock made at prog.py:2, which thread 0.1 took")
    assert waiter.explanation.endswith("and never released")


def test_what_is_built_on_conditions_is_told_by_its_own_name(tmp_path: Path) -> None:
    said = [line.partition("  # ")[2] for line in WAITS.splitlines() if "lambda: " in line and "  # " in line]
    waiters = waiters_of(tmp_path, WAITS)
    told = {thread: waiter.explanation for thread, waiter in waiters.items() if thread != "0"}
    assert told == {f"0.{number}": f"waits {text}" for number, text in enumerate(said, 1)}
    assert all(frame.counted for thread, waiter in waiters.items() if thread != "0" for frame in waiter.frames)


def test_where_each_of_many_locks_was_made(tmp_path: Path) -> None:
    waiters = waiters_of(tmp_path, MADE_AGAIN)
    assert [waiters[thread].explanation for thread in ("0.2", "0.3", "0.4")] == [
        "waits to be notified of the Condition with the RLock made at prog.py:7",
        "waits to be notified of the Condition made at prog.py:7",
        "waits to be notified of the Condition made at prog.py:8",
    ]


def test_the_result_of_a_pool_is_told(tmp_path: Path) -> None:
    text = """
        import threading
        from multiprocessing.pool import ThreadPool
        pool = ThreadPool(1)
        pool.apply(threading.Event().wait)
    """
    waiters = waiters_of(tmp_path, text)
    assert waiters["0"].explanation == "waits for the ApplyResult made at prog.py:5"
    assert waiters["0.1"].explanation == "waits for the Event made at prog.py:5 to be set"


def test_who_was_notified_waits_for_the_lock_of_the_condition(tmp_path: Path) -> None:
    waiters = waiters_of(tmp_path, NOTIFIED)
    taken = "waits for the RLock made at prog.py:3, which thread 0 took at prog.py:11"
    assert waiters["0.1"].explanation == taken
    assert waiters["0"].explanation == "waits for the Event made at prog.py:4 to be set"


def test_a_thread_that_is_all_library_code_is_told_where_it_waits(tmp_path: Path) -> None:
    waiters = waiters_of(tmp_path, LIBRARY_ONLY)
    assert waiters["0.1"].explanation == "waits for an item in the Queue made at prog.py:3"
    functions = [(frame.file, frame.function) for frame in waiters["0.1"].frames]
    assert functions == [("threading.py", "Condition.wait"), ("queue.py", "Queue.get"), ("threading.py", "Thread.run")]
    assert not any(frame.counted for frame in waiters["0.1"].frames)
    assert [(frame.line, frame.counted) for frame in waiters["0"].frames] == [(6, True)]


def test_who_made_a_lock_before_us_is_not_known(tmp_path: Path) -> None:
    venv.create(tmp_path / "env", with_pip=False, symlinks=True)
    (packages,) = (tmp_path / "env" / "lib").glob("python3*/site-packages")
    (packages / "early.pth").write_text("import early\n")
    (packages / "early.py").write_text("import queue, threading\nlock, items = threading.Lock(), queue.Queue()\n")
    text = """
        import early, threading
        threading.Thread(target=early.items.get).start()
        early.lock.acquire()
        early.lock.acquire()
        """
    write_program(tmp_path, text)
    run = run_command(tmp_path, (str(tmp_path / "env" / "bin" / "python"), "prog.py"))
    assert [waiter.explanation for waiter in run.log.ending.deadlock] == [
        "waits for the Lock, which thread 0 took at prog.py:4",
        "waits for an item in the Queue",
    ]


def switches_of_thread(folder: Path, text: str) -> list[Switch]:
    """The switches away from thread 0.1, none of whose code is counted."""
    run = run_program(folder, text)
    output_of(run)
    switches = [switch for switch in run.log.switches if switch.thread == "0.1"]
    assert all(switch.place is None and switch.forced for switch in switches)
    return switches


def test_a_thread_that_waits_in_library_code_has_not_ended(tmp_path: Path) -> None:
    waits, ends = switches_of_thread(tmp_path / "waits", LIBRARY_WAITS)
    assert (waits.ended, ends.ended) == (False, True)
    (waits,) = switches_of_thread(tmp_path / "left", LEFT_WAITING)
    assert not waits.ended
