"""The accelerator does what the back end in Python does: same thread times, same digests, same logs."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import pytest

from replay_dd.schedules.model import Log, Settings
from replay_dd.schedules.running.target import Plan, describe_program, run_target
from replay_dd.schedules.runtime.accelerator import accelerator
from replay_dd.schedules.runtime.points.places import COUNTED, LIBRARY

PROGRAM = """
import queue, sys, threading
from concurrent.futures import ThreadPoolExecutor

class Account:
    def __init__(self): self.balance = 0; self.history = []
    def deposit(self, amount):
        before = self.balance
        self.history.append(amount)
        self.balance = before + amount

account, tasks = Account(), queue.Queue()

def numbers(n):
    for i in range(n):
        yield i if i % 3 else -i

def work(name):
    for i in numbers(12):
        account.deposit(i)
        try:
            if i == 7: raise ValueError(name)
        except ValueError:
            tasks.put((name, [x for x in account.history[-3:]]))
    return sum(map(abs, numbers(4)))

with ThreadPoolExecutor(2) as pool:
    results = list(pool.map(work, "ab"))
threads = [threading.Thread(target=work, args=(name,)) for name in "cd"]
for thread in threads: thread.start()
for thread in threads: thread.join()
sys.exit(account.balance != 2 * results[0])
"""

LONG = "def f(o):\n" + "".join(f"    o.a{number} = {number + 1000}\n" for number in range(300))
LONG += """
import threading
class Thing: pass
thing = Thing()
threads = [threading.Thread(target=f, args=(thing,)) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""

# More places of operations than the accelerator keeps, some of them through the library, each visited again.
MANY_LOCKS = """
import queue, threading
first, second, items = threading.Lock(), threading.RLock(), queue.Queue()
def work():
    for _ in range(2):
"""
MANY_LOCKS += "        with first: pass\n        with second: pass\n        items.put(1)\n" * 300
MANY_LOCKS += """
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert items.qsize() == 1200
"""

# Every way to use a lock, from counted code and from library code, often enough to specialise instructions. On Python
# 3.11 and 3.12 a frame that calls a function in C stands elsewhere than one that calls a function in Python.
WAYS_TO_LOCK = """
import functools, queue, threading
from contextlib import ExitStack

def use(lock, other, n):
    lock.acquire(); lock.release()
    lock.acquire(True); lock.release()
    lock.acquire(True, -1); lock.release()
    lock.acquire(blocking=True); lock.release()
    lock.acquire(timeout=100); lock.release()
    if lock.acquire(False): lock.release()
    if lock.acquire(blocking=False): lock.release()
    acquire, release = lock.acquire, lock.release
    acquire(); release()
    acquire(*()); release(*())
    with lock:
        shared.append(n)
        got = other.acquire(False)
    if got: other.release()
    with lock, other: shared.append(n)
    try:
        with lock: raise ValueError
    except ValueError: pass
    lock.__enter__(); lock.__exit__(None, None, None)
    type(lock).acquire(lock); type(lock).release(lock)
    sum(map(type(lock).acquire, [lock])); list(map(type(lock).release, [lock]))
    functools.partial(type(lock).acquire, lock)(True); functools.partial(lock.release)()
    with ExitStack() as stack: stack.enter_context(lock)
    [lock.acquire() for _ in "a"]; [(lock.release(), n) for _ in "a"]
    try: other.release()
    except RuntimeError: shared.append(-n)

def work():
    for n in range(20):
        use(first, second, n)
        use(again, second, n)
        with again, again: again.acquire(); again.release()
        with condition: condition.notify()
        items.put(n); items.get_nowait()

shared, items = [], queue.SimpleQueue()
first, second, again, condition = threading.Lock(), threading.Lock(), threading.RLock(), threading.Condition()
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""

pytestmark = pytest.mark.skipif(accelerator is None, reason="no accelerator was compiled for this Python")


def run(program: Path, settings: Settings, plan: Plan) -> tuple[Log, str]:
    described = describe_program((sys.executable, program.name), directory=program.parent)
    done = run_target(described, settings, plan, time_limit_s=60)
    ending = dataclasses.replace(done.log.ending, seconds=0.0)
    return dataclasses.replace(done.log, ending=ending), done.backend


@pytest.mark.parametrize(
    "text", [PROGRAM, LONG, MANY_LOCKS, WAYS_TO_LOCK], ids=["program", "long function", "many locks", "ways to lock"]
)
@pytest.mark.parametrize("granularity", ["sync", "gil", "line", "access"])
@pytest.mark.parametrize(
    "plan",
    [
        pytest.param(Plan(), marks=pytest.mark.once),
        Plan("random", {"seed": 2}),
        pytest.param(Plan("pct", {"seed": 5, "depth": 3}, {"0": 60, "0.1": 300, "0.2": 300}), marks=pytest.mark.once),
    ],
    ids=["default", "random", "pct"],
)
def test_both_make_the_same_log(
    text: str, granularity: str, plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "program.py"
    program.write_text(text)
    settings = Settings(granularity=granularity)
    in_c, backend_c = run(program, settings, plan)
    monkeypatch.setenv("REPLAY_DD_ACCELERATOR", "off")
    in_python, backend_python = run(program, settings, plan)
    if granularity != "sync":
        assert " in C" in backend_c or backend_c.startswith("C ")
        assert backend_python in ("settrace", "sys.monitoring")
        assert in_c.ending.global_time > 10
    assert in_c == in_python


# The worker's own operations are so many that it has to give way once.
POOL = """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(1) as pool:
    print(len(list(pool.map(abs, range(2500)))))
"""


def test_both_make_the_same_log_of_threads_that_look_for_work_in_library_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "program.py"
    program.write_text(POOL)
    in_c, _ = run(program, Settings("sync"), Plan("random", {"seed": 5}))
    monkeypatch.setenv("REPLAY_DD_ACCELERATOR", "off")
    in_python, _ = run(program, Settings("sync"), Plan("random", {"seed": 5}))
    assert in_c == in_python


def test_both_count_the_same_visits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    recorded, _ = run(program, Settings(), Plan("random", {"seed": 4}))
    keys = tuple({switch.place.key for switch in recorded.switches if switch.place is not None})
    plan = Plan("replay", triggers=recorded.triggers, watched=keys)
    in_c, _ = run(program, Settings(), plan)
    monkeypatch.setenv("REPLAY_DD_ACCELERATOR", "off")
    in_python, _ = run(program, Settings(), plan)
    assert in_c == in_python
    assert max(switch.visit for switch in in_c.switches) > 1


@pytest.mark.parametrize(
    "granularity",
    [pytest.param("sync", marks=pytest.mark.once), pytest.param("gil", marks=pytest.mark.once), "line", "access"],
)
@pytest.mark.parametrize("text", [PROGRAM, WAYS_TO_LOCK], ids=["program", "ways to lock"])
def test_both_note_the_same_visits(
    text: str, granularity: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "program.py").write_text(text)
    program = describe_program((sys.executable, "program.py"), directory=tmp_path)
    settings = Settings(granularity)
    in_c = run_target(program, settings, Plan("profile"), time_limit_s=60)
    monkeypatch.setenv("REPLAY_DD_ACCELERATOR", "off")
    in_python = run_target(program, settings, Plan("profile"), time_limit_s=60)
    assert in_c.backend != in_python.backend or granularity == "sync"
    endings = [dataclasses.replace(one.log.ending, seconds=0.0) for one in (in_c, in_python)]
    assert endings[0] == endings[1]
    notes = [
        [(touch.thread, touch.time, touch.place, touch.thing[1], touch.changes) for touch in one.touches]
        for one in (in_c, in_python)
    ]
    assert notes[0] == notes[1]
    assert notes[0]


def test_both_leave_the_same_places_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = describe_program((sys.executable, tmp_path / "program.py"))
    (tmp_path / "program.py").write_text(PROGRAM)
    whole = run_target(program, Settings(), Plan("profile"), time_limit_s=60).touches
    left_out = tuple(sorted({touch.place for touch in whole})[::2])
    plan = Plan("profile", left_out=left_out)
    in_c = run_target(program, Settings(), plan, time_limit_s=60).touches
    monkeypatch.setenv("REPLAY_DD_ACCELERATOR", "off")
    in_python = run_target(program, Settings(), plan, time_limit_s=60).touches
    for notes in (in_c, in_python):
        assert {touch.place for touch in notes} == {touch.place for touch in whole}.difference(left_out)


def test_both_draw_at_the_same_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    recorded, _ = run(program, Settings(), Plan("random", {"seed": 4}))
    keys = sorted({switch.place.key for switch in recorded.switches if switch.place is not None})
    plan = Plan("uniform", {"seed": 3}, dict(recorded.ending.thread_times), places=tuple(keys[::2]))
    in_c, _ = run(program, Settings(), plan)
    monkeypatch.setenv("REPLAY_DD_ACCELERATOR", "off")
    in_python, _ = run(program, Settings(), plan)
    assert in_c == in_python
    places = {switch.place.key for switch in in_c.switches if switch.place is not None and not switch.forced}
    assert places
    assert places <= set(plan.places)


@pytest.mark.skipif(accelerator is None, reason="needs the accelerator")
def test_code_of_files_that_are_not_counted_is_told_without_asking() -> None:
    assert accelerator is not None
    disable, asked = object(), []
    counter = accelerator.Counter(accelerator.ThreadCounts(), disable)
    counter.learn = lambda code, offset: asked.append((code.co_filename, offset))
    here, library, unknown = (compile("", name, "exec") for name in ("here.py", "library.py", "unknown.py"))
    counter.on_start(library, 2)
    counter.kinds = {"here.py": COUNTED, "library.py": LIBRARY}
    assert counter.on_start(library, 4) is disable
    assert [counter.on_start(code, 6) for code in (here, unknown)] == [None, None]
    assert asked == [("library.py", 2), ("here.py", 6), ("unknown.py", 6)]
