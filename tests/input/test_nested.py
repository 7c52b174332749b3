"""Records inside of records, whose lengths are corrected."""

from __future__ import annotations

import json
import random
import struct
import zlib
from collections.abc import Callable

import pytest

from replay_dd.dd import EMPTY
from replay_dd.input.chains import Rule
from replay_dd.input.lengths import Lengths, Step
from replay_dd.input.levels import course
from replay_dd.input.mended import Mended
from replay_dd.input.numbers import BINARY, TEXT, Form
from replay_dd.input.space import Cuts, Kept
from replay_dd.input.sweep import Sweep
from replay_dd.input.units import BYTES
from replay_dd.outcome import Outcome

pytestmark = pytest.mark.once

Test = Callable[[bytes], bool]
FORMS = {form.name: form for form in (*BINARY, *TEXT)}
GROUPS, DECIMAL = FORMS["groups of 7 bits"], FORMS["decimal digits"]


def reduced(content: bytes, fails: Test) -> tuple[bytes, int]:
    """What a search leaves of a file, and how many different files it tries; without processes."""
    tried: dict[bytes, bool] = {}

    def test(candidate: bytes) -> bool:
        if candidate not in tried:
            tried[candidate] = fails(candidate)
        return tried[candidate]

    assert test(content)
    searches = course(content, None, None)
    space = next(searches)
    while True:
        left = space.build(EMPTY)
        if not test(left):
            sweep = Sweep(space.all)
            while (asked := sweep.ask()) is not None:
                sweep.tell(Outcome.FAIL if test(space.build(asked)) else Outcome.PASS)
            left = space.build(sweep.c_fail)
        assert test(left)
        try:
            space = searches.send((b"", left))
        except StopIteration:
            return left, len(tried)


class MalformedError(Exception):
    """A file cannot be read."""


def body_of(content: bytes, number: Form, place: int, more: int = 0) -> tuple[bytes, bytes, bytes]:
    """The kind of a record, what its length counts, and what follows."""
    read = number.read(content, place)
    if read is None or read[1] + read[0] + more > len(content):
        raise MalformedError
    value, start = read
    return content[:place], content[start : start + value], content[start + value + more :]


# -- numbers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "old", "value", "smaller", "new"),
    [
        ("4 bytes, big", b"\0\0\1\2", 258, 7, b"\0\0\0\7"),
        ("2 bytes, little", b"\2\1", 258, 7, b"\7\0"),
        ("3 bytes, big", b"\0\1\2", 258, 7, b"\0\0\7"),
        ("groups of 7 bits", b"\x82\x02", 258, 7, b"\7"),
        ("groups of 7 bits", b"\xff\xff\x03", 65535, 300, b"\xac\x02"),
        ("decimal digits", b"258", 258, 7, b"7"),
        ("decimal digits", b"0258", 258, 7, b"0007"),
        ("hexadecimal digits", b"1fa", 506, 31, b"1f"),
        ("hexadecimal digits", b"1FA", 506, 31, b"1F"),
    ],
)
def test_a_smaller_number_takes_the_place_of_a_number(
    name: str, old: bytes, value: int, smaller: int, new: bytes
) -> None:
    form = FORMS[name]
    assert form.read(b"  " + old, 2) == (value, 2 + len(old))
    assert form.write(smaller, old) == new


@pytest.mark.parametrize("name", FORMS)
def test_there_is_no_number_behind_the_end(name: str) -> None:
    assert FORMS[name].read(b"1", 1) is None


# -- corrections -----------------------------------------------------------------------------------------------------


def test_lengths_and_checksums_are_right_for_what_is_left() -> None:
    inner = b"".join(struct.pack("<H", len(word)) + word for word in (b"one", b"three", b"five"))
    body = b"DATA" + inner
    content = struct.pack(">I", len(inner)) + body + struct.pack(">I", zlib.crc32(body))
    lengths = Lengths()
    lengths.steps = [
        Step(Rule(FORMS["4 bytes, big"], 0, more=8), 0, 0),
        Step(Rule(FORMS["2 bytes, little"], 0), 4, 0),
    ]
    word = content.index(b"\5\0three")
    space = lengths.mended(Cuts(content, "record", [[(word, word + 7)]]))
    inner = inner.replace(b"\5\0three", b"")
    body = b"DATA" + inner
    assert space.build(EMPTY) == struct.pack(">I", len(inner)) + body + struct.pack(">I", zlib.crc32(body))
    assert space.build(space.all) == content


