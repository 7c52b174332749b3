"""A finalizer or the handler of a signal that comes between two lines of a thread."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from replay_dd.schedules.hang import GARBAGE_COLLECTION, SIGNAL_HANDLER
from replay_dd.schedules.observed.observation import Access, StackFrame
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.interruptions import tell_interruption
from tests.schedules.logs import PASSED
from tests.schedules.story.made_accesses import X, access, number
from tests.schedules.story.programs_explained import explained
from tests.schedules.story.test_victim import seen


def inside(between: str, one: Access, *, called: bool = True) -> Access:
    """An access by what interrupts its thread."""
    above = (StackFrame("prog.py", "prog.py", 9, "Thing.__del__", True),) if called else ()
    marker = StackFrame("gc.py", "gc.py", 1, between, False)
    return one._replace(stack=(*above, marker, *one.stack))


READ = access("0.1", 1, 1, "reads", X)
STORE = access("0.1", 2, 2, "stores", X)
OTHER = access("0.1", 9, 3, "stores", X)


@pytest.mark.parametrize(("between", "name"), [(GARBAGE_COLLECTION, "finalizer"), (SIGNAL_HANDLER, "signal handler")])
def test_what_comes_between_is_told_like_another_thread(between: str, name: str) -> None:
    failing = seen(READ, inside(between, OTHER), STORE)
    told = tell_interruption(failing, seen(READ, STORE, inside(between, OTHER)), PASSED)
    assert told is not None
    conflict, story = told
    assert story.kind == kinds.LOST_UPDATE
    assert (conflict.thread, conflict.interrupter) == ("0.1", name)
    assert conflict.left is not None
    assert conflict.right is not None
    assert (conflict.left.access.place.line, conflict.right.access.place.line) == (1, 2)
    assert [one.thread for one in conflict.stretch] == [f"0.1 ({name})"]
    assert "`Thing.__del__`" in story.summary
    assert "SimpleQueue" in story.help


def test_what_a_handler_takes_away_after_a_check_is_a_check_then_act() -> None:
    looks = READ._replace(tested=True)
    uses = access("0.1", 2, 2, "reads", X, old=number(None))
    takes = inside(SIGNAL_HANDLER, OTHER._replace(new=number(None)))
    told = tell_interruption(seen(looks, takes, uses), seen(looks, uses._replace(old=number(1)), takes), PASSED)
    assert told is not None
    assert told[1].kind == kinds.CHECK_THEN_ACT
    unchecked = tell_interruption(seen(READ, takes, uses), seen(READ, uses._replace(old=number(1)), takes), PASSED)
    assert unchecked is not None
    assert unchecked[1].kind == kinds.INVALIDATED


def test_what_comes_between_the_same_lines_in_the_passing_run_decides_nothing() -> None:
    failing = seen(READ, inside(GARBAGE_COLLECTION, OTHER), STORE)
    assert tell_interruption(failing, failing, PASSED) is None


@pytest.mark.parametrize(
    "failing",
    [
        seen(READ, OTHER._replace(thread="0.2"), STORE),  # another thread
        seen(STORE, inside(GARBAGE_COLLECTION, OTHER), READ),  # the thread is done with its own change
        seen(READ, inside(GARBAGE_COLLECTION, OTHER._replace(thing=("attribute", 8, "y"))), STORE),
        seen(inside(GARBAGE_COLLECTION, OTHER), READ, STORE),  # before it has looked
    ],
)
def test_nothing_is_told_where_nothing_comes_between(failing: object) -> None:
    assert tell_interruption(failing, seen(READ, STORE), PASSED) is None  # type: ignore[arg-type]


def test_of_something_weak_the_thing_is_told_that_is_gone() -> None:
    item = ("item", 4, "'a'")
    more = {"holder_type": "WeakValueDictionary", "name": "cache['a']"}
    check = access("0.1", 1, 1, "checks", item, tested=True, old=number("True"), **more)
    gone = access("0.1", 2, 2, "deletes", item, **more)
    use = access("0.1", 2, 3, "reads", item, **more)
    failing = seen(check, inside(GARBAGE_COLLECTION, gone, called=False), use)
    told = tell_interruption(failing, seen(check, use), PASSED)
    assert told is not None
    assert "takes away cache['a']" in told[1].summary
    assert "`get()`" in told[1].help


Y = ("attribute", 1, "y")


def two_reads(first: int, other: int, **more: object) -> list[Access]:
    """What a handler changes between a read of each: two things in a round of a loop, after a round before that."""
    column = access("0.1", 3, 1, "reads", Y)
    return [
        column,
        access("0.1", 2, first, "reads", **more),
        inside(SIGNAL_HANDLER, access("0.1", 7, 4, "stores")),
        inside(SIGNAL_HANDLER, access("0.1", 8, 5, "stores", Y)),
        column._replace(time=other, number=other),
    ]


def test_two_things_that_a_handler_replaces_between_two_reads_are_torn() -> None:
    """The look at the second thing in the round before is not what it belongs to."""
    told = tell_interruption(seen(*two_reads(2, 9)), seen(), PASSED)
    assert told is not None
    conflict, story = told
    assert story.kind == kinds.TORN_READ
    assert conflict.left is not None
    assert conflict.right is not None
    assert (conflict.left.access.thing, conflict.right.access.thing) == (X, Y)
    first = seen(*two_reads(2, 9)[1:])  # there was no round before
    assert tell_interruption(first, seen(), PASSED) is not None
    elsewhere = (StackFrame("prog.py", "prog.py", 2, "other", True),)
    place = replace(access("0.1", 2, 2, "reads").place, function="other")
    told = tell_interruption(seen(*two_reads(2, 9, stack=elsewhere, place=place)), seen(), PASSED)
    assert told is not None
    assert told[1].kind == kinds.NON_REPEATABLE_READ


def test_what_was_checked_and_is_gone_then_is_a_check_then_act() -> None:
    check = access("0.1", 1, 1, "reads", tested=True, old=number("StringIO"))
    gone = inside(SIGNAL_HANDLER, access("0.1", 9, 3, "stores", new=number(None)))
    use = access("0.1", 2, 4, "reads", old=number(None))
    told = tell_interruption(seen(check, gone, use), seen(check, use), PASSED)
    assert told is not None
    assert told[1].kind == kinds.CHECK_THEN_ACT
    unchecked = tell_interruption(seen(check._replace(tested=False), gone, use), seen(), PASSED)
    assert unchecked is not None
    assert unchecked[1].kind == kinds.INVALIDATED


# Listeners that are forgotten take themselves off the list, in whatever thread collects them.
BUS = """
import threading, weakref
class Listener:
    def __init__(self):
        self.itself = self
