"""What an observed run tells of objects whose own code, which is the library's, is not observed."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.running.target import Plan
from replay_dd.schedules.runtime.compat import FREE_THREADED
from tests.runtime.programs import run_program

ALL = Plan(observed={"": (0, 1 << 62)})
OWNED = pytest.mark.skipif(FREE_THREADED, reason="without a GIL, an object goes when the thread looks that made it")

PROGRAM = """
    import collections, contextvars, threading, weakref

    class Group:
        def grow(self):
            pass

    class Options(collections.UserDict):
        def put(self, name, value):
            self.data[name] = value

    def work():
        listeners.add(spare)
        for one in listeners:
            one.grow()
        len(listeners)
        ages[spare] = 3
        ages.get(spare)
        rows.append(7)
        sum(rows)
        for row in rows:
            pass
        options.put("size", 4)
        options["size"]
        for name, value in options.items():
            pass
        layers["depth"]
        layers["width"] = 5
        own = contextvars.copy_context()
        own.run(len, "a")
        threading.Thread(target=own.run)
        with shop.permits:
            with condition:
                pass

    class Shop:
        permits = None

    spare, shop, condition = Group(), Shop(), threading.Condition()
    shop.permits = threading.Semaphore(2)
    listeners, ages = weakref.WeakSet(), weakref.WeakKeyDictionary()
    rows, options, layers = collections.UserList(), Options(), collections.ChainMap({}, {"depth": 1})
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
"""


@pytest.fixture(scope="module")
def observation(tmp_path_factory: pytest.TempPathFactory) -> Observation:
    run = run_program(tmp_path_factory.mktemp("work"), PROGRAM, ALL)
    assert run.log.ending.status == 0, run.output
    return run.accesses


@pytest.fixture(scope="module")
def seen(observation: Observation) -> list[Access]:
    return [access for access in observation.accesses if access.thread == "0.1"]


def test_a_set_that_knows_its_elements_weakly_is_told_like_any_other(seen: list[Access]) -> None:
    looks = [one for one in seen if one.thing[0] == "whole" and one.name == "listeners"]
    assert [one.detail or one.does for one in looks] == ["begins", "iterates", "iterates", "len()"]
    (added,) = [one for one in seen if one.name.startswith("listeners[")]
    assert (added.detail, added.writes, added.old.is_missing, added.new.type) == ("add(Group)", True, True, "Group")
    assert all(one.touches(added) for one in looks)
    assert [(one.does, one.old.text) for one in seen if one.name.startswith("ages[")] == [
        ("stores", "nothing"),
        ("calls", "3"),
    ]


def test_what_a_container_of_the_library_holds_stands_for_it(seen: list[Access]) -> None:
    rows = [one for one in seen if one.name == "rows" and one.thing[0] == "whole"]
    assert [one.detail or one.does for one in rows] == ["append(7)", "sum()", "begins", "iterates", "iterates"]
    assert {one.holder_type for one in rows} == {"list"}
    assert rows[0].writes
    options = [one for one in seen if one.thing[2] == "'size'"]
    assert [one.does for one in options] == ["stores", "reads"]
    assert options[0].touches(options[1]), "one of them is made by a class that is derived from it"
    names = [one for one in seen if one.does == "iterates" and one.touches(options[0])]
    assert len(names) == 2
    assert [(one.does, one.new.text) for one in seen if one.name == "layers['width']"] == [("stores", "5")]
    depths = [one for one in seen if one.thing[2] == "'depth'"]
    assert [one.old.text for one in depths] == ["1"]
    assert not depths[0].touches(next(one for one in seen if one.thing[2] == "'width'"))


def test_who_enters_a_context_or_gives_it_away_to_be_entered_is_known(seen: list[Access]) -> None:
    uses = [one for one in seen if one.holder_type == "Context"]
    assert [(one.detail, one.thing[0], one.writes) for one in uses] == [("run()", "object", True)] * 2
    assert uses[0].touches(uses[1])


def test_from_where_a_thread_was_started_is_known(observation: Observation) -> None:
    stack = observation.started["0.1"]
    assert [frame.function for frame in stack] == ["Thread.start", "<module>"]
    assert PROGRAM.splitlines()[stack[-1].line - 1].strip() == "thread.start()"
    assert "0" not in observation.started


def test_with_takes_a_permit_and_gives_it_back(seen: list[Access]) -> None:
    uses = [one for one in seen if one.holder_type == "Semaphore"]
    assert [(one.detail, one.old.text) for one in uses] == [("acquire()", "2"), ("release() at the end of with", "1")]
    assert {one.name for one in uses} == {"Shop.permits"}
    assert uses[0].conflicts(uses[1]._replace(thread="0.9"))
    assert not [one for one in seen if one.holder_type == "Condition"], "its lock tells that"


LEFT = """
    import threading

    class Shop:
        permits = None

    def work():
        try:
            with shop.permits:
                raise KeyError
        except KeyError:
            pass

    shop = Shop()
    shop.permits = threading.BoundedSemaphore(2)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
