"""Interpreters without a GIL: one thread at a time all the same, and every run replays."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from replay_dd.schedules.model import Settings
from replay_dd.schedules.running.target import Plan
from replay_dd.schedules.runtime import compat
from tests.runtime.programs import assert_same, output_of, replayed, run_program, write_program

pytestmark = pytest.mark.skipif(not compat.FREE_THREADED, reason="this interpreter has a GIL")

# Each thread writes its number and looks for a while whether another one writes, too. Nobody is switched to meanwhile:
# this package is not counted.
MEETING = """
    class Room:
        last = 0
        met = 0

    def stay(room, number):
        room.last = number
        for _ in range(LOOKS):
            if room.last != number:
                room.met += 1
                return
"""
GUESTS = """
    import sys, threading
    from meeting.room import Room, stay

    def visit(number):
        for _ in range(5):
            stay(room, number)
            visits[number] += 1

    room, visits = Room(), [0] * 4
    threads = [threading.Thread(target=visit, args=(number,)) for number in range(4)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    print(sys._is_gil_enabled(), sum(visits), "met" if room.met else "alone")
"""


def write_meeting(folder: Path, looks: int = 500) -> None:
    write_program(folder / "meeting", MEETING.replace("LOOKS", str(looks)), "room.py")


def test_threads_that_run_freely_meet(tmp_path: Path) -> None:
    """What the next test says would be worth nothing otherwise."""
    write_meeting(tmp_path, 200_000)
    path = write_program(tmp_path, GUESTS)
    outputs = set()
    for _ in range(10):
        done = subprocess.run([sys.executable, path.name], cwd=tmp_path, capture_output=True, text=True, check=True)
        outputs.add(done.stdout)
        if "False 20 met\n" in outputs:
            return
    pytest.fail(f"the threads never ran at the same time: {outputs}")


@pytest.mark.parametrize("accelerator", ["on", "off"])
def test_never_two_threads_run_at_the_same_time(
    accelerator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REPLAY_DD_ACCELERATOR", accelerator)
    write_meeting(tmp_path)
    for seed in range(4):
        run = run_program(tmp_path, GUESTS, Plan("random", {"seed": seed}), settings=Settings(exclude=("meeting",)))
        assert output_of(run) == "False 20 alone\n"
        assert len(run.log.switches) > 4
        assert_same(run, replayed(run.log))


# What decides here when something happens: locks, time, finalizers (a thread cannot free what another one has made, and
# leaves that to it), who makes which objects.
PROGRAMS = {
    "pool": """
        from concurrent.futures import ThreadPoolExecutor
        def work(number):
            seen[number] = seen.get(number - 1, 0) + 1
            return number
        seen = {}
        with ThreadPoolExecutor(4) as pool: print(sum(pool.map(work, range(40))), seen)
    """,
    "queue": """
        import queue, threading
        def put():
            for number in range(20): numbers.put(number)
            numbers.put(None)
        def get():
            while (number := numbers.get()) is not None: got.append(number)
            numbers.put(None)
        numbers, got = queue.Queue(3), []
        threads = [threading.Thread(target=put), *(threading.Thread(target=get) for _ in range(3))]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(got)
    """,
    "condition": """
        import threading, time
        def put():
            for number in range(10):
                with condition: box.append(number); condition.notify()
                time.sleep(0.001)
        def get(me):
            for _ in range(5):
                with condition:
                    while not box: condition.wait(1)
                    got.append((me, box.pop()))
        condition, box, got = threading.Condition(), [], []
        threads = [threading.Thread(target=put), *(threading.Thread(target=get, args=(me,)) for me in range(2))]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(got)
    """,
    "freed by others": """
        import random, threading
        class Thing:
            def __init__(self, number): self.number = number
            def __del__(self): gone.append(self.number)
        def work(me):
            for number in range(100): box[random.randrange(8)] = Thing((me, number))
        box, gone = [None] * 8, []
        threads = [threading.Thread(target=work, args=(me,)) for me in range(3)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(gone)
    """,
    "garbage": """
        import gc, threading
        class Node:
            def __init__(self, number): self.number = number; self.me = self
            def __del__(self): gone.append(self.number)
        def work(me):
            for number in range(2_000): Node((me, number))
        gone = []
        threads = [threading.Thread(target=work, args=(me,)) for me in range(3)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        gc.collect()
        print(gone)
    """,
    "coroutines": """
        import asyncio
        async def work(number):
            return sum([await asyncio.to_thread(lambda: one * number) for one in range(3)])
        async def main():
            print(await asyncio.gather(*(work(number) for number in range(3))))
        asyncio.run(main())
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_run_is_repeated_exactly(name: str, tmp_path: Path) -> None:
    run = run_program(tmp_path, PROGRAMS[name], Plan("random", {"seed": 3}))
    assert run.log.ending.status == 0
    assert len(run.log.switches) > 4
    for _ in range(2):
        again = replayed(run.log)
        assert_same(run, again)
        assert output_of(again) == output_of(run)
