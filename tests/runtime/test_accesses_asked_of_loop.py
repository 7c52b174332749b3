"""What threads ask an event loop to do: what an observed run tells of it, and when it is done."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.running.target import Plan
from replay_dd.schedules.runtime.accesses import access as accesses
from replay_dd.schedules.runtime.accesses.asked_of_loop import AskedOfLoops, bound
from replay_dd.schedules.runtime.points.place import Place
from tests.runtime.programs import run_program

PROGRAM = """
    import asyncio, functools, threading

    def own(value):
        pass

    def work(loop, future, queue, seen):
        if not future.done():
            loop.call_soon_threadsafe(future.set_result, 7)
        loop.call_soon_threadsafe(functools.partial(queue.put_nowait, 8))
        loop.call_soon_threadsafe(seen.append, 9)
        loop.call_soon_threadsafe(seen.count, 9)
        loop.call_soon_threadsafe(own, 9)

    async def main():
        loop = asyncio.get_running_loop()
        future, queue, seen = loop.create_future(), asyncio.Queue(), []
        thread = threading.Thread(target=work, args=(loop, future, queue, seen))
        thread.start()
        print(await future, await queue.get(), end=" ")
        thread.join()
        await asyncio.sleep(0)
        print(seen)

    asyncio.run(main())
"""


IN_C = """
    import asyncio, functools, threading, types

    class cython_function_or_method:
        def __init__(self, name):
            self.__name__ = name

        def __call__(self, loop, callback, *arguments):
            callback(*arguments)

        def __get__(self, own, kind=None):
            return types.MethodType(self, own)

    class Loop(asyncio.AbstractEventLoop):
        call_soon_threadsafe = cython_function_or_method("call_soon_threadsafe")

    class Other:
        call_soon_threadsafe = cython_function_or_method("call_soon_threadsafe")

    def work(loop, other, seen):
        loop.call_soon_threadsafe(seen.append, 7)
        loop.call_soon_threadsafe(functools.partial(seen.append, 8))
        other.call_soon_threadsafe(seen.append, 9)
        print(seen)

    threading.Thread(target=work, args=(Loop(), Other(), [])).start()