"""


def test_with_gives_a_permit_back_as_an_exception_leaves_it(tmp_path: Path) -> None:
    run = run_program(tmp_path, LEFT, ALL)
    assert run.log.ending.status == 0
    uses = [one for one in run.accesses.accesses if one.holder_type == "BoundedSemaphore"]
    assert [(one.detail, one.name, one.old.text, one.place.line) for one in uses] == [
        ("acquire()", "Shop.permits", "2", 9),
        ("release() at the end of with", "Shop.permits", "1", 9),
    ]


METHODS = """
    import threading, weakref

    class Logger:
        def write(self):
            pass

    logger, other = Logger(), Logger()
    reference, kept = weakref.WeakMethod(logger.write), weakref.WeakMethod(other.write)

    def work():
        global logger
        kept()()
        if reference() is not None:
            logger = None
            reference()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
"""


def test_what_goes_as_the_interpreter_ends_is_nothing_to_say(tmp_path: Path) -> None:
    run = run_program(tmp_path, METHODS, ALL)
    assert (run.log.ending.status, run.output) == (0, b"")


@OWNED
def test_a_weak_reference_to_a_method_is_one_to_its_object(tmp_path: Path) -> None:
    run = run_program(tmp_path, METHODS, ALL)
    assert run.log.ending.status == 0
    found = [one for one in run.accesses.accesses if one.name == "reference()"]
    assert [(one.does, one.old.type, one.old.is_missing) for one in found] == [
        ("reads", "Logger", False),
        ("deletes", "Logger", False),
        ("reads", "", True),
    ]
    assert all(one.is_weak for one in found)


DROPPED = """
    import threading, weakref

    class Logger:
        pass

    logger, other = Logger(), Logger()
    reference, unused = weakref.ref(logger), weakref.ref(other)

    def work():
        global logger, other
        other = None
        logger = None
        reference()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
"""


@OWNED
def test_an_object_that_goes_before_anybody_asks_for_it_is_known_by_its_references(tmp_path: Path) -> None:
    run = run_program(tmp_path, DROPPED, ALL)
    assert run.log.ending.status == 0
    weak = [one for one in run.accesses.accesses if one.is_weak]
    assert [(one.does, one.name, one.old.type, one.old.is_missing) for one in weak] == [
        ("deletes", "reference()", "Logger", False),
        ("reads", "reference()", "", True),
    ]
    assert weak[0].touches(weak[1])


LET_GO = """
    import threading, weakref

    class Logger:
        pass

    def work():
        logger = Logger()
        reference = weakref.ref(logger, lambda _: print("called"))
        reference()
        reference = None
        logger = None

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
"""


def test_a_weak_reference_lives_no_longer_for_being_watched(tmp_path: Path) -> None:
    run = run_program(tmp_path, LET_GO, ALL)
    assert any(one.is_weak for one in run.accesses.accesses)
    assert (run.log.ending.status, run.output) == (0, b"")


COMPARED = """
    import threading, weakref

    class Row:
        __hash__ = object.__hash__

        def __eq__(self, other):
            print("compared")
            return False

    def work():
        row = Row()
        rows["a"] = row
        rows["a"]

    rows = weakref.WeakValueDictionary()
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
"""


def test_no_object_is_asked_whether_it_equals_another(tmp_path: Path) -> None:
    run = run_program(tmp_path, COMPARED, ALL)
    assert (run.log.ending.status, run.output) == (0, b"")
    assert any(one.holder_type == "WeakValueDictionary" for one in run.accesses.accesses)
