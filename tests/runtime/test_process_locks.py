"""Locks of ``multiprocessing`` that only threads of one process use are under the schedule; others wait for real."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_dd.schedules.failures.signature import signature_of
from replay_dd.schedules.model import Settings
from tests.runtime.programs import DEFAULT, assert_same, output_of, random_walk, replayed, run_program

_START = """
    import multiprocessing, threading
    def run(count, work):
        threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
"""

PROGRAMS = {
    "lock": """
    lock, total = multiprocessing.Lock(), 0
    def work(number):
        global total
        for _ in range(3):
            with lock:
                before = total
                total = before + 1
    run(3, work)
    print(total, lock.acquire(False), lock.acquire(False), lock.acquire(timeout=0.5), lock.acquire(True, -1))
    lock.release()
    try:
        lock.release()
    except ValueError as error:
        print(error)
    """,
    "rlock": """
    lock, log, other = multiprocessing.RLock(), [], []
    def work(number):
        with lock, lock:
            log.append(number)
            log.append(number)
    run(3, work)
    print(all(log[i] == log[i + 1] for i in (0, 2, 4)))
    def give_back(number):
        try:
            lock.release()
        except AssertionError as error:
            print(error)
    with lock:
        run(1, lambda number: other.append(lock.acquire(timeout=0.5)))
        run(1, give_back)
    try:
        lock.release()
    except AssertionError as error:
        print(error)
    print(other)
    """,
    "semaphores": """
    places, inside, most, one = multiprocessing.Semaphore(2), 0, 0, multiprocessing.BoundedSemaphore(1)
    def work(number):
        global inside, most
        with places:
            with one:
                inside += 1
                most = max(most, inside)
            with one:
                inside -= 1
    run(4, work)
    print(most <= 2, inside, places.get_value())
    nothing = multiprocessing.Semaphore(0)
    print(nothing.acquire(False), nothing.acquire(True, 0.5))
    run(2, lambda number: nothing.acquire() if number == 0 else nothing.release())
    print(nothing.get_value())
    """,
    "condition and event": """
    condition, items, got, event = multiprocessing.Condition(), [], [], multiprocessing.Event()
    def work(number):
        if number < 2:
            with condition:
                condition.wait_for(lambda: items)
                got.append(items.pop())
        elif number < 4:
            with condition:
                items.append(number)
                condition.notify()
        elif number == 4:
            event.wait()
        else:
            event.set()
    run(6, work)
    print(sorted(got), event.is_set(), event.wait(0.5))
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_threads_of_one_process_wait_for_each_other_under_the_schedule(name: str, tmp_path: Path) -> None:
    text = _START + PROGRAMS[name]
    written = set()
    for plan in (DEFAULT, *(random_walk(seed) for seed in range(4))):
        run = run_program(tmp_path, text, plan)
        written.add(output_of(run))
        assert not run.log.stuck_calls
        assert_same(run, replayed(run.log))
    assert len(written) == 1
    assert "False False" in written.pop() or name in ("rlock", "condition and event")


def test_a_timeout_is_virtual(tmp_path: Path) -> None:
    """Unless another process runs, as that of `multiprocessing` which unlinks semaphores that have a name."""
    text = """
        import multiprocessing, threading
        unnamed = multiprocessing.get_context("fork")
        lock, semaphore = unnamed.Lock(), unnamed.Semaphore(0)
        lock.acquire()
        def work():
            print(lock.acquire(timeout=1e6), semaphore.acquire(timeout=1e6))
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        """
    assert output_of(run_program(tmp_path, text)) == "False False\n"


def test_a_deadlock_names_them(tmp_path: Path) -> None:
    text = """
        import multiprocessing, threading
        lock, semaphore = multiprocessing.Lock(), multiprocessing.Semaphore(0)
        lock.acquire()
        thread = threading.Thread(target=semaphore.acquire)
        thread.start()
        lock.acquire()
        """
    ending = run_program(tmp_path, text).log.ending
    assert signature_of(ending).kind == "deadlock"
    assert "waits for the Lock made at prog.py:3, which thread 0 took at prog.py:4" in str(ending)
    assert "waits for the Semaphore made at prog.py:3 to be released" in str(ending)