"""


@pytest.fixture(scope="module")
def observed(tmp_path_factory: pytest.TempPathFactory) -> Observation:
    run = run_program(tmp_path_factory.mktemp("work"), PROGRAM, Plan(observed={"": (0, 1 << 62)}))
    assert run.output == b"7 8 [9]\n"
    return run.accesses


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    running = asyncio._get_running_loop()  # of a test before in this process, as browsers have one in tests
    asyncio._set_running_loop(None)
    made = asyncio.new_event_loop()
    yield made
    made.close()
    asyncio._set_running_loop(running)


def asks(access: Access) -> bool:
    return access.detail.startswith("asks the loop for")


def test_who_asks_a_loop_for_something_is_told_as_if_it_were_done(observed: Observation) -> None:
    told = [(one.thread, one.name, one.detail, one.writes) for one in observed.accesses if asks(one)]
    assert told == [
        ("0.1", "future", "asks the loop for set_result(7)", True),
        ("0.1", "Queue", "asks the loop for put_nowait(8)", True),
        ("0.1", "seen", "asks the loop for append(9)", True),
    ], "what only looks changes nothing, and what the program has written is seen where it runs"


def test_a_loop_in_c_tells_only_that_it_was_asked(tmp_path: Path) -> None:
    run = run_program(tmp_path, IN_C, Plan(observed={"": (0, 1 << 62)}))
    assert run.output == b"[7, 8, 9]\n"
    assert [one.detail for one in run.accesses.accesses if asks(one)] == [
        "asks the loop for append(7)",
        "asks the loop for append(8)",
    ], "who is no loop may do anything with it"
    assert not any(one.is_done_by_loop for one in run.accesses.accesses)


def test_what_the_loop_does_is_told_in_its_thread_at_the_line_of_who_asked(observed: Observation) -> None:
    done = [one for one in observed.accesses if one.is_done_by_loop]
    asked = [one for one in observed.accesses if asks(one)]
    assert [one.detail.partition(",")[0] for one in done] == ["set_result(7)", "put_nowait(8)", "append(9)"]
    assert {one.thread for one in done} == {"0"}
    assert [(one.thing, one.place.line, one.stack[0].line) for one in done] == [
        (one.thing, one.place.line, one.stack[0].line) for one in asked
    ]


def test_that_a_thread_asks_comes_before_what_it_asked_for_by_itself(observed: Observation) -> None:
    asked = next(one for one in observed.accesses if asks(one))
    done = next(one for one in observed.accesses if one.is_done_by_loop)
    look = next(one for one in observed.accesses if one.detail == "done()")
    assert not asked.conflicts(done)
    assert look.conflicts(done)
    assert done._replace(number=0).conflicts(asked)
    assert asked._replace(time=asked.time + 1).conflicts(done)


def asked_of(loop: asyncio.AbstractEventLoop, callback: Any) -> AskedOfLoops:
    """What is known once this was asked for, before the loop has got it."""
    thread = cast(Any, type("Thread", (), {"name": "0.1", "time": 3}))
    asked = AskedOfLoops(lambda: thread, lambda _: (5, "list"))
    access = accesses.Access(accesses.CALLS, accesses.WHOLE, [], "", "seen")
    asked.watch(access, Place(asked_of.__code__, 0))
    assert asked.done() == [], "nothing was asked for"
    access.asks = loop, callback.__self__, f"{callback.__name__}()"
    asked.watch(access, Place(asked_of.__code__, 0))
    return asked


def test_it_is_told_once_when_the_loop_keeps_it_no_longer(loop: asyncio.AbstractEventLoop) -> None:
    seen: list[int] = []
    callback = seen.append
    asked = asked_of(loop, callback)
    loop.call_soon(callback, 1)
    assert asked.done() == []
    loop.call_soon(loop.stop)
    loop.run_forever()
    assert [(one.name, one.detail, holder) for _, _, _, one, _, holder in asked.done()] == [
        ("seen", "append(), as thread 0.1 has asked", (5, "list"))
    ]
    assert asked.done() == []


def test_what_is_asked_for_later_waits_too(loop: asyncio.AbstractEventLoop) -> None:
    callback = threading.Event().set
    asked = asked_of(loop, callback)
    loop.call_later(0, callback)
    assert asked.done() == []
    loop.call_later(0, loop.stop)
    loop.run_forever()
    assert len(asked.done()) == 1


def test_what_is_cancelled_or_never_came_to_the_loop_is_not_done(loop: asyncio.AbstractEventLoop) -> None:
    callback = [].append
    asked = asked_of(loop, callback)
    assert asked.done() == []
    loop.call_soon(callback, 1)
    assert asked.done() == [], "it was given up"
    other = [].append
    asked = asked_of(loop, other)
    handle = loop.call_soon(other, 1)
    assert asked.done() == []
    handle.cancel()
    loop.call_soon(loop.stop)
    loop.run_forever()
    assert asked.done() == [], "it was cancelled"


def test_without_the_stack_a_method_is_found_with_its_object(loop: asyncio.AbstractEventLoop) -> None:
    class Own:
        def put(self) -> None:
            pass

    own, rows, future = Own(), list[int](), loop.create_future()
    things = {"own": own, "rows": rows, "future": future, "threading": threading}

    def found(given: object, *way: object) -> object:
        return bound(given, cast(Any, way), lambda base: things[cast(Any, base)])

    assert found(list.append, "attribute", "rows", "append") == rows.append
    assert found(type(future).set_result, "attribute", "future", "set_result") == future.set_result
    assert found(Own.put, "attribute", "own", "put") == own.put
    assert found(threading.settrace, "attribute", "threading", "settrace") is threading.settrace
    assert found(own.put, "attribute", "own", "put").__self__ is own  # type: ignore[attr-defined]
    assert found(Own.put, "local", "put") is Own.put
