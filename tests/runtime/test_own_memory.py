"""What the runtime does moves no object of the program: a random run and its replay find the same addresses."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from replay_dd.schedules.model import Program, Settings
from replay_dd.schedules.replaying.record import plan_for
from replay_dd.schedules.replaying.replay import exact_plan, find_divergence, replay_plan
from replay_dd.schedules.running.runner import Runner
from replay_dd.schedules.running.target import Plan, TargetRun, describe_program, run_target
from replay_dd.schedules.runtime.accelerator import accelerator
from replay_dd.schedules.runtime.compat import FREE_THREADED

# Its way follows the order of sets of objects of several sizes, of references to them, and of contexts. It tells the
# addresses of objects of many kinds, too.
PROGRAM = """
import contextvars, threading, weakref

class Plain: pass
class Slots: __slots__ = ("a", "b", "c", "d", "e", "__weakref__")
class Long(list): pass

lock, found = threading.Lock(), {}

def one(): found["one"] = found.get("one", 0) + 1
def two(): one(); one()
def three(): two(); one()

def follow(things):
    for thing in things:
        {Plain: one, Slots: two, Long: three}.get(type(thing), one)()

def made():
    yield from (Plain(), Slots(), Long(), object(), set(), {1: 2}, [1], (lambda: 1), slice(1, 2))
    yield from (tuple([number] * number) for number in range(1, 9))
    yield from (bytes(number * 16) for number in range(1, 48, 5))
    yield from (float(len(told)), 10**15 + len(told), type("New", (), {}), (n for n in ()), dict.fromkeys(range(40)))

told = []

def in_context(variables):
    for number, variable in enumerate(variables):
        variable.set(number)
    for variable in contextvars.copy_context():
        if variable in variables:
            (one, two, three)[variables.index(variable) % 3]()

def work():
    for size in (2, 5, 9):
        things = set()
        for _ in range(size):
            things |= {Plain(), Slots()}
            with lock:
                found["kept"] = Plain()
        follow(things)
        follow(reference() for reference in {weakref.ref(thing) for thing in things})
        contextvars.Context().run(in_context, [contextvars.ContextVar(str(number)) for number in range(size)])
        told.extend([(type(thing).__name__, id(thing)) for thing in list(made())])
        if size == 5:
            threading.Event().wait(0.01)

threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(*told, sep="\\n")
"""
SETTINGS = Settings(start_ns=1_700_000_000_000_000_000)
LIMIT_S = 120

pytestmark = [
    pytest.mark.skipif(accelerator is None, reason="no accelerator was compiled for this Python"),
    pytest.mark.skipif(FREE_THREADED, reason="addresses are not held fixed in builds without a GIL"),
]


def described(folder: Path, text: str = PROGRAM) -> Program:
    (folder / "prog.py").write_text(text)
    return describe_program((sys.executable, "prog.py"), directory=folder)


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[Runner]:
    with Runner(described(tmp_path), SETTINGS) as runner:
        yield runner


def fresh(program: Program, plan: Plan) -> TargetRun:
    return run_target(program, SETTINGS, plan, time_limit_s=LIMIT_S)


def assert_same(run: TargetRun, again: TargetRun) -> None:
    assert run.log.ending.status == again.log.ending.status == 0, run.output
    for one, other in zip(run.output.splitlines(), again.output.splitlines(), strict=True):
        assert one == other
    assert find_divergence(run.log, again.log) is None


@pytest.mark.parametrize("strategy", ["random", "pct"])
def test_a_run_and_its_first_replay_find_the_same_addresses(strategy: str, runner: Runner, tmp_path: Path) -> None:
    program = described(tmp_path)
    thread_times = runner.run(Plan(), LIMIT_S).log.ending.thread_times
    for seed in range(1, 13):
        plan = plan_for(strategy, seed, thread_times)
        run = runner.run(plan, LIMIT_S)
        plan_of_replay = exact_plan(run.log)
        assert_same(run, runner.run(plan_of_replay, LIMIT_S))
        if seed % 4 == 0:
            assert_same(run, fresh(program, plan))
            assert_same(run, fresh(program, plan_of_replay))
    assert not runner.why_fresh


def test_counting_visits_moves_nothing(runner: Runner) -> None:
    run = runner.run(plan_for("random", 3, {}), LIMIT_S)
    watched = tuple({switch.place.key for switch in run.log.switches if switch.place is not None})
    assert_same(run, runner.run(replace(replay_plan(run.log.triggers), watched=watched), LIMIT_S))


def test_the_number_of_a_thread_moves_nothing(tmp_path: Path) -> None:
    """Small numbers are there already, and others take memory; the system may give a thread either."""
    text = """
