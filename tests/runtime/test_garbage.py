"""What is garbage before the first thread does not decide what comes after it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from replay_dd.schedules.failures.signature import PASSED, signature_of
from replay_dd.schedules.model import Settings
from replay_dd.schedules.running.runner import Runner
from replay_dd.schedules.running.target import Plan, describe_program
from tests.runtime.programs import assert_same, output_of, replayed, run_program, triggered, write_program

# Its arguments: how much more it makes before its first thread, as a suite of many tests does; whether it collects.
LEFT_BEHIND = """
    import gc, sys, threading, weakref
    class Node: pass
    def note():
        noted.append(len(noted))
    def leave_behind():
        for number in range(5):
            node = Node()
            node.itself = node
            weakref.finalize(node, note)
    noted, more = [], []
    gc.collect()
    leave_behind()
    more.extend({1: 2} for number in range(int(sys.argv[1])))
    if sys.argv[2] == "off": gc.disable()
    thread = threading.Thread(target=note)
    thread.start(); thread.join()
    print(len(noted), gc.isenabled())
"""


@pytest.mark.parametrize("granularity", ["access", "line"])
def test_garbage_of_before_is_collected(granularity: str, tmp_path: Path) -> None:
    runs = [
        run_program(tmp_path, LEFT_BEHIND, arguments=(more, "on"), settings=Settings(granularity=granularity))
        for more in ("0", "20000")
    ]
    assert [output_of(run) for run in runs] == ["6 True\n"] * 2
    first, second = (run.log.ending for run in runs)
    assert (first.thread_times, first.digest) == (second.thread_times, second.digest)


def test_who_switches_collection_off_keeps_garbage(tmp_path: Path) -> None:
    assert output_of(run_program(tmp_path, LEFT_BEHIND, arguments=("0", "off"))) == "1 False\n"


# Its argument: what a finalizer does to the filters of warnings.
UNCLOSED = """
    import sys, threading, warnings
    class Node:
        def __del__(self):
            if sys.argv[1] == "reset": warnings.resetwarnings()
    def leave_behind():
        node = Node()
        node.itself, node.file = node, open(__file__)
    warnings.simplefilter("error")
    complaints = []
    sys.unraisablehook = complaints.append
    leave_behind()
    before = warnings.filters[:]
    thread = threading.Thread(target=str)
    thread.start(); thread.join()
    print(len(complaints), warnings.filters == before, len(warnings.filters))
"""


def test_nobody_is_warned_of_what_was_left_behind(tmp_path: Path) -> None:
    assert output_of(run_program(tmp_path, UNCLOSED, arguments=("keep",))).startswith("0 True ")


def test_a_finalizer_may_reset_the_filters_of_warnings(tmp_path: Path) -> None:
    assert output_of(run_program(tmp_path, UNCLOSED, arguments=("reset",))).endswith(" False 0\n")


# The finalizer comes at a moment that a schedule chooses, or at the end.
MOMENTS = """
    import gc, sys, threading
    said = []
    class Node:
        def __init__(self): self.itself = self
        def __del__(self):
            said.append("gone")
            said.append("for good")
    def work():
        Node()
        for number in range(5):
            said.append(number)
    if sys.argv[1:]: gc.disable()
    thread = threading.Thread(target=work)
    thread.start(); thread.join()
    print(*said)
"""
DEFAULT_SAID = "0 1 2 3 4\n"


@pytest.mark.parametrize("granularity", ["access", "line"])
def test_a_schedule_may_collect_at_any_yield_point(granularity: str, tmp_path: Path) -> None:
    program = describe_program((sys.executable, write_program(tmp_path, MOMENTS).name), directory=tmp_path)
    ways = {}
    with Runner(program, Settings(granularity=granularity)) as runner:
        for time in range(1, 40):
            run = runner.run(triggered(("0.1", time, "0.1")), 60)
            if output_of(run) != DEFAULT_SAID:
                ways[output_of(run)] = run
                collection = next(switch for switch in run.log.switches if switch.collects)
                assert (collection.thread, collection.time, collection.to) == ("0.1", time, "0.1")
                assert not (collection.by_default)
                assert not (collection.forced)
    numbers = ["0", "1", "2", "3", "4"]
    gone = ["gone", "for good"]
    assert ways.keys() == {" ".join([*numbers[:at], *gone, *numbers[at:]]) + "\n" for at in range(6)}
    one = next(iter(ways.values()))
    assert_same(one, replayed(one.log))


def test_others_may_come_between_the_instructions_of_a_finalizer(tmp_path: Path) -> None:
    alone = run_program(tmp_path, MOMENTS, triggered(("0.1", 9, "0.1")))
    default = run_program(tmp_path, MOMENTS)
    longer = alone.log.ending.thread_times["0.1"] - default.log.ending.thread_times["0.1"]
    assert longer > 0


def test_who_switches_collection_off_has_none_by_schedule(tmp_path: Path) -> None:
    run = run_program(tmp_path, MOMENTS, triggered(("0.1", 9, "0.1")), arguments=("off",))
    assert output_of(run) == DEFAULT_SAID


# Its finalizer takes the lock that the thread has when it is called. Only a collection in the section is too early.
IN_SECTION = """
    import threading
    lock = threading.Lock()
    class Node:
        def __init__(self): self.itself = self
        def __del__(self):
            with lock: pass
    def work():
        Node()
        with lock:
            value = len("x")
    thread = threading.Thread(target=work)
    thread.start(); thread.join()
"""


@pytest.mark.parametrize("turn", range(3))
def test_what_collects_by_chance_is_replayed(turn: int, tmp_path: Path) -> None:
    run = run_program(tmp_path, IN_SECTION, Plan("profile", {"collect": turn, "seed": turn}))
    again = replayed(run.log)
    assert signature_of(run.log.ending) == signature_of(again.log.ending)
    assert [switch for switch in run.log.switches if switch.collects] == [
        switch for switch in again.log.switches if switch.collects
    ]
    assert_same(run, again)
    if turn == 0:  # collects wherever a lock is held
        assert [waiter.thread for waiter in run.log.ending.deadlock] == ["0", "0.1"]


def test_a_collection_at_an_operation_comes_before_it(tmp_path: Path) -> None:
    """The thread has no lock yet, so its finalizer may take it; the operation then goes on."""
    program = describe_program((sys.executable, write_program(tmp_path, IN_SECTION).name), directory=tmp_path)
    with Runner(program, Settings()) as runner:
        for time in range(1, 20):
            run = runner.run(triggered(("0.1", time, "0.1")), 60)
            place = next((switch.place for switch in run.log.switches if switch.collects), None)
            if place is not None and place.operation:
                break
    assert place is not None
    assert place.operation
    assert signature_of(run.log.ending).kind == PASSED


def test_who_keeps_its_turn_where_others_would_go_first_collects_nothing(tmp_path: Path) -> None:
    """A log may say so of a run in which there were others."""
    text = """
        import threading, time
        def work():
            value = 1
            time.sleep(0)
            value = 2
        thread = threading.Thread(target=work)
        thread.start(); thread.join()
    """
    program = describe_program((sys.executable, write_program(tmp_path, text).name), directory=tmp_path)
    with Runner(program, Settings(granularity="line")) as runner:
        runs = [runner.run(triggered(("0.1", time, "0.1")), 60) for time in range(1, 8)]
    lines = [switch.place.line for run in runs for switch in run.log.switches if switch.collects and switch.place]
    sleeps = [switch.place for run in runs for switch in run.log.switches if switch.place and switch.place.operation]
    assert {4, 6} <= {*lines}
    assert not [place for place in sleeps if place.line == 5]
