"""Pickles, whose values are left out, and whose references are written out."""

from __future__ import annotations

import collections
import decimal
import pickle
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from replay_dd.circumstance import Goal
from replay_dd.dd import EMPTY, IntervalSet
from replay_dd.experiment.ending import Ending, Oracle
from replay_dd.input.circumstance import InputUnits
from replay_dd.input.levels import course
from replay_dd.input.pickles import Pickles
from replay_dd.input.reduce import InputIsolation, reduce_input
from replay_dd.input.several import reduce_all
from replay_dd.input.space import Cuts, Rewritten
from replay_dd.input.target import Target
from replay_dd.outcome import Outcome
from replay_dd.report.input_several import _rest_in_words
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
def test_plain_pickles_make_the_same_values_and_share_them_or_not(protocol: int) -> None:
    content = pickle.dumps(document(), protocol)
    ways = list(known(content).plain(content))
    for plain in ways:
        assert pickle.loads(plain) == document()
        assert plain.count(b"name") == 6
        assert plain in known(plain).plain(plain)
    apart, shared = map(pickle.loads, ways)
    assert shared["shared"] is shared["rows"][0]["shared"] is shared["rows"][5]["shared"]
    assert len({id(row["shared"]) for row in (apart, *apart["rows"])}) == 7
    assert list(known(ways[0]).plain(ways[0])) == [ways[0], ways[0]]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_is_within_itself_is_not_written_again(protocol: int) -> None:
    inner: list[Any] = [1]
    inner.append([inner])
    apart: Any
    content = pickle.dumps([inner, inner, {}, {}], protocol)
    apart, shared = map(pickle.loads, known(content).plain(content))
    assert shared[0] is shared[1]
    assert apart[0] is not apart[1]
    for one in apart[:2]:
        assert one[0] == 1
        assert one[1][0] is one


def test_pickles_do_not_grow_without_end() -> None:
    """Each list has the one before it twice: with nothing shared, it would be 2**40 lists."""
    value: list[Any] = []
    for _ in range(40):
        value = [value, value]
    content = pickle.dumps(value)
    pickles = known(content)
    for _ in range(2):
        content = next(pickles.plain(content))
    assert 1 << 15 < len(content) < 1 << 17


def test_the_value_that_another_one_uses_first_is_left_out() -> None:
    shared = ["x", 7]
    rows: list[dict[str, Any]] = [{"number": number, "tags": shared} for number in range(20)]
    rows[13]["number"] = None
    content = pickle.dumps(rows)

    def fails(content: bytes) -> bool:
        try:
            return any(row["number"] is None and 7 in row["tags"] for row in pickle.loads(content))
        except Exception:
            return False

    left, tests = reduced(content, fails)
    assert pickle.loads(left) == [{"number": None, "tags": [7]}]
    assert tests < 200


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_any_element_can_be_left_out(protocol: int) -> None:
    whole = {"rows": [{"name": "x", "pair": (1, (), ("in", 2.5, None))}, [], [[3]]], "set": {1, 2}, "more": b"abc" * 99}
    content = pickle.dumps(whole, protocol)
    pickles = known(content)
    content = next(pickles.plain(content))
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
    assert pickle.loads(next(pickles.plain(left))) == ["x", "", b"z", 10**40]


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


def test_what_else_a_rewritten_pickle_shows_is_not_known() -> None:
    whole = b"a pickle"
    circumstance = SimpleNamespace(goal=Goal.SIMPLIFY)
    isolation: Any = SimpleNamespace(complete=True, circumstance=circumstance, tests=1)
    ending = Ending(Outcome.FAIL, "another", "another failure")

    def answer(failing: bytes) -> InputIsolation:
        return InputIsolation(isolation, whole, failing, None, ending, kept=IntervalSet.range(0, len(whole)))

    assert not answer(whole).is_rewritten
    several = reduce_all(whole, Target(("true",), "input"), Oracle(), lambda *_: answer(b"other"))
    assert (len(several.found), several.rest) == (1, None)
    assert "in another way" in _rest_in_words(several)


@pytest.mark.parametrize("write", [pickle.dumps, lambda values: pickle.dumps(values, 0)])
def test_all_failures_of_a_pickle_are_found_though_it_is_written_out_first(write: Callable[[Any], bytes]) -> None:
    orders = [{"day": "2024-01-11", "items": [("ink", 2), ("pen", 3)]} for _ in range(6)]
    orders[1]["day"] = "2024-13-11"
    orders[4]["items"] = [("ink", 1), ("pen", "many")]
    program = (
        "import datetime, pickle, sys\n"
        "data = pickle.load(open(sys.argv[1], 'rb'))\n"
        "for order in data: datetime.date.fromisoformat(order.get('day', '2024-01-01'))\n"
        "for order in data:\n"
        "    for name, count in order.get('items', ()): count + 1\n"
    )
    target = Target((sys.executable, "-c", program, "{}"), "orders.pickle")
    several = reduce_all(write(orders), target, Oracle(), lambda content, *_: reduce_input(content, target))
    first, second = (pickle.loads(one.failing) for one in several.found)
    assert first == [{"day": "2024-13-11"}]
    assert [len(pair) for order in second for pair in order["items"]] == [2]
    assert several.rest is not None
    assert several.rest.verdict is Outcome.PASS