@pytest.mark.parametrize("kind", ["Lock", "Semaphore"])
def test_another_process_may_release_what_it_was_given(kind: str, tmp_path: Path) -> None:
    """Otherwise it would look as if nobody was left who could."""
    forked = f"""
        import multiprocessing, os, threading, time
        lock, (end, other_end) = multiprocessing.{kind}(1), os.pipe()
        lock.acquire()
        if os.fork() == 0:
            os.read(end, 1)
            lock.release()
            os._exit(0)
        def work():
            os.write(other_end, b"x")
            print(lock.acquire())
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        os.wait()
        """
    spawned = f"""
        import multiprocessing, threading
        def give_back(lock):
            lock.release()
        def work():
            process.start()
            print(lock.acquire())
            process.join()
        if __name__ == "__main__":
            context = multiprocessing.get_context("spawn")
            lock = context.{kind}(1)
            lock.acquire()
            process = context.Process(target=give_back, args=(lock,))
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
        """
    for text in (forked, spawned):
        assert output_of(run_program(tmp_path, text.replace("Lock(1)", "Lock()"))) == "True\n"


@pytest.mark.parametrize(
    "made, child, parent",
    [
        ("Lock()", "lock.release()", ""),
        ("Semaphore(0)", "lock.release()", ""),
        ("RLock()", "", "lock.release()"),
    ],
)
def test_a_thread_that_waits_already_is_woken_after_a_fork(made: str, child: str, parent: str, tmp_path: Path) -> None:
    """By another process, or by the thread that had the lock before."""
    text = f"""
        import multiprocessing, os, threading, time, warnings
        warnings.simplefilter("ignore")  # of a fork with threads
        lock = multiprocessing.{made}
        if "(0)" not in {made!r}: lock.acquire()
        def work():
            print(lock.acquire())
            lock.release()
        thread = threading.Thread(target=work)
        thread.start()
        time.sleep(1)
        if os.fork() == 0:
            {child}
            os._exit(0)
        os.wait()
        {parent}
        thread.join()
        print(lock.acquire(False), lock.acquire(False) is {made == "RLock()"})
        """
    run = run_program(tmp_path, text)
    assert output_of(run) == "True\nTrue True\n"
    assert_same(run, replayed(run.log))


@pytest.mark.parametrize("made", ["Lock()", "Semaphore(1)"])
def test_a_thread_that_waits_already_is_woken_by_a_process_that_is_given_the_lock(made: str, tmp_path: Path) -> None:
    text = f"""
        import multiprocessing, threading, time
        def give_back(lock):
            lock.release()
        def work(lock):
            print(lock.acquire())
        if __name__ == "__main__":
            context = multiprocessing.get_context("spawn")
            lock = context.{made}
            lock.acquire()
            thread = threading.Thread(target=work, args=(lock,))
            thread.start()
            time.sleep(1)
            process = context.Process(target=give_back, args=(lock,))
            process.start()
            thread.join()
            process.join()
        """
    assert output_of(run_program(tmp_path, text)) == "True\n"


@pytest.mark.parametrize("call", ["acquire(False)", "acquire()", "release()"])
@pytest.mark.parametrize("made", ["Lock()", "RLock()", "Semaphore(5)"])
def test_each_call_is_a_yield_point(made: str, call: str, tmp_path: Path) -> None:
    text = f"""
        import multiprocessing, threading
        lock = multiprocessing.{made}
        {"lock.acquire()" if call == "release()" else ""}
        thread = threading.Thread(target=print)
        thread.start()
        {{}}
        thread.join()
        """
    settings = Settings(granularity="sync")
    without, with_one = (
        run_program(tmp_path / name, text.format(then), settings=settings).log.ending.global_time
        for name, then in (("without", ""), ("with", f"lock.{call}"))
    )
    assert with_one == without + 1
