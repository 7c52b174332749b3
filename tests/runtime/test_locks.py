"""Everything that threads are synchronised with works, under any schedule, and replays."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from replay_dd.schedules.runtime.accelerator import accelerator
from tests.conftest import first_or_other
from tests.runtime.programs import DEFAULT, assert_same, output_of, random_walk, replayed, run_program
from tests.runtime.programs_interrupting import EXCEPTION_FROM_ANOTHER_THREAD, INTERRUPTING
from tests.runtime.programs_other import OTHERS
from tests.runtime.programs_synchronising import SYNCHRONISING

PROGRAMS = {**SYNCHRONISING, **INTERRUPTING, **OTHERS}

# Programs with such times in them are not run as usual: that would take them.
LONG = ("3600", "=100", "=60", "=10)", "(300, ", "=5)", "=2)")


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_writes_what_it_writes_without_us(name: str, tmp_path: Path) -> None:
    text = PROGRAMS[name]
    default = run_program(tmp_path, text, time_limit_s=60)
    written = output_of(default)
    assert_same(default, replayed(default.log))
    for seed in (4, 17)[: first_or_other(2, 1)]:
        run = run_program(tmp_path, text, random_walk(seed))
        assert output_of(run) == written, seed
        assert_same(run, replayed(run.log))
    if not any(long in text for long in LONG):
        plain = subprocess.run([sys.executable, "prog.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert (plain.stdout, plain.returncode) == (written, 0)


def test_an_exception_that_is_set_in_another_thread(tmp_path: Path) -> None:
    for plan in (DEFAULT, random_walk(4), random_walk(17)):
        run = run_program(tmp_path, EXCEPTION_FROM_ANOTHER_THREAD, plan)
        assert output_of(run) == "1\n['stopped', 'and went on']\n"
        assert_same(run, replayed(run.log))


def test_timeouts_end_in_the_order_of_their_deadlines(tmp_path: Path) -> None:
    text = """
        import queue, threading, time
        log = []
        def wait(seconds, how):
            how(seconds)
            log.append(seconds)
        ways = {
            500: threading.Event().wait,
            400: lambda seconds: threading.Semaphore(0).acquire(timeout=seconds),
            300: time.sleep,
            200: lambda seconds: threading.Barrier(2).wait(seconds),
            100: lambda seconds: queue.Queue().get(timeout=seconds),
        }
        def safely(how):
            def call(seconds):
                try:
                    how(seconds)
                except (threading.BrokenBarrierError, queue.Empty):
                    pass
            return call
        threads = [threading.Thread(target=wait, args=(seconds, safely(how))) for seconds, how in ways.items()]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(log)
        """
    for run in (run_program(tmp_path, text), run_program(tmp_path, text, random_walk(4))):
        assert output_of(run) == "[100, 200, 300, 400, 500]\n"


OBJECTS = """
    import threading
    class Thing:
        def __init__(self, name):
            self.name = name
    def work(k):
        for i in range(30):
            things.add(Thing((k, i)))
    things = set()
    threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    print([thing.name for thing in things])
"""


def test_the_order_of_a_set_of_objects_is_the_same_in_each_replay(tmp_path: Path) -> None:
    run = run_program(tmp_path, OBJECTS, random_walk(4))
    assert len({replayed(run.log).output for _ in range(6)}) == 1


# Threads that wait for the baton look much more often than usual whether the one with it stands still.
LOOKING = """
    import gc
    (away,) = (thing for thing in gc.get_objects() if type(thing).__name__ == "Away")
    away.waits = (True, 0.0003)
