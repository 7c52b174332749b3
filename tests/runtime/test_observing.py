"""Objects are looked at without running their code."""

from __future__ import annotations

import importlib.util
import sys
import types
from typing import Any

import pytest

from replay_dd.schedules.runtime import observing


class Guarded:
    __slots__ = ("__dict__", "slot")

    shared = 5
    trap = property(lambda self: pytest.fail("this ran code of the program"))

    def __getattr__(self, name: str) -> None:
        pytest.fail("this ran code of the program")


def test_attributes() -> None:
    guarded: Any = Guarded()
    guarded.own = 1
    assert observing.attribute(guarded, "own") == 1
    assert observing.attribute(guarded, "slot") is None
    guarded.slot = 2
    assert observing.attribute(guarded, "slot") == 2
    assert observing.attribute(guarded, "shared") == 5
    guarded.shared = 6
    assert observing.attribute(guarded, "shared") == 6
    assert observing.attribute(guarded, "trap") is None
    assert observing.attribute(guarded, "missing") is None
    assert observing.attribute(sys, "path") is sys.path
    assert observing.attribute(Guarded, "shared") == 5
    assert observing.attributes_of(guarded) == {"own": 1, "shared": 6}
    assert observing.attributes_of(sys) is vars(sys)
    assert observing.attributes_of([]) == observing.attributes_of(Guarded) == {}


def test_the_attributes_of_a_module_that_loads_later() -> None:
    spec = importlib.util.find_spec("this")
    assert spec is not None
    assert spec.loader is not None
    loader = importlib.util.LazyLoader(spec.loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    assert observing.attributes_of(module)["__name__"] == "this"
    assert observing.attribute(module, "s") is None
    assert type(module) is not types.ModuleType


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError(), ""),
        (ValueError("text"), "text"),
        (ValueError(1, ("two", {3: [4.0]})), "(1, ('two', {3: [4.0]}))"),
        (KeyError("key"), "'key'"),
        (FileNotFoundError(2, "No such file", "name"), "[Errno 2] No such file: 'name'"),
        (RuntimeError(ValueError("inner")), "inner"),
        (ExceptionGroup("several", [ValueError("one")]), "several (1 sub-exception)"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"), "'utf-8' codec can't decode byte 0xff in position 0: bad"),
        (ValueError(Guarded()), None),
        (ValueError(1, [Guarded()]), None),
        (RuntimeError(ValueError(Guarded())), None),
        (OSError(2, "No", Guarded()), None),
        (ImportError(Guarded()), None),
        (SyntaxError(Guarded()), None),
        (type("Own", (ValueError,), {"__str__": lambda self: pytest.fail("this ran code of the program")})(1), None),
        (RuntimeError(type("Own", (ValueError,), {"__repr__": lambda self: pytest.fail("ran")})(1)), "1"),
        (RuntimeError(0, type("Own", (ValueError,), {"__repr__": lambda self: pytest.fail("ran")})(1)), None),
    ],
)
def test_messages(error: BaseException, text: str | None) -> None:
    assert observing.message_of(error) == text


def test_a_container_that_contains_itself_has_no_end() -> None:
    endless: list[object] = []
    endless.append(endless)
    assert observing.message_of(ValueError(endless)) is None
    assert observing.message_of(ValueError(10**5000)) is None
