"""Hunts find plain races early, and simplify the schedules that they found."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from replay_dd.schedules.hunting.hunt import hunt
from replay_dd.schedules.hunting.options import HuntListener, HuntOptions
from replay_dd.schedules.isolating.isolate import isolate
from replay_dd.schedules.model import Program, Settings
from replay_dd.schedules.running.target import describe_program

LOST_UPDATE = """\
import threading


class Account:
    balance = 0


def deposit():
    before = account.balance
    account.balance = before + 1


account = Account()
"""
CHECK_THEN_ACT = """\
import threading

seats, sold = 1, []


def deposit():
    global seats
    if seats:
        sold.append(1)
        seats -= 1


class account:
    balance = 2
"""
CROSSED_LOCKS = """\
import threading

one, two = threading.Lock(), threading.Lock()
first = True


def deposit():
    global first
    locks = (one, two) if first else (two, one)
    first = False
    with locks[0], locks[1]:
        pass


class account:
    balance = 2
"""
READ_THEN_WRITE_FILE = """\
import threading

open("count", "w").close()


def deposit():
    with open("count") as file:
        text = file.read()
    with open("count", "w") as file:
        file.write(text + "x")


class account:
    balance = property(lambda self: len(open("count").read()))


account = account()
"""
TWO_THREADS = """\

threads = [threading.Thread(target=deposit) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert account.balance == 2 and globals().get("seats", 0) >= 0
"""


def of_two_threads(text: str, folder: Path) -> Program:
    (folder / "prog.py").write_text(text + TWO_THREADS)
    return describe_program((sys.executable, "prog.py"), directory=folder)


@pytest.mark.parametrize("text", [LOST_UPDATE, CHECK_THEN_ACT, CROSSED_LOCKS, READ_THEN_WRITE_FILE])
def test_a_plain_race_is_found_by_what_the_threads_touch(text: str, tmp_path: Path) -> None:
    program = of_two_threads(text, tmp_path)
    found = hunt(program, Settings(), HuntOptions(runs=8))
    assert found.failing is not None
    assert found.passing is not None
    assert found.runs <= 7, "no later than the first preemption"
    assert len(found.failing.triggers) == 1
    assert found.simplifying_runs <= 5, "one of the likeliest preemptions is enough"


@pytest.mark.once
def test_the_runs_that_simplify_are_told_one_by_one(tmp_path: Path) -> None:
    told: list[int] = []
    program, options = of_two_threads(CHECK_THEN_ACT, tmp_path), HuntOptions(runs=100, strategy="random")
    found = hunt(program, Settings(), options, listener=HuntListener(on_simplify=told.append))
    assert found.failing is not None
    assert told[0] == 0
    assert told == sorted(told)
    assert 0 < told[-1] <= found.simplifying_runs


@pytest.mark.parametrize(("call", "reachable"), [("abs(before)", True), ("helper.note()", False)])
def test_after_a_call_a_switch_is_reachable_only_if_the_function_is_in_c(
    call: str, reachable: bool, tmp_path: Path
) -> None:
    text = f"""\
import threading


class Helper:
    count = 0

    def note(self):
        return self.count


class Account:
    balance = 0


helper, account = Helper(), Account()


def deposit(account=account):
    before = account.balance
    {call}
    account.balance = before + 1
"""
    program = of_two_threads(text, tmp_path)
    found = hunt(program, Settings(), HuntOptions(runs=50))
    assert found.passing is not None
    assert found.failing is not None
    answer = isolate(found.passing, found.failing)
    switch = answer.switch
    assert switch is not None
    assert switch.failing.place is not None
    assert (switch.failing.place.line, switch.failing.place.instruction) == (21, "STORE_ATTR")
    assert switch.failing.place.after_call
    assert answer.gil_of(switch.failing).reachable is reachable
    # Earlier in the range, just where the function begins, threads can be switched in any case.
    assert answer.gil.reachable is True
