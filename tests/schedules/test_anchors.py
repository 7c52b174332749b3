"""A log replays after edits elsewhere, and under another Python version: source lines locate its switches."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from replay_dd.outcome import Outcome
from replay_dd.schedules.anchors import Source, find_anchors, named, with_anchors
from replay_dd.schedules.isolating.isolate import isolate
from replay_dd.schedules.isolating.minimize import minimize
from replay_dd.schedules.model import Log, Settings
from replay_dd.schedules.replaying.anchored_replay import replay_by_anchors
from replay_dd.schedules.replaying.record import verify_log
from replay_dd.schedules.running.target import Plan
from replay_dd.schedules.runtime.strategies.anchored import kind_of
from tests.runtime.programs import random_walk, run_program, write_program
from tools.environments import SUPPORTED, find_python

TEXT = """
    import queue
    import threading

    class Account:
        def __init__(self):
            self.lock = threading.Lock()
            self.total = 0

        def add(self, amount):
            before = self.total
            self.total = before + amount

    def work(numbers):
        for number in numbers:
            account.add(number)
            with account.lock:
                done.put([item for item in (number, number + 1)])

    account, done = Account(), queue.Queue()
    threads = [threading.Thread(target=work, args=(range(4),)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(account.total)
    assert account.total == 18
"""
# Semantically the same program, with every line moved.
EDITED = (
    TEXT.replace("    import queue\n", "    # A comment.\n\n    import os\n    import queue\n")
    .replace("    def work", "    def unused():\n        return os\n\n\n    def work")
    .replace("            account.add(number)\n", "            # Add it.\n            account.add(number)\n")
)


def recorded(folder: Path, seed: int, granularity: str = "access") -> Log:
    run = run_program(folder, TEXT, random_walk(seed), settings=Settings(granularity))
    log = verify_log(run.log, 60)
    assert log.verified
    return with_anchors(log)


@pytest.mark.parametrize("granularity", ["access", "line", "gil", "sync"])
def test_every_switch_is_found_after_an_edit_elsewhere(granularity: str, tmp_path: Path) -> None:
    for seed in (4, 17):
        log = recorded(tmp_path / str(seed), seed, granularity)
        assert log.triggers
        write_program(tmp_path / str(seed), EDITED)
        result = replay_by_anchors(log, time_limit_s=60)
        assert [anchor.why for anchor in result.missed] == []
        # The edit has no yield point in any thread but the main one: the schedule is exactly the recorded one.
        assert [trigger for trigger in result.run.log.triggers if trigger.thread != "0"] == [
            trigger for trigger in log.triggers if trigger.thread != "0"
        ]
        assert result.run.log.ending.skipped == ()
        assert result.outcome is (Outcome.FAIL if log.ending.status else Outcome.PASS)


def test_the_switches_of_an_answer_are_found_after_an_edit(tmp_path: Path) -> None:
    """Runs of a search do not count visits; those that prove its answer do."""
    fails = (seed for seed in range(200) if run_program(tmp_path, TEXT, random_walk(seed)).log.ending.status)
    failing = recorded(tmp_path, next(fails))
    passing = run_program(tmp_path, TEXT, Plan()).log
    found = isolate(passing, failing, jobs=2)
    answers = [with_anchors(log) for log in (found.failing, minimize(failing, jobs=2).log)]
    write_program(tmp_path, EDITED)
    for log in answers:
        assert log.triggers
        result = replay_by_anchors(log, time_limit_s=60)
        assert [anchor.why for anchor in result.missed] == []
        assert result.outcome is Outcome.FAIL


def recorded_with_a_switch_in(folder: Path, text: str) -> Log:
    for seed in range(1, 30):
        log = recorded(folder, seed)
        if any(text in switch.place.text for switch in log.switches if switch.place and not switch.by_default):
            return log
    raise AssertionError("no seed switches there")


LIBRARY_ONLY = """
    import queue, threading
    items = queue.Queue()
    def feed():
        items.put(1)
    threads = [threading.Thread(target=target) for target in [items.get] * 4 + [feed] * 4]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


def test_a_switch_without_a_place_is_made_where_the_thread_waits_or_at_its_end(tmp_path: Path) -> None:
    waits = ends = 0
    for seed in range(20):
        log = with_anchors(verify_log(run_program(tmp_path, LIBRARY_ONLY, random_walk(seed)).log, 60))
        placeless = [switch for switch in log.switches if switch.place is None and not switch.by_default]
        waits += sum(not switch.ended for switch in placeless)
        ends += sum(switch.ended for switch in placeless)
        write_program(tmp_path, LIBRARY_ONLY + "    # A comment.\n")
        replay = replay_by_anchors(log, time_limit_s=60)
        assert not replay.missed
        assert replay.run.log.triggers == log.triggers
        if seed >= 3 and waits and ends:
            return
    raise AssertionError("no seed has both kinds")


def test_a_line_that_was_edited_is_told(tmp_path: Path) -> None:
    log = recorded_with_a_switch_in(tmp_path, "before")
    write_program(tmp_path, EDITED.replace("before = self.total", "now = self.total").replace("before +", "now +"))
    result = replay_by_anchors(log, time_limit_s=60)
    lost = [anchor for anchor in result.missed if anchor.line is None]
    assert lost
    assert all("is not in Account.add any more" in anchor.why for anchor in lost)


def test_what_is_not_reached_is_told(tmp_path: Path) -> None:
    log = recorded(tmp_path, 4)
    write_program(tmp_path, EDITED.replace("range(4)", "range(0)").replace("== 18", "== 0"))
    result = replay_by_anchors(log, time_limit_s=60)
    assert {anchor.why for anchor in result.missed} == {"the thread did not reach that visit"}
    assert result.outcome is Outcome.PASS


@pytest.mark.parametrize("version", [version for version in SUPPORTED if version != "{}.{}".format(*sys.version_info)])
def test_another_python_makes_the_same_switches(version: str, tmp_path: Path) -> None:
    other = find_python(version)
    if other is None:
        pytest.skip(f"Python {version} is not here")
    for seed in (4, 9):
        log = recorded(tmp_path, seed)
        there = replace(log, program=replace(log.program, command=(str(other), "prog.py")))
        result = replay_by_anchors(there, time_limit_s=60)
        assert result.run.log.program.python.startswith(version)
        assert [(anchor.switch.place, anchor.why) for anchor in result.missed] == []
        assert result.run.log.ending.skipped == ()
        assert result.run.output.splitlines()[0] == expected_total(log), "the same additions are lost"


def expected_total(log: Log) -> bytes:
    return replay_by_anchors(log, time_limit_s=60).run.output.splitlines()[0]


SOURCE = """\
def f():
    x = 1
    def g():
        x = 1
        x = 1
    return g
class C:
    @property
    def f(self):
        return [x for x in self]
"""


def test_functions_and_repeated_lines() -> None:
    source = Source(SOURCE)
    assert [source.function_of(line) for line in range(1, 11)] == [
        *("f", "f", "f.<locals>.g", "f.<locals>.g", "f.<locals>.g", "f", "C", "C.f", "C.f", "C.f"),
    ]
    assert source.anchor_of(2) == ("x = 1", 0)
    assert source.anchor_of(4) == ("x = 1", 0)
    assert source.anchor_of(5) == ("x = 1", 1)
    assert source.indentation(5) == 8
    assert source.anchor_of(99) == ("", 0)


def test_lines_move_with_their_function_and_functions_with_their_names(tmp_path: Path) -> None:
    log = recorded_with_a_switch_in(tmp_path, "before")
    write_program(tmp_path, EDITED.replace("def add", "def deposit").replace("account.add", "account.deposit"))
    found = [anchor for anchor in find_anchors(log) if anchor.switch.place and "before" in anchor.switch.place.text]
    assert found
    assert {anchor.function for anchor in found} == {"Account.deposit"}
    assert all(anchor.moved for anchor in found)


def test_comprehensions_and_lambdas_belong_to_the_function_around(tmp_path: Path) -> None:
    place = next(switch.place for switch in recorded(tmp_path, 4).switches if switch.place)
    for qualified, name in (
        ("f.<locals>.<listcomp>", "f"),
        ("f.<locals>.g.<locals>.<lambda>", "f.<locals>.g"),
        ("<listcomp>", "<module>"),
        ("<module>", "<module>"),
        ("C.f", "C.f"),
    ):
        assert named(replace(place, function=qualified)) == name


def test_kinds_are_the_same_under_every_version() -> None:
    assert kind_of("LOAD_METHOD") == kind_of("LOAD_ATTR") != kind_of("STORE_ATTR")
    assert kind_of("CALL_KW") == kind_of("CALL")
    assert kind_of("SOMETHING_NEW") == "SOMETHING_NEW"
