"""What an observed run tells of attributes that are set and found in roundabout ways."""

from __future__ import annotations

from pathlib import Path

from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.running.target import Plan
from replay_dd.schedules.story.words import described
from tests.runtime.programs import run_program

ALL = Plan(observed={"": (0, 1 << 62)})

COMPUTED = """
    import functools, threading

    class cached:
        def __init__(self, make):
            self.make = make

        def __get__(self, own, kind=None):
            value = own.__dict__["mine"] = self.make(own)
            return value

    class always(cached):
        def __set__(self, own, value):
            pass

    class Thing:
        __module__ = property(lambda self: "told")
        calls = 0

        @cached
        def mine(self):
            return 1

        @functools.cached_property
        def theirs(self):
            return 2

        @always
        def anew(self):
            return 3

    def work(thing):
        print(thing.mine, thing.mine, thing.theirs, thing.theirs, thing.anew, thing.calls)

    threading.Thread(target=work, args=(Thing(),)).start()
"""

ROUNDABOUT = """
    import threading

    level = 0

    class Elsewhere:
        def __init__(self):
            vars(self)["kept"] = {}

        def __setattr__(self, name, value):
            self.kept[name] = value

        def __delattr__(self, name):
            del self.kept[name]

    class Itself:
        def __setattr__(self, name, value):
            super().__setattr__(name, value)

        def __delattr__(self, name):
            object.__delattr__(self, name)

        def __getattribute__(self, name):
            return object.__getattribute__(self, name)

    class Plain:
        pass

    elsewhere, itself, plain = Elsewhere(), Itself(), Plain()

    def work():
        elsewhere.size = 1
        setattr(elsewhere, "size", 2)
        del elsewhere.size
        itself.mode = "a"
        itself.mode
        del itself.mode
        setattr(plain, "name", "x")
        plain.__dict__["name"] = "y"
        vars(plain)["name"]
        own = vars(plain)
        own.pop("name")
        globals()["level"] = 5

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert level == 5
"""

ALL_OF_THEM = """
    import threading

    class Point:
        def __init__(self):
            self.x, self.y = 1, 2

    point, shared, kept = Point(), {"a": 5}, {}

    def work():
        for name, value in vars(point).items():
            pass
        [value for value in point.__dict__.values()]
        dict(vars(point))
        vars(point).copy()
        kept.update(vars(point))
        sorted(vars(point).values())
        for name in vars(point):
            pass
        len(vars(point))
        list(shared.items())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert kept == {"x": 1, "y": 2}
"""


STATE = """
served = 0
users = {}

def add(number):
    global served
    served += number
"""

ELSEWHERE = """
    import os, threading
    import state
    from types import ModuleType

    class Watched(ModuleType):
        pass

    state.__class__ = Watched

    def work():
        state.served = state.served + 1
        state.add(2)
        setattr(state, "served", 5)
        vars(state)["served"]
        state.__dict__.update(served=6, left=7)
        state.users["ann"] = 1
        del state.left
        os.sep

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert state.served == 6
"""

UPDATES = """
    import threading

    class Settings:
        def __init__(self):
            self.host, self.port, self.extra = "a", 1, {}

    settings, others = Settings(), {}

    def work():
        vars(settings).update({"host": "b", "port": 2})
        settings.__dict__.update(host="c")
        new = {"port": 3, "extra": {}}
        settings.__dict__.update(**new)
        vars(settings).update({"host": "d"}, options={"port": 4})
        others.update({"host": "e"})
        for name, value in {"host": "f", "port": 5}.items():
            setattr(settings, name, value)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert vars(settings) == {"host": "f", "port": 5, "extra": {}, "options": {"port": 4}}
"""


def told(seen: list[Access], *names: str) -> list[tuple[str, str, str, str]]:
    return [(one.does, one.name, one.old.text, one.new.text) for one in seen if one.name in names]


def test_attributes_are_accessed_where_that_is_really_done(tmp_path: Path) -> None:
    run = run_program(tmp_path, ROUNDABOUT, ALL)
    assert run.log.ending.exceptions == ()
    seen = [one for one in run.accesses.accesses if one.thread == "0.1"]
    kept = "Elsewhere.kept['size']"
    assert told(seen, "Elsewhere.size", kept) == [
        ("stores", kept, "nothing", "1"),
        ("stores", kept, "1", "2"),
        ("deletes", kept, "2", "nothing"),
    ]
    mode = [one for one in seen if one.name == "Itself.mode"]
    assert [(one.does, one.old.text) for one in mode] == [("stores", "nothing"), ("reads", "'a'"), ("deletes", "'a'")]
    assert [one.place.function.rpartition(".")[2] for one in mode] == ["__setattr__", "__getattribute__", "__delattr__"]
    assert mode[0].new.text == "'a'"
    named = [one for one in seen if one.name == "Plain.name"]
    assert [(one.does, one.old.text, one.new.text) for one in named] == [
        ("stores", "nothing", "'x'"),
        ("stores", "'x'", "'y'"),
        ("reads", "'y'", "?"),
        ("calls", "'y'", "nothing"),
    ]
    assert len({one.thing for one in named}) == 1
    [stored] = [one for one in run.accesses.accesses if one.name == "level" and one.writes]
    [found] = [one for one in run.accesses.accesses if one.name == "level" and not one.writes]
    assert stored.touches(found)
    assert (stored.new.text, found.old.text) == ("5", "5")