"""


@pytest.fixture
def busy_machine() -> Iterator[None]:
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * (os.cpu_count() or 1))]
    yield
    for other in others:
        other.kill()
        other.wait()


@pytest.mark.skipif(accelerator is None, reason="no accelerator was compiled for this Python")
@pytest.mark.usefixtures("busy_machine")
@pytest.mark.once
def test_the_order_of_a_set_of_objects_is_the_same_on_a_busy_machine(tmp_path: Path) -> None:
    """Where threads may be stopped anywhere, and others come between: those that look, those that are just starting."""
    run = run_program(tmp_path, textwrap.dedent(LOOKING) + textwrap.dedent(OBJECTS), random_walk(4))
    assert len({replayed(run.log).output for _ in range(10)}) == 1


@pytest.mark.skipif(accelerator is None, reason="without the accelerator, addresses follow the strategy")
def test_the_order_of_a_set_of_objects_is_that_of_the_recorded_run(tmp_path: Path) -> None:
    for seed in (4, 14, 18):
        run = run_program(tmp_path, OBJECTS, random_walk(seed))
        assert_same(run, replayed(run.log))


def test_two_threads_import_the_same_slow_module(tmp_path: Path) -> None:
    tmp_path.joinpath("slow.py").write_text(
        "import time\ntime.sleep(30)\nimport other\ntime.sleep(30)\nvalue = other.value\n"
    )
    tmp_path.joinpath("other.py").write_text(
        "import threading\nt = threading.Thread(target=int)\nt.start()\nt.join()\nvalue = 7\n"
    )
    text = """
        import threading
        def work():
            import slow
            log.append(slow.value)
        log = []
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(log)
        """
    for plan in (random_walk(4), random_walk(17), random_walk(18)):
        run = run_program(tmp_path, text, plan)
        assert output_of(run) == "[7, 7, 7]\n"
        assert_same(run, replayed(run.log))
    assert output_of(run_program(tmp_path, text)) == "[7, 7, 7]\n"


def test_a_finder_that_waits(tmp_path: Path) -> None:
    text = """
        import sys, threading, time
        class Finder:
            def find_spec(self, name, path=None, target=None):
                time.sleep(0.5)
                if name.startswith("no_such"):
                    seen.append(name)
        def work(name):
            try:
                __import__(name)
            except ImportError:
                log.append(name)
        seen, log = [], []
        sys.meta_path.insert(0, Finder())
        threads = [threading.Thread(target=work, args=(name,)) for name in ("no_such_1", "no_such_2", "no_such_1")]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(sorted(seen), sorted(log))
        """
    for plan in (DEFAULT, random_walk(4)):
        run = run_program(tmp_path, text, plan)
        assert output_of(run) == f"{(names := ['no_such_1', 'no_such_1', 'no_such_2'])} {names}\n"
        assert_same(run, replayed(run.log))


def test_an_import_that_fails_is_told_as_usual(tmp_path: Path) -> None:
    run = run_program(tmp_path, "import threading\nthreading.Thread(target=int).start()\nimport no_such_module")
    lines = run.output.decode().splitlines()
    assert len(lines) == 4, lines
    assert lines[-1] == "ModuleNotFoundError: No module named 'no_such_module'"


ENTROPY = """
    import os, random, secrets, tempfile, threading, uuid
    def work():
        log.append((random.random(), random.Random().random(), random.SystemRandom().random()))
        log.append((uuid.uuid4(), os.urandom(5), secrets.token_hex(4), hash("text"), len(tempfile.mktemp())))
    log = []
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    work()
    random.seed(5)
    print(random.random())
    print(log)
"""


def test_entropy_is_the_same_in_each_run(tmp_path: Path) -> None:
    first, second = (output_of(run_program(tmp_path, ENTROPY)) for _ in range(2))
    assert first == second
    assert first.splitlines()[0] == "0.6229016948897019", "a seed of the program's own holds"
    values = first.splitlines()[1].split(", ")
    assert len(set(values)) > len(values) - 4, "the same in each run, not each time"


def test_a_condition_takes_its_lock_back_before_an_exception_from_outside(tmp_path: Path) -> None:
    text = """
        import ctypes, threading
        class Stop(Exception):
            pass
        def work():
            try:
                with condition:
                    waiting.set()
                    condition.wait_for(lambda: False)
            except Stop:
                log.append(condition._lock._is_owned())
        log, condition, waiting = [], threading.Condition(), threading.Event()
        thread = threading.Thread(target=work)
        thread.start()
        waiting.wait()
        with condition:
            condition.notify()
            set_exception = ctypes.pythonapi.PyThreadState_SetAsyncExc
            set_exception.argtypes = ctypes.c_ulong, ctypes.py_object
            print(set_exception(thread.ident, Stop), set_exception(-1, Stop), set_exception.argtypes[1].__name__)
        thread.join()
        print(log)
        """
    for plan in (DEFAULT, random_walk(4), random_walk(17)):
        run = run_program(tmp_path, text, plan)
        assert output_of(run) == "1 0 py_object\n[False]\n"
        assert_same(run, replayed(run.log))


def test_an_exception_that_is_taken_back_never_comes(tmp_path: Path) -> None:
    text = """
        import ctypes, threading, time
        def work():
            while not done.is_set():
                time.sleep(0.01)
        done = threading.Event()
        thread = threading.Thread(target=work)
        thread.start()
        set_exception = ctypes.pythonapi.PyThreadState_SetAsyncExc
        ident = ctypes.c_ulong(thread.ident)
        print(set_exception(ident, ctypes.py_object(KeyError)), set_exception(ident, None))
        done.set()
        thread.join()
        print("ended")
        """
    run = run_program(tmp_path, text)
    assert output_of(run) == "1 1\nended\n"


def test_futures_are_locked_in_the_order_in_which_they_were_first_hashed(tmp_path: Path) -> None:
    text = """
        from concurrent.futures import Future, _base
        import random
        futures = [Future() for _ in range(50)]
        random.shuffle(futures)  # so that this order is not that of their addresses
        for future in futures:
            hash(future)
        print(_base._AcquireFutures(set(futures)).futures == futures)
        """
    assert output_of(run_program(tmp_path, text)) == "True\n"


@pytest.mark.parametrize("threaded", [False, True])
def test_a_finalizer_that_puts_into_a_simple_queue_does_not_overtake(threaded: bool, tmp_path: Path) -> None:
    text = """
        import itertools, queue, sys, threading
        class Circular:
            def __init__(self):
                self.circular = self
            def __del__(self):
                items.put(next(numbers))
        if sys.argv[1] == "True":
            threading.Thread(target=int).start()
        items, numbers, found = queue.SimpleQueue(), itertools.count(), []
        while len(found) < 10_000:
            circular = Circular()
            items.put(next(numbers))
            del circular
            found.append(items.get())
        print(found == list(range(10_000)))
        """
    assert output_of(run_program(tmp_path, text, arguments=(str(threaded),))) == "True\n"
