"""Containers that are tested for being empty through a local variable, between two yield points."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.running.target import Plan, TargetRun
from tests.runtime.programs import run_program, triggered

ALL = Plan(observed={"": (0, 1 << 62)})

PROGRAM = """
    import threading

    class Rooms:
        def __init__(self):
            self.members = {"a": [], "b": []}
        def of(self, name):
            return self.members[name]
        def all(self):
            return self.members  # for its caller
        def missing(self, name):
            raise KeyError(name)

    rooms = Rooms()

    def work():
        people = rooms.of("a")
        role = "guest" if people else "host"  # a call of our own
        people.append(role)
        at_once = rooms.members["b"]
        if not at_once:  # what was just read
            at_once.append("b")
        if found := rooms.members.get("b"):  # what a method gives
            found.append("found")
        if rooms.members.get("b"):  # and that is not kept
            pass
        if rooms.all():
            pass
        while people:  # in a loop
            people.pop()
        for group in rooms.members.values():
            if group:  # of each round
                pass
        lost = rooms.members
        try:
            lost = rooms.missing("a")
            if lost:  # not reached
                pass
        except KeyError:
            pass

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
"""


def lines_of_program() -> dict[str, int]:
    """The numbers of the lines of the program that have a comment, by its text."""
    lines = enumerate(PROGRAM.splitlines(), 1)
    return {line.rpartition("# ")[2]: number for number, line in lines if "# " in line}


def looks(run: TargetRun) -> list[Access]:
    """The looks at whole containers of thread 0.1."""
    return [
        one for one in run.accesses.accesses if one.thread == "0.1" and one.thing[0] == "whole" and one.does == "reads"
    ]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> TargetRun:
    return run_program(tmp_path_factory.mktemp("rooms"), PROGRAM, ALL)


def test_each_test_of_a_container_is_told_once_with_what_it_found(run: TargetRun) -> None:
    lines = lines_of_program()
    assert [(one.place.line, one.old.text) for one in looks(run)] == [
        (lines["a call of our own"], "[]"),
        (lines["what was just read"] - 1, "[]"),
        (lines["what a method gives"], "list of 1"),
        (lines["and that is not kept"], "list of 2"),
        (lines["for its caller"], "dict of 2"),
        (lines["in a loop"], "[]"),  # the first test comes after a branch, and is not told
        (lines["of each round"], "[]"),
        (lines["of each round"], "list of 2"),
    ]


def test_what_an_exception_has_kept_from_being_tested_is_not_told(run: TargetRun) -> None:
    assert lines_of_program()["not reached"] not in [one.place.line for one in looks(run)]


TWO = """
    import threading

    class Rooms:
        def __init__(self):
            self.members = {"a": []}
        def of(self, name):
            return self.members[name]

    rooms = Rooms()

    def work(name):
        people = rooms.of("a")
        role = "guest" if people else "host"
        people.append((name, role))

    threads = [threading.Thread(target=work, args=(name,)) for name in "xy"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(rooms.members["a"])
"""


def test_a_test_comes_before_what_others_do_once_its_thread_has_given_way(tmp_path: Path) -> None:
    alone = run_program(tmp_path, TWO, ALL)
    own = next(one for one in looks(alone) if one.place.line == 14)
    # It belongs to the last yield point before it, and another thread can come first at the next one.
    (read,) = [one for one in alone.accesses.accesses if one.thread == "0.1" and one.name == "Rooms.members['a']"][:1]
    assert own.time == read.time
    plan = replace(triggered(("0.1", own.time + 1, "0.2")), observed=ALL.observed)
    both = run_program(tmp_path, TWO, plan)
    assert b"('y', 'host'), ('x', 'host')" in both.output
    own = next(one for one in looks(both) if one.place.line == 14)
    others = [one for one in both.accesses.accesses if one.thread == "0.2"]
    assert (own.old.text, own.tested) == ("[]", True)
    assert own.number < others[0].number
    assert both.log.ending.digest == run_program(tmp_path, TWO, replace(plan, observed={})).log.ending.digest