def test_a_shorter_number_counts_for_outer_ones() -> None:
    inside = b"10:" + b"x" * 10 + b","
    content = b"%d:%s," % (len(inside), inside)
    lengths = Lengths()
    lengths.steps = [Step(Rule(DECIMAL, 0, more=2), 0, 0), Step(Rule(DECIMAL, 0, more=2), 1, 1)]
    space = lengths.mended(Cuts(content, "record", [[(7, 8)]]))
    assert isinstance(space, Mended)
    assert space.build(EMPTY) == b"12:9:xxxxxxxxx,,"
    assert space.kept(EMPTY).count == len(space.build(EMPTY))


def test_what_is_not_known_is_not_corrected() -> None:
    space = Kept(b"\2ab", BYTES)
    assert Lengths().mended(space) is space


# -- searches --------------------------------------------------------------------------------------------------------


def boxes(content: bytes) -> None:
    """Kind, two bytes of length, body; kind 9 holds more of them."""
    while content:
        kind, body, content = body_of(content, FORMS["2 bytes, big"], 1)
        if kind == b"\x09":
            boxes(body)
        elif kind == b"\x07" and b"\xff" in body:
            raise ValueError


def messages(content: bytes, *, inside: bool = False) -> None:
    """Fields of which only some have a length; the length is of variable size."""
    while content:
        if content[0] & 7 == 0:
            read = GROUPS.read(content, 1)
            if read is None:
                raise MalformedError
            content = content[read[1] :]
        elif content[0] & 7 == 2:
            kind, body, content = body_of(content, GROUPS, 1)
            if kind == b"\x12":
                if inside and body.endswith(b"\xff"):
                    raise ValueError
                if not inside:
                    messages(body, inside=True)
        else:
            raise MalformedError


def chunked(content: bytes) -> None:
    """Length, kind, body, checksum; the body of kind PROF is kind, length, body."""
    while content:
        length = int.from_bytes(content[:4], "big")
        body, checksum = content[8 : 8 + length], content[8 + length : 12 + length]
        if zlib.crc32(content[4 : 8 + length]).to_bytes(4, "big") != checksum:
            raise MalformedError
        inner = body if content[4:8] == b"PROF" else b""
        while inner:
            kind, value, inner = body_of(inner, FORMS["2 bytes, little"], 2)
            if kind == b"SZ" and len(value) < 4:
                raise ValueError
        content = content[12 + length :]


def posted(content: bytes) -> None:
    """A request: the number in its header counts what comes behind an empty line."""
    header, found, body = content.partition(b"\r\n\r\n")
    if not found or b"length: %d" % len(body) not in header:
        raise MalformedError
    try:
        orders = json.loads(body)
    except ValueError:
        raise MalformedError from None
    if not isinstance(orders, list):
        raise MalformedError
    if any(isinstance(order, dict) and order.get("count") == -1 for order in orders):
        raise ValueError


def strings(content: bytes) -> None:
    """Netstrings in netstrings."""
    while content:
        read = DECIMAL.read(content, 0)
        if read is None:
            raise MalformedError
        size, start = read
        value, end = content[start + 1 : start + 1 + size], start + 1 + size
        if content[start : start + 1] != b":" or content[end : end + 1] != b",":
            raise MalformedError
        content = content[end + 1 :]
        if value[:1].isdigit():
            strings(value)
        elif value.startswith(b"?"):
            raise ValueError


def media(content: bytes) -> None:
    """A file that is one record, with a list in it; records begin at even places."""
    little = FORMS["4 bytes, little"]
    kind, body, rest = body_of(content, little, 4)
    if kind != b"FILE" or rest or body[:4] != b"SONG":
        raise MalformedError
    waiting = [body[4:]]
    while waiting:
        left = waiting.pop()
        while left:
            kind, value, left = body_of(left, little, 4)
            left = left[len(value) % 2 :]
            if kind == b"LIST":
                waiting.append(value[4:])
            elif not value.isascii():
                raise ValueError