import sys, threading

def work():
    told = {"large": threading.get_native_id, "small": lambda: 1}[sys.argv[1]]
    kept = [told() for _ in range(5)]
    print(id(len(kept) * 0.5))

thread = threading.Thread(target=work)
thread.start()
thread.join()
"""
    program = described(tmp_path, text)
    large, small = (replace(program, command=(*program.command, word)) for word in ("large", "small"))
    assert_same(fresh(large, Plan()), fresh(small, Plan()))


# Before its first thread it has taken locks thousands of times and left garbage behind, which is collected by then.
COLLECTED = PROGRAM.replace(
    "threads = ",
    """
class Round:
    def __init__(self): self.me, self.other = self, Plain()

for _ in range(3_000):
    with lock:
        Round()
    if _ % 7 == 0: found[_] = Plain()
threads = """,
)


def test_following_the_values_of_a_run_moves_nothing(tmp_path: Path) -> None:
    """Nothing that a set orders by its address; on Python 3.11, a few lists and tuples still find other places."""
    program = described(tmp_path, COLLECTED)
    plan = exact_plan(fresh(program, plan_for("random", 3, {})).log)
    run, followed = fresh(program, plan), fresh(program, replace(plan, followed=(0, 200_000)))
    assert find_divergence(run.log, followed.log) is None
    assert followed.flow is not None

    def hashed_by_address(told: TargetRun) -> list[bytes]:
        return [line for line in told.output.splitlines() if not line.startswith((b"('list'", b"('tuple'"))]

    assert hashed_by_address(followed) == hashed_by_address(run)


# Tells in which region of addresses its objects stand (see regions.h): before its first thread, in the runtime's turn,
# and afterwards.
REGIONS = """
import threading
from replay_dd.schedules.runtime.accelerator.own_memory import use_own

class Thing: pass

kept = [Thing()]
use_own(True)
kept.append(Thing())
with threading.Lock():  # as an import by the runtime takes one
    kept.append(Thing())
import colorsys
kept.append(Thing())
use_own(False)
thread = threading.Thread(target=lambda: kept.append(Thing()))
thread.start()
thread.join()
print(*((id(thing) - (1 << 45)) >> 24 for thing in kept))
"""


def test_runtime_and_program_take_their_turns(tmp_path: Path) -> None:
    program, runtime, from_first_thread = b"2", b"0", b"63"
    told = fresh(described(tmp_path, REGIONS), Plan()).output.split()
    assert told == [program, runtime, runtime, runtime, from_first_thread]


# Looks for its own objects among all that the collector knows, as tools that look for leaks do.
LOOKS_AT_ALL = """
import gc, threading

class Cyclic: pass

def touch(thing): found.append(type(thing).__name__)

def work():
    for number in range(300):
        one = Cyclic()
        one.other = one
        if number % 100 == 0:
            for thing in gc.get_objects():
                if isinstance(thing, Cyclic): touch(thing)
            told.append((len(gc.get_objects()), len(gc.get_objects(generation=0)), len(gc.get_referrers(Cyclic))))

found, told = [], []
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
try: gc.get_objects("all")
except TypeError as error: told.append(error)
print(len(found), *told, sep="\\n")
"""


def test_a_program_that_asks_the_collector_does_not_see_the_runtime(tmp_path: Path) -> None:
    program = described(tmp_path, LOOKS_AT_ALL)
    run = fresh(program, plan_for("random", 1, {}))
    watched = tuple({switch.place.key for switch in run.log.switches if switch.place is not None})
    assert watched
    plan = exact_plan(run.log)
    assert_same(fresh(program, plan), fresh(program, replace(plan, watched=watched)))


@pytest.mark.parametrize("address_space", [-1, 1 << 34])
def test_this_interpreter_is_known(address_space: int, tmp_path: Path) -> None:
    """Memory is mapped in other pieces where address space is limited."""
    script = """
