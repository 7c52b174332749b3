"""Names of objects, and what threads would still do to them, as the runtime finds them at a hang."""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from replay_dd.schedules.runtime.hangs.intentions import Intentions
from replay_dd.schedules.runtime.hangs.library import library_call
from replay_dd.schedules.runtime.hangs.naming import Naming
from replay_dd.schedules.runtime.hangs.stacks import NO_STACK, Stacks
from replay_dd.schedules.runtime.points.places import Places

PLACES = Places(str(Path(__file__).parent), (), (), command_line=False)


class Account:
    rate = object()

    def __init__(self) -> None:
        self.lock = object()
        self.history: dict[object, object] = {}


class Slotted:
    __slots__ = ("__weakref__", "guard")

    def __init__(self) -> None:
        self.guard = object()


class Hostile:
    """Whatever is asked of it is an error: nobody may run its code."""

    def __getattribute__(self, name: str) -> Any:
        raise AssertionError(name)

    def __eq__(self, other: object) -> bool:
        raise AssertionError

    __hash__ = None  # type: ignore[assignment]


class Bank(dict[str, Any]):
    def items(self) -> Any:
        raise AssertionError


here = Account()


def name_of(thing: object, frame: FrameType | None, other: FrameType | None = None) -> tuple[str, str]:
    return Naming(PLACES).name_of(thing, [other, frame])


def test_the_shortest_way_from_a_variable_is_the_name() -> None:
    accounts = [Account(), Account()]
    bank = Account()
    bank.history = {"all": accounts, 5: "five"}
    frame = sys._getframe()
    assert name_of(accounts[1].lock, frame) == ("accounts[1].lock", "attribute of one Account")
    accounts_of_bank = accounts
    del accounts
    assert name_of(accounts_of_bank, frame)[0] == "accounts_of_bank"
    assert name_of(bank.history, frame) == ("bank.history", "attribute of one Account")


def test_a_global_variable_goes_before_a_local_one() -> None:
    mine = here
    assert name_of(mine.lock, sys._getframe()) == ("here.lock", "attribute of one Account")
    assert name_of(Account.rate, sys._getframe()) == ("Account.rate", "attribute of the class")


def test_keys_slots_and_conditions_are_named_as_the_code_writes_them() -> None:
    box = Slotted()
    rooms = Bank(kitchen=Slotted())
    condition = threading.Condition()
    frame = sys._getframe()
    assert name_of(box.guard, frame)[0] == "box.guard"
    assert name_of(dict.__getitem__(rooms, "kitchen").guard, frame)[0] == "rooms['kitchen'].guard"
    assert name_of(condition, frame)[0] == "condition"
    assert name_of(object(), frame) == ("", "")


def test_what_is_inside_of_library_objects_is_no_name() -> None:
    inner = Account()
    worker = threading.Thread(target=print, args=(inner,))
    frame = sys._getframe()
    held = inner.lock
    del inner
    assert worker
    assert name_of(held, frame)[0] == "held"


def test_the_programs_code_does_not_run() -> None:
    strange = Hostile()
    target = Account()
    assert strange is not None
    assert name_of(target.lock, sys._getframe())[0] == "target.lock"


def test_the_main_threads_names_go_before_those_of_others() -> None:
    def other(mine: Account) -> FrameType:
        return sys._getframe()

    known = Account()
    assert name_of(known.lock, other(known), sys._getframe())[0] == "known.lock"


# -- intentions --------------------------------------------------------------------------------------------------------


def put_later(items: queue.Queue[int]) -> Iterator[FrameType]:
    yield sys._getframe()
    items.put(1)


def put_before(items: queue.Queue[int]) -> Iterator[FrameType]:
    items.put(1)
    yield sys._getframe()


def put_in_loop(items: queue.Queue[int]) -> Iterator[FrameType]:
    while True:
        items.put(1)
        yield sys._getframe()


def put_before_loop(items: queue.Queue[int]) -> Iterator[FrameType]:
    items.put(1)
    while True:
        yield sys._getframe()


class Stage:
    def __init__(self, items: queue.Queue[int]) -> None:
        self.items = items

    def finish(self) -> None:
        self.items.put(1)

    def close(self) -> None:
        self.finish()

    def run(self) -> Iterator[FrameType]:
        yield sys._getframe()
        self.finish()

    def rest(self) -> Iterator[FrameType]:
        self.finish()
        yield sys._getframe()
        self.items.get()


@pytest.mark.parametrize(
    ("make", "expected"), [(put_later, True), (put_before, False), (put_in_loop, True), (put_before_loop, False)]
)
def test_what_comes_after_the_line_where_a_thread_stands_is_what_it_would_do(make: Any, expected: bool) -> None:
    items: queue.Queue[int] = queue.Queue()
    running = make(items)
    assert Intentions(PLACES).will(next(running), ("put",), items) is expected


def test_calls_on_another_object_do_not_count() -> None:
    items: queue.Queue[int] = queue.Queue()
    running = put_later(items)
    frame = next(running)
    assert Intentions(PLACES).will(frame, ("put",), items)
    assert not Intentions(PLACES).will(frame, ("put",), queue.Queue())
    assert not Intentions(PLACES).will(frame, ("get",), items)


def test_methods_that_are_called_are_looked_into() -> None:
    stage = Stage(queue.Queue())
    assert Intentions(PLACES).will(next(stage.run()), ("put",), stage.items)
    assert not Intentions(PLACES).will(next(stage.rest()), ("put",), stage.items)


# -- the library and stacks --------------------------------------------------------------------------------------------


def test_the_outermost_call_of_the_library_tells_what_is_done() -> None:
    found = []

    class Lock:
        def __enter__(self) -> None:
            found.append(library_call(sys._getframe(1), PLACES))

        def __exit__(self, *_: object) -> None:
            pass

    event = threading.Event()
    event._cond = Lock()  # type: ignore[attr-defined]
    event.clear()
    assert found[0] is not None
    does, frame = found[0]
    assert (does, frame.f_code.co_qualname) == ("clears", "Event.clear")
    assert library_call(sys._getframe(), PLACES) is None


def test_a_stack_is_told_once_and_without_what_stands_below_a_thread() -> None:
    stacks = Stacks(PLACES)
    found: list[int] = []
    for _ in range(2):
        worker = threading.Thread(target=lambda: found.append(stacks.of_frame(sys._getframe())))
        worker.start()
        worker.join()
    assert found[0] == found[1]
    assert not any(row[3].startswith("Thread._bootstrap") for row in stacks.rows[found[0]])
    assert any(row[3] == "Thread.run" and not row[4] for row in stacks.rows[found[0]])
    assert stacks.of_frame(None) == NO_STACK
