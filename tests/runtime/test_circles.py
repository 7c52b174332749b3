"""A program that goes round in a circle is ended at once, and never one that would have left it."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_dd.schedules.failures.signature import signature_of
from replay_dd.schedules.hang import NO_PROGRESS
from replay_dd.schedules.running.target import Plan
from tests.runtime.programs import assert_same, output_of, random_walk, replayed, run_program

SPINS = """
    import threading, time

    ready = False

    def wait():
        while not ready:
            {pause}

    waiter = threading.Thread(target=wait)
    waiter.start()
    waiter.join()
"""

POLITE = """
    import threading, time

    class Side:
        def __init__(self):
            self.wants = False

    def go(me, other):
        me.wants = True
        while other.wants:
            me.wants = False
            time.sleep({pause})
            me.wants = True
        me.wants = False

    left, right = Side(), Side()
    threads = [threading.Thread(target=go, args=sides) for sides in ((left, right), (right, left))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print("done")
"""

IN_STEP = Plan("profile", {"abreast": 2, "stops": 0, "latest": 1, "uneven": 0, "drawn": 0, "seed": 0})

# What a thread does while the others wait for it; at the end it is free.
LEFT = {
    "a number that counts": "left = 500\nwhile left:\n    left -= 1\n    time.sleep(0.01)",
    "an attribute that counts": "box.value = 500\nwhile box.value:\n    box.value -= 1\n    time.sleep(0)",
    "a number in a list": "box.value = [[500]]\nwhile box.value[0][0]:\n    box.value[0][0] -= 1\n    time.sleep(0.01)",
    "a number that is counted on": "numbers = itertools.count()\nwhile next(numbers) < 500:\n    time.sleep(0.01)",
    "an iterator that is asked": "left = iter(range(500))\nwhile next(left, None) is not None:\n    time.sleep(0.01)",
    "a chain of iterators": (
        "left = itertools.chain([0] * 500)\nwhile next(left, None) is not None:\n    time.sleep(0.01)"
    ),
    "a generator": "left = (one for one in range(500))\nwhile next(left, None) is not None:\n    time.sleep(0.01)",
    "a number in an array": "left = array.array('i', [500])\nwhile left[0]:\n    left[0] -= 1\n    time.sleep(0.01)",
    "a decimal number": "left = Decimal(500)\nwhile left:\n    left -= 1\n    time.sleep(0.01)",
    "a date": "day = date(2024, 1, 1)\nwhile day.year < 2026:\n    day += timedelta(1)\n    time.sleep(0.01)",
    "a number of a class of its own": (
        "left = Number(500)\nwhile left:\n    left = Number(left - 1)\n    time.sleep(0.01)"
    ),
    "a queue in C": (
        "left = SimpleQueue()\nfor one in range(500):\n    left.put(one)\n"
        "while not left.empty():\n    left.get()\n    time.sleep(0.01)"
    ),
    "a file of somebody else": (
        "subprocess.run(['sh', '-c', '(sleep 0.3; touch here) > /dev/null 2>&1 &'])\n"
        "while not is_there():\n    time.sleep(0.01)"
    ),
    "a folder of somebody else": (
        "subprocess.run(['sh', '-c', '(sleep 0.3; touch here) > /dev/null 2>&1 &'])\n"
        "while 'here' not in contents():\n    time.sleep(0.01)"
    ),
    "an iterator": "for _ in itertools.repeat(None, 500):\n    time.sleep(0.01)",
    "an iterator without waits": "for _ in itertools.repeat(None, 400_000):\n    box.value",
    "the clock": "end = time.monotonic() + 5\nwhile time.monotonic() < end:\n    time.sleep(0.01)",
    "random numbers": "while random.random() < 0.998:\n    time.sleep(0.01)",
    "a sleeper": "threading.Timer(0.5, setattr, (box, 'done', True)).start()\nwhile not box.done:\n    pass",
    "a child process": (
        "child = subprocess.Popen(['sleep', '0.3'])\nwhile child.poll() is None:\n    time.sleep(0.01)"
    ),
    "a file of a child": (
        "subprocess.Popen(['sh', '-c', 'sleep 0.3; touch here'])\n"
        "while not os.path.exists('here'):\n    time.sleep(0.01)\nos.wait()"
    ),
}
LEAVES = """
    import array, itertools, os, random, subprocess, threading, time
    from datetime import date, timedelta
    from decimal import Decimal
    from queue import SimpleQueue

    class Box:
        value = 0
        done = False

    class Number(int):
        pass

    def is_there():
        return os.path.exists("here")

    def contents(list_folder=getattr(os, "list" + "dir")):
        return list_folder()

    box = Box()

    def work():
{work}

    worker = threading.Thread(target=work)
    worker.start()
    worker.join()
    print("left")
"""


@pytest.mark.parametrize("pause", ["pass", "time.sleep(0)", "time.sleep(0.01)"])
def test_a_loop_that_nothing_ends_is_ended(tmp_path: Path, pause: str) -> None:
    run = run_program(tmp_path, SPINS.replace("{pause}", pause), time_limit_s=120)
    ending = run.log.ending
    assert not ending.timed_out
    assert ending.hang is not None
    assert ending.hang.why == NO_PROGRESS
    assert {line for _, _, line in ending.hang.turns} in ({7}, {7, 8})
    assert signature_of(ending).text == "endless loop of thread 0.1"
    again = replayed(run.log)
    assert_same(run, again)
    assert signature_of(again.log.ending).same(signature_of(ending))


@pytest.mark.parametrize("pause", ["0", "0.01"])
def test_threads_that_make_way_for_each_other_in_step_are_ended(tmp_path: Path, pause: str) -> None:
    text = POLITE.replace("{pause}", pause)
    assert output_of(run_program(tmp_path, text)) == "done\n"
    run = run_program(tmp_path, text, IN_STEP, time_limit_s=120)
    found = signature_of(run.log.ending)
    assert found.text == "livelock of the threads 0.1, 0.2"
    assert found.in_step
    again = replayed(run.log)
    assert_same(run, again)
    assert signature_of(again.log.ending).same(found)


@pytest.mark.parametrize("work", LEFT.values(), ids=LEFT)
def test_a_loop_that_ends_is_left_alone(tmp_path: Path, work: str) -> None:
    inside = "\n".join(f"        {line}" for line in work.splitlines())
    for plan in (Plan(), random_walk(1)):
        run = run_program(tmp_path, LEAVES.replace("{work}", inside), plan, time_limit_s=120)
        (tmp_path / "here").unlink(missing_ok=True)
        assert output_of(run) == "left\n"