def test_the_variables_of_a_module_are_the_same_wherever_they_are_accessed_from(tmp_path: Path) -> None:
    (tmp_path / "state.py").write_text(STATE)
    run = run_program(tmp_path, ELSEWHERE, ALL)
    assert run.log.ending.exceptions == ()
    served = [one for one in run.accesses.accesses if one.name == "served"]
    assert [(one.place.file, one.does, one.old.text, one.new.text) for one in served] == [
        ("prog.py", "reads", "0", "?"),
        ("prog.py", "stores", "0", "1"),
        ("state.py", "reads", "1", "?"),
        ("state.py", "stores", "1", "3"),
        ("prog.py", "stores", "3", "5"),
        ("prog.py", "reads", "5", "?"),
        ("prog.py", "stores", "5", "6"),
        ("prog.py", "reads", "6", "?"),
    ]
    assert len({one.thing for one in served}) == 1
    assert {described(one) for one in served} == {"global variable of state.py"}
    seen = [one for one in run.accesses.accesses if one.thread == "0.1"]
    assert told(seen, "left") == [("stores", "left", "nothing", "7"), ("deletes", "left", "7", "nothing")]
    assert told(seen, "users['ann']") == [("stores", "users['ann']", "nothing", "1")]
    assert [one.thing[0] for one in seen if one.name == "os.sep"] == ["attribute"]


def test_to_update_the_dictionary_of_attributes_stores_each_of_them(tmp_path: Path) -> None:
    run = run_program(tmp_path, UPDATES, ALL)
    assert run.log.ending.exceptions == ()
    seen = [one for one in run.accesses.accesses if one.thread == "0.1" and one.name.startswith("Settings.")]
    assert [(one.does, one.name.partition(".")[2], one.new.text) for one in seen] == [
        ("stores", "host", "'b'"),
        ("stores", "port", "2"),
        ("stores", "host", "'c'"),
        ("stores", "port", "3"),
        ("stores", "extra", "{}"),
        ("stores", "host", "'d'"),
        ("stores", "options", "dict of 1"),
        ("stores", "host", "'f'"),
        ("stores", "port", "5"),
    ]
    [other] = [one for one in run.accesses.accesses if one.name == "others" and one.does == "calls"]
    assert other.writes


def test_attributes_are_found_in_the_dictionary_of_all(tmp_path: Path) -> None:
    run = run_program(tmp_path, ALL_OF_THEM, ALL)
    own = [one for one in run.accesses.accesses if one.thread == "0.1" and one.thing[0] != "global"]
    both = [("reads", "Point.x", "1"), ("reads", "Point.y", "2")]
    told = [
        (one.does, one.name, one.old.text)
        for one in own
        if one.thing[0] == "attribute" and one.name != "Point.__dict__"
    ]
    assert told == 6 * both
    wholes = [(one.does, one.detail) for one in own if one.thing[0] == "whole" and one.reads]
    assert wholes == [
        *(("calls", "items()"), ("iterates", ""), ("calls", "values()"), ("iterates", ""), ("calls", "values()")),
        *(("iterates", ""), ("iterates", ""), ("iterates", ""), ("reads", "len()")),
        *(("calls", "items()"), ("reads", "list()")),
    ]


def test_what_a_class_computes_once_was_looked_for_in_the_object_and_is_stored_there(tmp_path: Path) -> None:
    run = run_program(tmp_path, COMPUTED, ALL)
    assert run.output == b"1 1 2 2 3 0\n"
    told = [(one.does, one.name, one.old.text, one.new.text) for one in run.accesses.accesses]
    assert [one for one in told if one[1] == "Thing.theirs"] == [
        ("reads", "Thing.theirs", "nothing", "?"),
        ("stores", "Thing.theirs", "nothing", "2"),  # by code of the library, which is not observed
        ("reads", "Thing.theirs", "2", "?"),
    ]
    assert [one for one in told if one[1] == "Thing.mine"][:3] == [
        ("reads", "Thing.mine", "nothing", "?"),
        ("stores", "Thing.mine", "nothing", "1"),
        ("reads", "Thing.mine", "1", "?"),
    ]
    assert not [one for one in told if one[1] == "Thing.anew"], "it is never the object's own"
    assert ("reads", "Thing.calls", "0", "?") in told, "nothing is computed here"
