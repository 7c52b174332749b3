"""Observing reads the program's objects, and never runs their code."""

from __future__ import annotations

import queue
import threading
from collections import OrderedDict, defaultdict, deque
from typing import Any

import pytest

from replay_dd.schedules.runtime.accesses import contents, values
from replay_dd.schedules.runtime.accesses.values import ABSENT, CLASS, COMPUTED, INSTANCE, MISSING, SLOT, UNKNOWN


class RanError(BaseException):
    """The program's code was run."""


def _refuse(*_: Any, **__: Any) -> Any:
    raise RanError


def hostile() -> Any:
    """A class of which every way in runs code; pytest looks at the classes of a module."""

    class Meta(type):
        __instancecheck__ = __subclasscheck__ = __getattribute__ = __repr__ = __eq__ = __hash__ = _refuse

    class Hostile(metaclass=Meta):
        """Every way in runs code."""

        limit = 3

        def __init__(self) -> None:
            object.__setattr__(self, "count", 7)

        __getattribute__ = __getattr__ = __setattr__ = __repr__ = __str__ = __eq__ = __hash__ = __len__ = __bool__ = (
            _refuse
        )
        __iter__ = __contains__ = __getitem__ = __class_getitem__ = __index__ = _refuse
        __class__ = property(_refuse)  # type: ignore[assignment]
        computed = property(_refuse)

    return Hostile


class HostileDict(dict[Any, Any]):
    __getitem__ = __len__ = __iter__ = __contains__ = __missing__ = items = __eq__ = _refuse  # type: ignore[assignment]


class HostileSet(set[Any]):
    __len__ = __iter__ = __contains__ = _refuse


class HostileList(list[Any]):
    __getitem__ = __len__ = __iter__ = __contains__ = _refuse  # type: ignore[assignment]


class Slotted:
    __slots__ = ("empty", "full")

    def __init__(self) -> None:
        self.full = 1


def test_attributes_are_found_without_running_anything() -> None:
    kind = hostile()
    thing = kind()
    where, owner, value = values.attribute(thing, "count")
    assert (where, owner is thing, value) == (INSTANCE, True, 7)
    assert values.attribute(thing, "limit")[::2] == (CLASS, 3)
    assert values.attribute(thing, "computed")[::2] == (COMPUTED, UNKNOWN)
    assert values.attribute(thing, "other")[::2] == (ABSENT, MISSING)
    assert values.attribute(kind, "limit")[::2] == (CLASS, 3)
    slotted = Slotted()
    assert values.attribute(slotted, "full") == (SLOT, slotted, 1)
    assert values.attribute(slotted, "empty") == (SLOT, slotted, MISSING)


def test_a_dictionary_that_is_computed_is_not_asked_for() -> None:
    class Computed:
        __dict__ = property(_refuse)  # type: ignore[assignment]

    assert values.own_values(Computed()) is None

    class Lazy(type(values)):  # type: ignore[misc]  # a module, which has a dictionary below
        __dict__ = property(_refuse)

    module = Lazy("lazy")
    module.loaded = 3
    found = values.own_values(module)
    assert found is not None
    assert found["loaded"] == 3
    assert values.attribute(module, "loaded")[::2] == (values.MODULE, 3)


def test_hostile_containers_and_keys_are_looked_into() -> None:
    key = hostile()()
    held = HostileDict({"a": 1})
    dict.__setitem__(held, 5, 2)
    assert values.item(held, "a") == 1
    assert values.item(held, "b") is MISSING
    assert values.item(held, key) is MISSING
    assert values.size(held) == 2
    assert values.contains(held, 5) is True
    assert values.contains(HostileSet({1, 2}), 2) is True
    assert values.contains(HostileList([key, 3]), 3) is True
    assert values.contains([key], key) is True
    assert values.item(HostileList([4]), -1) == 4
    assert values.item(HostileList([4]), 9) is MISSING


@pytest.mark.parametrize("make", [dict.fromkeys, set, frozenset, list, deque])
def test_text_is_found_beside_what_the_program_compares(make: Any) -> None:
    class Own(str):
        __slots__ = ()
        __eq__ = _refuse
        __hash__ = str.__hash__

    class Named(str):
        __slots__ = ()

    container = make([Own("a"), Named("b"), "c"])
    assert [values.contains(container, text) for text in ("a", "b", "c", "d")] == [False, True, True, False]