def picture(content: bytes) -> None:
    """Segments whose lengths count themselves, up to one that the data of the picture follow."""
    if content[:3] != b"IMG":
        raise MalformedError
    place = 3
    while content[place : place + 2] != b"\xff\xda":
        size, start = FORMS["2 bytes, big"].read(content, place + 2) or (0, 0)
        if content[place : place + 1] != b"\xff" or size < 2:
            raise MalformedError
        if content[place + 1] == 7 and b"\xee" in content[start : start + size - 2]:
            raise ValueError
        place += 2 + size


def segment(kind: int, body: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, kind, len(body) + 2) + body


def box(kind: int, body: bytes) -> bytes:
    return struct.pack(">BH", kind, len(body)) + body


def piece(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def even(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack("<I", len(body)) + body + b"\0" * (len(body) % 2)


def netstring(body: bytes) -> bytes:
    return b"%d:%s," % (len(body), body)


def field(kind: bytes, body: bytes) -> bytes:
    return kind + GROUPS.write(len(body), b"\xff\xff") + body


def message(body: bytes) -> bytes:
    return field(b"\x0a", body[:5]) + b"\x10\x99\x1d" + field(b"\x12", body) + b"\x20\5"


SOME = [bytes(range(40, 40 + 3 * size)) for size in (2, 5, 3, 7, 4)]
ORDERS = json.dumps([{"id": number, "count": -1 if number == 3 else number} for number in range(8)]).encode()


@pytest.mark.parametrize(
    ("read", "content", "left", "most_tests"),
    [
        (
            boxes,
            b"".join(box(1, one) for one in SOME)
            + box(
                9, b"".join(box(2, one) for one in SOME) + box(9, box(3, SOME[0]) + box(7, b"ab\xffc")) + box(3, b"")
            ),
            box(7, b"\xff"),
            80,
        ),
        (
            messages,
            b"".join(field(b"\x12", message(one + b"\xff" * (one == SOME[3]))) for one in SOME),
            field(b"\x12", field(b"\x12", b"\xff")),
            80,
        ),
        (
            chunked,
            b"".join(piece(b"DATA", one) for one in SOME)
            + piece(
                b"PROF",
                b"".join(b"AB" + struct.pack("<H", len(one)) + one for one in SOME) + b"SZ\3\0abc" + b"CD\1\0d",
            )
            + piece(b"DATA", b""),
            piece(b"PROF", b"SZ\0\0"),
            80,
        ),
        (
            strings,
            netstring(
                b"".join(
                    netstring(netstring(b"key") + netstring(b"?" if number == 6 else b"value %d" % number))
                    for number in range(12)
                )
            ),
            netstring(b"?"),
            100,
        ),
        (
            media,
            even(
                b"FILE",
                b"SONG"
                + even(b"DATA", SOME[0])
                + even(b"LIST", b"INFO" + even(b"NAME", b"words") + even(b"TEXT", b"a\xff") + even(b"KIND", b"jazz"))
                + even(b"DATA", SOME[4]),
            ),
            b"FILE\r\0\0\0SONGTEXT\1\0\0\0\xff",
            80,
        ),
        (
            picture,
            b"IMG"
            + b"".join(segment(kind, one) for kind, one in enumerate(SOME))
            + segment(7, SOME[3] + b"\xee" + SOME[1])
            + segment(9, SOME[0])
            + b"\xff\xda\0\4ab"
            + random.Random(5).randbytes(300),
            b"IMG\xff\x07\0\3\xee",
            60,
        ),
        (
            posted,
            b"POST /orders\r\nhost: shop\r\nlength: %d\r\n\r\n%s" % (len(ORDERS), ORDERS),
            b'length: 14\r\n\r\n[{"count":-1}]',
            150,
        ),
    ],
    ids=["boxes", "messages", "chunks", "netstrings", "media", "picture", "request"],
)
def test_records_inside_of_records_are_left_out(
    read: Callable[[bytes], None], content: bytes, left: bytes, most_tests: int
) -> None:
    def fails(candidate: bytes) -> bool:
        try:
            read(candidate)
        except MalformedError:
            return False
        except ValueError:
            return True
        return False

    found, tests = reduced(content, fails)
    assert (found, tests <= most_tests) == (left, True), tests
