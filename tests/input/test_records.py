"""Records of binary files, which say themselves how long they are."""

from __future__ import annotations

import random
import struct
import sys
import zlib

import pytest

from replay_dd.input.levels import default_levels
from replay_dd.input.records import RECORDS, record_edges
from replay_dd.input.reduce import reduce_input
from replay_dd.input.target import Target
from replay_dd.input.units import BYTES


def chunk(kind: bytes, data: bytes, order: str = ">", size: str = "I") -> bytes:
    """As PNG has them: length, kind, data, checksum."""
    return struct.pack(f"{order}{size}4s", len(data), kind) + data + struct.pack(f"{order}I", zlib.crc32(data))


def chunks(*lengths: int, order: str = ">", size: str = "I") -> list[bytes]:
    """Chunks with data of these lengths, the same each time."""
    numbers = random.Random(1)
    return [chunk(b"DATA", numbers.randbytes(length), order, size) for length in lengths]


def edges(pieces: list[bytes]) -> list[int]:
    """Where pieces begin and end."""
    places = [0]
    for piece in pieces:
        places.append(places[-1] + len(piece))
    return places


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("size", "HI")
@pytest.mark.parametrize("header", [b"", b"\x89PNG\r\n\x1a\n"], ids=["no header", "header"])
def test_records_follow_each_other_by_their_lengths(order: str, size: str, header: bytes) -> None:
    pieces = [header, *chunks(30, 7, 0, 255, 1, 90, order=order, size=size)]
    assert [*record_edges(b"".join(pieces))] == sorted(set(edges(pieces)))


def test_records_of_which_only_even_places_are_used() -> None:
    """As in RIFF: a byte is added to an odd length."""
    pieces = [b"RIFF____WAVE"]
    for length in (3, 8, 5, 12, 1, 40):
        pieces.append(b"data" + struct.pack("<I", length) + b"\xab" * (length + length % 2))
    assert [*record_edges(b"".join(pieces))] == edges(pieces)


def test_a_damaged_length_ends_the_records() -> None:
    pieces = [*chunks(*range(10, 70, 3)), struct.pack(">I4s", 0xFFFFFFF0, b"DATA") + b"\xff" * 99]
    assert [*record_edges(b"".join(pieces))] == edges(pieces)
    assert [*record_edges(b"".join(pieces[-4:]))] == [0, len(b"".join(pieces[-4:]))]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0",
        bytes(5000),
        random.Random(2).randbytes(5000),
        b"".join(struct.pack("<h", random.Random(number).randrange(-20, 20)) for number in range(2000)),
    ],
    ids=["empty", "a byte", "zeros", "random", "sound"],
)
def test_files_without_records(content: bytes) -> None:
    assert [*record_edges(content)] == sorted({0, len(content)})


def test_whole_records_are_left_out_first() -> None:
    program = """
import struct, sys, zlib
data = open(sys.argv[1], "rb").read()
if data[:4] != b"FILE":
    sys.exit("no such file")
place = 4
while place < len(data):
    length, kind = struct.unpack_from(">I4s", data, place)
    body = data[place + 8 : place + 8 + length]
    if struct.unpack_from(">I", data, place + 8 + length) != (zlib.crc32(body),):
        sys.exit("bad checksum")
    if kind == b"SIZE":
        struct.unpack("<I", body)
    place += length + 12
"""
    bad = chunk(b"SIZE", b"abc")
    pieces = [b"FILE", *chunks(*range(20, 50)), bad, *chunks(*range(30))]
    content = b"".join(pieces)
    assert default_levels(content) == (RECORDS, BYTES)
    found = reduce_input(content, Target((sys.executable, "-c", program, "{}"), "a.bin"))
    assert found.failing == b"FILE" + chunk(b"SIZE", b"")
    assert found.isolation.tests < 80