@pytest.mark.parametrize("make", [dict.fromkeys, set, list])
def test_to_look_for_text_takes_no_look_at_the_type_of_each_text(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a run that works on a dictionary of 10,000 words takes a hundred times as long when it is observed."""
    compared: list[object] = []
    monkeypatch.setattr(values, "same", lambda one, other: bool(compared.append(one)))
    assert values.contains(make([1, *map(chr, range(97, 123))]), "z") is True
    assert set(compared) <= {1}  # a set may begin with "z"


def test_equal_keys_of_different_types_are_the_same_key() -> None:
    assert values.item({1: "x"}, True) == "x"
    assert values.item({(1, "a"): "x"}, (1.0, "a")) == "x"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (12, "12"),
        (None, "None"),
        ("a" * 41, "'" + "a" * 40 + "...'"),
        ([], "[]"),
        ({}, "{}"),
        ({"a": 1}, "dict of 1"),
        ((1, "b"), "(1, 'b')"),
        (deque([1, 2]), "deque of 2"),
        (1 << 2_000, "a large int"),
        (MISSING, "nothing"),
        (OrderedDict(a=1), "OrderedDict of 1"),
        (type("Own", (dict,), {})(a=1), ""),
    ],
)
def test_values_of_built_in_types_are_shown_in_short(value: object, text: str) -> None:
    assert values.text_of(value) == text


def test_others_are_not_shown() -> None:
    assert values.text_of(hostile()()) == ""
    assert values.text_of((hostile()(),)) == "tuple of 1"
    assert values.text_of(HostileDict()) == ""


def test_what_an_iterator_goes_over() -> None:
    numbers, names, waiting = [1, 2], defaultdict(int, a=1), deque([3])
    assert values.iterated(iter(numbers)) is numbers
    assert values.iterated(iter(names.items())) is names
    assert values.iterated(iter(waiting)) is waiting
    assert values.iterated(number for number in numbers) is UNKNOWN
    assert values.iterated(hostile()()) is UNKNOWN


def test_the_library_s_objects_are_looked_into() -> None:
    waiting: queue.Queue[int] = queue.Queue()
    waiting.put(1)
    assert values.state(waiting) == 1
    assert values.state(threading.Event()) is False
    assert values.state(threading.Semaphore(3)) == 3
    assert values.state(object()) is UNKNOWN


def test_the_content_of_a_container_tells_whether_it_was_changed() -> None:
    for container in ([2, 1], {1: 2}, {1, 2}, deque([2, 1])):
        before = contents.content(container)
        assert contents.content(container) == before
        container.clear()  # type: ignore[attr-defined]  # mypy joins these to object
        assert contents.content(container) != before


def test_keys_of_the_program_are_told_by_numbers() -> None:
    """An address would be another one in each run."""
    member = type("Member", (), {})
    first, second = member(), member()
    assert [values.key_text(key) for key in (first, second, first, "x")] == ["Member 1", "Member 2", "Member 1", "'x'"]


class Hashed(tuple):  # type: ignore[type-arg]
    """A key as packages make them: a tuple that keeps its hash."""

    __slots__ = ()

    def __hash__(self) -> int:
        raise AssertionError("the program's own code was run")


class Asked(tuple):  # type: ignore[type-arg]
    __slots__ = ()
    __hash__ = tuple.__hash__

    def __eq__(self, other: object) -> bool:
        raise AssertionError("the program's own code was run")


class Name(str):
    __slots__ = ()


class Number(int):
    pass


class Share(float):
    pass


@pytest.mark.parametrize(
    ("key", "plain"),
    [
        (Hashed(("usd", 2)), ("usd", 2)),
        (Hashed((Name("usd"), Number(2))), ("usd", 2)),
        (Name("usd"), "usd"),
        (Number(2), 2),
        (Share(0.5), 0.5),
    ],
)
def test_keys_that_are_compared_as_built_in_ones_are_the_same_as_those(key: Any, plain: object) -> None:
    assert values.same(key, plain)
    assert values.same(plain, key)
    assert values.item({plain: 7}, key) == 7
    assert values.key_text(key) == values.key_text(plain)
    assert not values.same(key, "another")


def test_keys_that_the_program_compares_are_told_apart_by_what_they_are() -> None:
    one, other = Asked((1,)), Asked((1,))
    assert values.same(one, one)
    assert not values.same(one, other)
    assert not values.same(one, (1,))
    assert values.key_text(one) != values.key_text(other)
    assert not values.plain(Hashed((one,)))


def test_values_in_small_containers_are_shown_as_the_built_in_ones_that_they_equal() -> None:
    assert values.whole_text([Name("a"), Number(2)]) == "['a', 2]"
    assert values.whole_text({Name("a"): Share(0.5)}) == "{'a': 0.5}"
    assert values.text_of((Name("a"), (Number(2),))) == "('a', (2,))"
