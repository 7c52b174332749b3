"""Which calls of objects of asyncio are made outside of their event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from replay_dd.schedules.running.target import Plan
from replay_dd.schedules.runtime.accesses.outside_loop import is_outside_of_loop
from tests.runtime.programs import output_of, run_program

ALL = Plan(observed={"": (0, 1 << 62)})

OUTSIDE = """
    import asyncio, threading

    async def main():
        queue = asyncio.Queue()
        thread = threading.Thread(target=lambda: queue.put_nowait("from outside"))
        thread.start()
        thread.join()
        queue.put_nowait("from inside")
        print(await queue.get(), await queue.get())

    asyncio.run(main())
"""


class Mailbox(asyncio.Queue[str]):
    """A program's own class of queues."""


def is_outside(own: object, name: str) -> bool:
    return is_outside_of_loop(own, name)


def in_a_thread(look: Callable[[], bool]) -> bool:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(look).result()


async def look() -> None:
    loop, queue, ended = asyncio.get_running_loop(), Mailbox(), asyncio.Event()
    waits = [asyncio.create_task(queue.get()), asyncio.create_task(ended.wait())]
    await asyncio.sleep(0)  # now both wait, and belong to the loop
    wakes = [
        *((queue, "put_nowait"), (ended, "set"), (waits[0], "cancel"), (loop.create_future(), "set_result")),
        *((loop, "call_soon"), (loop, "create_task"), (Mailbox(), "put_nowait")),
    ]
    for own, name in wakes:
        assert not is_outside(own, name), name
        assert in_a_thread(lambda own=own, name=name: is_outside(own, name)), name  # type: ignore[misc]
    for own, name in [(loop, "call_soon_threadsafe"), (queue, "qsize"), (threading.Event(), "set"), (object(), "set")]:
        assert not in_a_thread(lambda own=own, name=name: is_outside(own, name)), name  # type: ignore[misc]
    for task in waits:
        task.cancel()
    await asyncio.wait(waits)


def test_what_may_wake_a_task_is_called_outside_where_another_thread_runs_the_loop() -> None:
    with ThreadPoolExecutor(1) as pool:  # where no other test has left a loop running
        pool.submit(asyncio.run, look()).result()


def test_a_loop_that_does_not_run_has_no_outside() -> None:
    loop = asyncio.new_event_loop()
    assert not is_outside(loop, "call_soon")
    loop.close()


def test_an_observed_run_tells_calls_from_outside(tmp_path: Path) -> None:
    run = run_program(tmp_path, OUTSIDE, ALL)
    assert output_of(run) == "from outside from inside\n"
    told = [one for one in run.accesses.accesses if "outside" in one.detail]
    assert [(one.thread, one.holder_type, one.detail) for one in told] == [
        ("0.1", "asyncio.Queue", "put_nowait() outside of its event loop")
    ]
