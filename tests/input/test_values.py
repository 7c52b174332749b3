"""Values of MessagePack and CBOR, whose numbers of elements are corrected."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from replay_dd.dd import EMPTY
from replay_dd.input.space import Cuts
from replay_dd.input.values import Values
from tests.input.test_nested import MalformedError, reduced

pytestmark = pytest.mark.once


def packed(value: Any) -> bytes:
    """MessagePack, as far as these tests need it."""
    if value is None or isinstance(value, int):
        return b"\xc0" if value is None else b"\xcd" + value.to_bytes(2, "big")
    size = len(value)
    if isinstance(value, str):
        return (bytes([0xA0 | size]) if size < 32 else b"\xd9" + bytes([size])) + value.encode()
    short, long = (0x80, b"\xde") if isinstance(value, dict) else (0x90, b"\xdc")
    inside = b"".join(map(packed, value)) if isinstance(value, list) else pairs(value, packed)
    return (bytes([short | size]) if size < 16 else long + size.to_bytes(2, "big")) + inside


def concise(value: Any) -> bytes:
    """CBOR, as far as these tests need it."""
    if value is None:
        return b"\xf6"
    if isinstance(value, int):
        return b"\x19" + value.to_bytes(2, "big")
    size, kind = len(value), {str: 3, list: 4, dict: 5}[type(value)]
    head = bytes([kind << 5 | size]) if size < 24 else bytes([kind << 5 | 24, size])
    if isinstance(value, str):
        return head + value.encode()
    return head + (b"".join(map(concise, value)) if isinstance(value, list) else pairs(value, concise))


def pairs(value: dict[Any, Any], written: Callable[[Any], bytes]) -> bytes:
    return b"".join(written(key) + written(one) for key, one in value.items())


def read(content: bytes) -> Any:
    """The only value of a file of MessagePack: whatever is missing, or left over, makes it malformed."""
    value, place = _read(content, 0)
    if place != len(content):
        raise MalformedError
    return value


def _read(content: bytes, place: int) -> tuple[Any, int]:
    def number(size: int) -> int:
        if place + 1 + size > len(content):
            raise MalformedError
        return int.from_bytes(content[place + 1 : place + 1 + size], "big")

    if place >= len(content):
        raise MalformedError
    first = content[place]
    if first < 0x80 or first == 0xC0:
        return (None if first == 0xC0 else first), place + 1
    if first == 0xCD:
        return number(2), place + 3
    if 0xA0 <= first < 0xC0 or first == 0xD9:
        size, place = (first & 0x1F, place + 1) if first < 0xC0 else (number(1), place + 2)
        if place + size > len(content):
            raise MalformedError
        return content[place : place + size].decode("latin-1"), place + size
    if first < 0xA0 or first in (0xDC, 0xDE):
        count, begins = (first & 0x0F, place + 1) if first < 0xA0 else (number(2), place + 3)
        is_mapping = first < 0x90 or first == 0xDE
        inside, place = [], begins
        for _ in range(count << is_mapping):
            value, place = _read(content, place)
            inside.append(value)
        return (dict(zip(map(str, inside[::2]), inside[1::2], strict=True)) if is_mapping else inside), place
    raise MalformedError


def orders(generator: random.Random, guilty: int) -> dict[str, Any]:
    words = ["catalog", "payments", "shipping", "customer", "address"]
    listed = [
        {"customer": generator.choice(words), "price": number, "lines": generator.sample(range(65000), number % 5)}
        for number in range(25)
    ]
    listed[guilty]["price"] = None
    return {"shop": generator.choice(words), "orders": listed, "day": 12, "long": "of text " * 5}


def test_a_document_is_reduced_to_the_values_that_matter() -> None:
    def fails(content: bytes) -> bool:
        try:
            value = read(content)
        except MalformedError:
            return False
        listed = value.get("orders", []) if isinstance(value, dict) else []
        return isinstance(listed, list) and any(isinstance(one, dict) and one.get("price", 0) is None for one in listed)

    content = packed(orders(random.Random(1), 11))
    left, tests = reduced(content, fails)
    assert left == packed({"orders": [{"price": None}]})
    assert tests < 200


def test_a_value_takes_the_place_of_those_around_it() -> None:
    def fails(content: bytes) -> bool:
        try:
            return "bad" in str(read(content))
        except MalformedError:
            return False

    assert reduced(packed([1, {"a": [2, {"b": ["bad", 5]}]}, 3, 4]), fails)[0] == packed("bad")


def without(content: bytes, *gone: bytes) -> bytes:
    """What is left without these parts of a file, each of which it has once."""
    values = Values.of(content)
    assert values is not None
    cuts = [[(content.index(part), content.index(part) + len(part))] for part in gone]
    return values.mended(Cuts(content, "value", cuts)).build(EMPTY)


@pytest.mark.parametrize("written", [packed, concise])
def test_numbers_of_elements_and_characters_are_right_for_what_is_left(written: Callable[[Any], bytes]) -> None:
    whole = {"a": list(range(1000, 1040)), "b": {"c": "x" * 40 + "y" * 10}, "d": [[]]}
    gone = [written(number) for number in range(1000, 1030)]
    left = {"a": list(range(1030, 1040)), "b": {"c": "y" * 10}, "d": [[]]}
    assert without(written(whole), *gone, b"x" * 40) == written(left)
    assert without(written(whole), written("a") + written(whole["a"])) == written({"b": whole["b"], "d": [[]]})


def test_values_up_to_an_end_mark_are_not_counted() -> None:
    content = b"\x9f\x01\x82\x02\x03\xbf\x61a\x04\x61b\x05\xff\xff"
    assert without(content, b"\x01", b"\x02", b"\x61a\x04") == b"\x9f\x81\x03\xbf\x61b\x05\xff\xff"


def test_all_kinds_of_values_are_known_by_their_first_bytes() -> None:
    whole = [b"\xc0", b"\xc2", b"\x05", b"\xe0", b"\xc4\x01a", b"\xc7\x02\x01ab"]
    whole += [b"\xca" + bytes(4), b"\xcb" + bytes(8)]
    whole += [b"\xcc\x01", b"\xcf" + bytes(8), b"\xd0\x01", b"\xd3" + bytes(8), b"\xd4\x01a", b"\xd8\x01" + bytes(16)]
    content = b"\xdc\x00" + bytes([len(whole)]) + b"".join(whole)
    values = Values.of(content)
    assert values is not None
    (top,) = values.top(content)
    assert [content[start:stop] for start, stop in top.elements()] == whole
    tagged = b"\x85\xc1\x1a" + bytes(4) + b"\xf5\xf9\x00\x00\xfb" + bytes(8) + b"\x20"
    assert Values.of(tagged) is not None


@pytest.mark.parametrize(
    "content", [b"", b"some text", b"\x94\x01\x02\x03", b"\x93\x01\x02\x03\x04", b"\x91\x01", bytes(30)]
)
def test_what_is_not_read_to_its_end_as_lists_is_no_such_file(content: bytes) -> None:
    assert Values.of(content) is None


def test_a_file_that_only_looks_like_values_is_searched_as_any_other() -> None:
    content = b"\x95\x01\x02\x03\x04\x05"
    left, _ = reduced(content, lambda left: left.startswith(b"\x95\x01\x02") and left.endswith(b"\x05"))
    assert left == b"\x95\x01\x02\x05"


def test_values_that_are_cut_short_or_too_deep_are_read_as_far_as_that_goes() -> None:
    values = Values.of(packed([1, 2, [3, "four"]]))
    assert values is not None
    (top,) = values.top(packed([1, 2, [3, "four"]])[:-2])
    assert (top.is_whole, len(top.inside), len(top.inside[2].inside)) == (False, 3, 2)
    (top,) = values.top(b"\x91" * 5000)
    assert not top.is_whole
