"""What an observed run tells of classes derived from containers that set and find their items themselves."""

from __future__ import annotations

import pytest

from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.running.target import Plan
from replay_dd.schedules.runtime.accelerator import accelerator
from tests.runtime.programs import run_program

pytestmark = pytest.mark.skipif(accelerator is None, reason="needs the values on the stack")

PROGRAM = """
    import threading

    class Registry(dict):
        def __setitem__(self, key, value):
            if super().__contains__(key):  # checks
                raise KeyError(key)
            super().__setitem__(key, value)  # stores
        def __getitem__(self, key):
            return dict.__getitem__(self, key)  # reads
        def __delitem__(self, key):
            dict.__delitem__(self, key)  # deletes
        def __contains__(self, key):
            return False
        def __len__(self):
            return dict.__len__(self)  # whole
        def __iter__(self):
            return super().__iter__()  # begins

    class Stack(list):
        def take(self):
            return list.pop(self)  # takes

    class Sized(list):
        def __len__(self):
            return 7

    class Listed(list):
        def __iter__(self):
            return iter(())

    class Plain(dict):
        pass

    def work():
        registry["a"] = 1
        registry["a"]
        "a" in registry
        len(registry)
        list(registry)
        del registry["a"]
        stack.take()
        plain["b"] = 2
        "b" in plain
        len(plain)
        list(sized), len(sized)
        list(listed), len(listed)

    sized, listed = Sized(), Listed()
    registry, stack, plain = Registry(), Stack([7, 8]), Plain()
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
"""
LINES = PROGRAM.splitlines()


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> list[Access]:
    run = run_program(tmp_path_factory.mktemp("work"), PROGRAM, Plan(observed={"": (0, 1 << 62)}))
    assert run.log.ending.status == 0, run.output
    return [one for one in run.accesses.accesses if one.thread == "0.1" and one.thing[0] in ("item", "whole")]


def at(comment: str, seen: list[Access]) -> list[Access]:
    line = next(number for number, text in enumerate(LINES, 1) if text.endswith(f"# {comment}"))
    return [one for one in seen if one.place.line == line]


@pytest.mark.parametrize("does", ["checks", "stores", "reads", "deletes"])
def test_the_method_of_the_built_in_class_is_told_like_its_operator(does: str, seen: list[Access]) -> None:
    (one,) = at(does, seen)
    assert (one.does, one.name, one.thing[2]) == (does, "registry['a']", "'a'")
    assert one.writes == (does in ("stores", "deletes"))


def test_what_is_stored_is_known(seen: list[Access]) -> None:
    (one,) = at("stores", seen)
    assert (one.old.is_missing, one.new.text) == (True, "1")


@pytest.mark.parametrize(("comment", "told"), [("whole", ("reads", "")), ("begins", ("iterates", "begins"))])
def test_so_is_a_look_at_all_of_it(comment: str, told: tuple[str, str], seen: list[Access]) -> None:
    assert next((one.does, one.detail) for one in at(comment, seen)) == told


def test_so_is_a_method_with_a_name(seen: list[Access]) -> None:
    (one,) = at("takes", seen)
    assert (one.does, one.name, one.detail, one.writes) == ("calls", "stack", "pop()", True)


def test_an_operator_that_calls_code_of_the_program_is_no_access_itself(seen: list[Access]) -> None:
    work = next(number for number, text in enumerate(LINES, 1) if text == "    def work():")
    told = [(one.name, one.detail) for one in seen if one.place.line > work]
    assert [name for name, _ in told[:3]] == ["plain['b']", "plain['b']", "plain"]
    assert told[3:] == [("sized", "list()"), ("listed", "len()")]