import resource, sys
from replay_dd.schedules.runtime.accelerator.own_memory import keep_apart, use_own

def region(thing):
    offset = id(thing) - (1 << 45)
    return offset >> 24 if offset < 1 << 30 else offset - (1 << 30) >> 38  # the first pieces come first; see regions.h

def made(turn):
    kept = [object(), set(range(turn)), "x" * (1000 * turn), bytes(20 * turn), 10**20 + turn]
    # What the interpreter keeps when it is freed; later, each may find what the other has freed.
    return kept + [[0] * turn, {"a": turn}, (1, turn), 0.5 + turn, slice(1, turn)] * (turn == 1)

resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
assert keep_apart()
for turn in range(1, 4):
    assert use_own(True) is False
    own = made(turn)
    assert use_own(True) is True
    assert use_own(False) is True
    assert use_own(False) is False
    theirs = made(turn)
    assert {region(thing) for thing in own} == {0}
    assert 0 not in {region(thing) for thing in theirs}
    own.extend(range(100_000 * turn))
    assert region(own[-1]) == region(own[-50_000]) == 1
    assert id(own[-1]) - (1 << 45) >= 1 << 30  # not in a first piece
    del own
    use_own(True)
    theirs.extend(range(100_000 * turn))
    assert region(theirs[-1]) == region(theirs[-50_000]) == 0
    del theirs
    use_own(False)
"""
    subprocess.run([sys.executable, "-c", script, str(address_space)], check=True, cwd=tmp_path, timeout=LIMIT_S)


@pytest.mark.parametrize("ask", ["keep_apart()", ""], ids=["apart", "one memory"])
def test_a_program_is_traced_after_a_turn_of_the_runtime(ask: str, tmp_path: Path) -> None:
    script = f"""
import sys
from replay_dd.schedules.runtime.accelerator.own_memory import keep_apart, use_own

{ask}
traced = []

def trace(frame, event, argument):
    traced.append(frame.f_code.co_name)

def program(): pass

before = use_own(True)
use_own(before)
sys.settrace(trace)
program()
sys.settrace(None)
assert traced == ["program"], traced
"""
    subprocess.run([sys.executable, "-c", script], check=True, cwd=tmp_path, timeout=LIMIT_S)


def test_what_was_searched_before_moves_nothing(tmp_path: Path) -> None:
    """The import system makes one of these for each folder, and the interpreter gives each less room than the last."""
    script = """
import sys, zipimport
from replay_dd.schedules.runtime.accelerator.own_memory import keep_apart, settle_imports, use_own

assert keep_apart()
use_own(True)
for _ in range(int(sys.argv[1])):
    object.__new__(zipimport.zipimporter)
settle_imports()
use_own(False)
print(id(object.__new__(zipimport.zipimporter)) >> 18)  # blocks of one size share these digits
"""
    shelves = [
        subprocess.check_output([sys.executable, "-c", script, number], cwd=tmp_path, timeout=LIMIT_S)
        for number in ("0", "9")
    ]
    assert shelves[0] == shelves[1]


def test_a_program_may_trace_its_memory(tmp_path: Path) -> None:
    traces = "import tracemalloc\ntracemalloc.start()\n" + PROGRAM + "tracemalloc.stop()\nfound.clear()\n"
    assert fresh(described(tmp_path, traces), Plan("random", {"seed": 1})).log.ending.status == 0
    program = described(tmp_path, PROGRAM + "import tracemalloc\ntracemalloc.stop()\nfound.clear()\n")
    program = replace(program, environment={**program.environment, "PYTHONTRACEMALLOC": "1"})
    assert fresh(program, Plan("random", {"seed": 1})).log.ending.status == 0
