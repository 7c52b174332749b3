"""What an observed run tells of attributes that are set and found in roundabout ways."""

from __future__ import annotations

from pathlib import Path

from replay_dd.schedules.observation import Access
from replay_dd.schedules.target import Plan
from tests.runtime.programs import run_program

ALL = Plan(observed={"": (0, 1 << 62)})

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
