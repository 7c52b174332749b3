"""Pickles, whose values are left out, and whose references are written out."""

from __future__ import annotations

import collections
import decimal
import pickle
from typing import Any

import pytest

from replay_dd.dd import EMPTY
from replay_dd.experiment.ending import Oracle
from replay_dd.input.circumstance import InputUnits
from replay_dd.input.levels import course
from replay_dd.input.pickles import Pickles
from replay_dd.input.space import Cuts, Rewritten
from replay_dd.input.target import Target
from tests.input.test_nested import reduced

pytestmark = pytest.mark.once
PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)


class NoNumber:
    """Pickled, it is a number that cannot be made."""

    def __reduce__(self) -> tuple[Any, ...]:
        return decimal.Decimal, ("12a",)


def document() -> dict[str, Any]:
    shared = [1, ["x"]]
    rows = [
        {"name": f"n{number}", "pair": (number, "in"), "ordered": collections.OrderedDict(a=1), "shared": shared}
        for number in range(6)
    ]
    return {"rows": rows, "shared": shared, "empty": [[], {}], "set": {1, 2}, "long": "z" * 300, "huge": 10**30}


def known(content: bytes) -> Pickles:
    found = Pickles.of(content)
    assert found is not None
    return found


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_plain_pickles_make_the_same_values_and_share_them(protocol: int) -> None:
    content = pickle.dumps(document(), protocol)
    plain = known(content).plain(content)
    made = pickle.loads(plain)
    assert made == document()
    assert made["shared"] is made["rows"][0]["shared"] is made["rows"][5]["shared"]
    assert plain.count(b"name") == 6
    assert known(plain).plain(plain) == plain


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_any_element_can_be_left_out(protocol: int) -> None:
    whole = {"rows": [{"name": "x", "pair": (1, (), ("in", 2.5, None))}, [], [[3]]], "set": {1, 2}, "more": b"abc" * 99}
    content = pickle.dumps(whole, protocol)
    pickles = known(content)
    content = pickles.plain(content)
    (top,) = pickles.top(content)
    assert (top.start, top.stop) == (0, len(content))
    cuts = [cut for value in top.all() for cut in value.elements()]
    left = [pickle.loads(without(pickles, content, cut)) for cut in cuts]
    for expected in (
        {**whole, "rows": [[], [[3]]]},
        {**whole, "rows": [*whole["rows"][:2], [[]]]},
        {**whole, "rows": [{"name": "x", "pair": (1, ())}, *whole["rows"][1:]]},
        {**whole, "rows": [{"name": "x", "pair": (1, (), ("in", None))}, *whole["rows"][1:]]},
        {"set": {1, 2}, "more": b"abc" * 99},
    ):
        assert expected in left


def without(pickles: Pickles, content: bytes, *cuts: tuple[int, int]) -> bytes:
    return pickles.mended(Cuts(content, "value", [[cut] for cut in cuts])).build(EMPTY)


def test_lengths_of_strings_are_right_for_what_is_left() -> None:
    content = pickle.dumps(["x" * 300, "y" * 10, b"z" * 10, 10**40], 4)
    pickles = known(content)
    first, second, third = content.index(b"xx"), content.index(b"yy"), content.index(b"zz")
    left = without(pickles, content, (first, first + 299), (second, second + 10), (third, third + 9))
    assert pickle.loads(pickles.plain(left)) == ["x", "", b"z", 10**40]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_pickle_is_reduced_to_the_value_that_cannot_be_made(protocol: int) -> None:
    def fails(content: bytes) -> bool:
        try:
            pickle.loads(content)
        except decimal.InvalidOperation:
            return True
        except Exception:
            return False
        return False

    whole = document()
    whole["rows"][3]["ordered"] = [decimal.Decimal(4), NoNumber(), decimal.Decimal(5)]
    left, tests = reduced(pickle.dumps(whole, protocol), fails)
    smallest = {0: b"cdecimal\nDecimal\n(V\ntR", 1: b"cdecimal\nDecimal\n(X\0\0\0\0tR"}
    smallest |= {2: b"cdecimal\nDecimal\nX\0\0\0\0\x85R", 3: b"cdecimal\nDecimal\nX\0\0\0\0\x85R"}
    assert left == smallest.get(protocol, b"\x8c\x07decimal\x8c\x07Decimal\x93\x8c\0\x85R")
    assert tests < 200


def test_several_pickles_in_one_file_lose_whole_ones() -> None:
    content = b"".join(pickle.dumps([number, "text"]) for number in range(8))
    left, _ = reduced(content, lambda left: b"K\x05" in left and left.endswith(b"."))
    assert left == b"K\x05."


def test_pickles_that_end_early_are_read_as_far_as_that_goes() -> None:
    content = pickle.dumps([1, {"a": (2, 3)}])
    names = [value.name for value in known(content).top(content[:-3])]
    assert names == ["EMPTY_LIST", "BININT1", "EMPTY_DICT", "SHORT_BINUNICODE", "TUPLE2"]
    assert known(content).top(b"N0R.") == []


@pytest.mark.parametrize(
    "content",
    [b"", b".", b"N.", b"some text.", b"I1\n.", pickle.dumps([1, 2, 3, 4])[:-1], b"K1" * 9 + b"tR.", b"S'\\q'\n."],
)
def test_what_is_not_read_to_its_end_is_no_pickle(content: bytes) -> None:
    assert Pickles.of(content) is None


def test_what_was_rewritten_stands_for_all_that_it_came_from() -> None:
    content = pickle.dumps(document())
    searches = course(content, None, None)
    next(searches)
    space = searches.send((b"", content))
    assert isinstance(space, Rewritten)
    assert (space.build(space.all), len(space.build(EMPTY)) > len(content)) == (content, True)
    units = InputUnits(
        Target(("true",), "input"), Oracle(), space, lambda: searches, isolate=False, algorithm="bisection"
    )
    assert units.bytes_kept(EMPTY).count == len(content)
