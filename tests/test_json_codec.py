"""The JSON codec: what is written is read, and what does not keep to the schema is named."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple

import pytest

from replay_dd.json_codec import from_plain, to_plain
from replay_dd.json_text import parse, parse_object
from replay_dd.schema import DEEPEST, MOST_ITEMS, Form, numbers, one_of


class Color(enum.Enum):
    RED = "red"


class Pair(NamedTuple):
    left: int
    right: str


def _unhexed(text: Any) -> int:
    return int(text, 16)


@dataclass(frozen=True)
class Inner:
    line: Annotated[int, numbers(1, 9)]


@dataclass(frozen=True)
class Outer:
    name: str
    inner: tuple[Inner, ...] = ()
    count: Annotated[int, numbers(0, 100)] | None = None
    ratio: float = 0.5
    color: Color = Color.RED
    pair: Pair | None = None
    data: bytes = b""
    code: Annotated[int, Form("hexadecimal digits", hex, _unhexed)] = 0
    kinds: Mapping[Annotated[str, one_of("x", "y")], bool] = field(default_factory=dict)
    anything: Any = None


FULL = Outer("n", (Inner(1), Inner(9)), 7, 1.5, Color.RED, Pair(3, "b"), b"\0\xff", 255, {"x": True}, [{"a": None}])


def test_what_is_written_is_read() -> None:
    assert from_plain(Outer, to_plain(FULL)) == FULL
    assert from_plain(Outer, to_plain(FULL, whole=True)) == FULL


def test_defaults_are_left_out_unless_all_is_wanted() -> None:
    assert to_plain(Outer("n")) == {"name": "n"}
    whole = to_plain(Outer("n"), whole=True)
    assert list(whole) == ["name", "inner", "count", "ratio", "color", "pair", "data", "code", "kinds", "anything"]
    assert (whole["color"], whole["pair"], whole["code"]) == ("red", None, "0x0")


def test_unknown_keys_are_ignored() -> None:
    assert from_plain(Outer, {"name": "n", "later": 1}) == Outer("n")


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({}, "`name` is missing"),
        ([], "it must be an object, not an empty list"),
        ({"name": 7}, "`name` must be a text, not 7"),
        ({"name": None}, "`name` must be a text, not null"),
        ({"name": {"a": 1, "b": 2}}, "`name` must be a text, not an object of 2 members"),
        ({"name": "n", "inner": [{"line": 1}, {"line": 10}]}, "`inner[1].line` must be a number from 1 to 9, not 10"),
        ({"name": "n", "inner": [{}]}, "`inner[0].line` is missing"),
        ({"name": "n", "inner": [None] * (MOST_ITEMS + 1)}, "`inner` must be a list of up to 1,000,000 items"),
        ({"name": "n", "count": -1}, "`count` must be a number from 0 to 100, not -1"),
        ({"name": "n", "count": True}, "`count` must be a number from 0 to 100, not true"),
        ({"name": "n", "count": 1.0}, "`count` must be"),
        ({"name": "n", "ratio": float("inf")}, "`ratio` must be a finite number"),
        ({"name": "n", "ratio": 10**400}, "`ratio` must be a finite number"),
        ({"name": "n", "color": "blue"}, "`color` must be one of red, not 'blue'"),
        ({"name": "n", "color": []}, "`color` must be one of red"),
        ({"name": "n", "pair": [1]}, "`pair` must be a list of 2 items, not a list of 1 item"),
        ({"name": "n", "pair": [1, 2]}, "`pair[1]` must be a text, not 2"),
        ({"name": "n", "data": "?"}, "`data` must be bytes in Base64"),
        ({"name": "n", "code": "g"}, "`code` must be hexadecimal digits"),
        ({"name": "n", "kinds": {"z": True}}, "`kinds.z` must be one of x, y"),
        ({"name": "n", "kinds": {"x": 1}}, "`kinds.x` must be true or false, not 1"),
        ({"name": "n", "anything": 2**64}, "`anything` must be an integer of 64 bits"),
        ({"name": "\x1b[2J", "inner": "\x1b[2J\ud800"}, r"not '\x1b[2J\ud800'"),
    ],
)
def test_what_does_not_fit_is_named(given: Any, complaint: str) -> None:
    with pytest.raises(ValueError) as error:
        from_plain(Outer, given)
    assert complaint in str(error.value)


def test_values_of_any_type_have_a_depth() -> None:
    for depth, fits in ((DEEPEST, True), (DEEPEST + 1, False)):
        value: Any = []
        for _ in range(depth - 1):
            value = [value]
        if fits:
            assert from_plain(Any, value) == value
        else:
            with pytest.raises(ValueError, match="nested no deeper than 50"):
                from_plain(Any, value)


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", "[" * 100_000, '{"a":' * 100_000, "1" * 5000, "", "{", "[1] 2"])
def test_texts_that_are_not_json(text: str) -> None:
    with pytest.raises(ValueError, match=r"it is (not JSON|nested too deeply)"):
        parse(text)


def test_lines_that_are_not_objects() -> None:
    for line in (b"[1]", b"7", b"\xff", b'{"a": "\xed\xa0"}'):
        with pytest.raises(ValueError, match="it "):
            parse_object(line)
    assert parse_object('{"a": "\udce9"}'.encode("utf-8", "surrogatepass")) == {"a": "\udce9"}


def test_types_without_a_form_are_a_mistake_of_ours() -> None:
    for kind in (set, int | str, int | str | None, object):
        with pytest.raises(TypeError):
            from_plain(kind, 1)