class Bus:
    def __init__(self):
        self.listeners = {}
    def add(self, listener):
        key = len(self.listeners)
        self.listeners[key] = weakref.ref(listener, lambda _: self.listeners.pop(key))
    def publish(self):
        for reference in self.listeners.values():
            reference()
bus = Bus()
def work():
    for _ in range(3):
        bus.add(Listener())
    bus.publish()
thread = threading.Thread(target=work)
thread.start(); thread.join()
"""


@pytest.mark.once
def test_a_loop_that_a_finalizer_disturbs(tmp_path: Path) -> None:
    """The whole way: a hunt finds the moment, it is isolated, and the finalizer is named."""
    source = tmp_path / "source" / "bus.py"
    source.parent.mkdir()
    source.write_text(BUS)
    explanation, _ = explained(source, tmp_path)
    shutil.rmtree(source.parent)
    story, conflict = explanation.story, explanation.conflict
    assert story is not None, explanation.why_not
    assert story.kind == kinds.CHANGED_IN_LOOP
    assert {thing.name for thing in story.things} == {"Bus.listeners"}
    assert "`Bus.add.<locals>.<lambda>`" in story.summary
    assert "copy of Bus.listeners" in story.help
    assert conflict is not None
    assert conflict.interrupter == "finalizer"
    assert 11 in {one.place.line for one in conflict.stretch}
