"""Screenshots are made smaller without a change to what they show."""

from __future__ import annotations

import struct
import zlib

import pytest

from tools.small_png import _chunks, _predicted, _rows, small_png


def chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def filtered(rows: list[bytes], step: int) -> bytes:
    """The rows of a picture, each with another filter, as the specification says."""
    data = b""
    above = bytes(len(rows[0]))
    for number, row in enumerate(rows):
        kind = number % 5
        data += bytes([kind])
        for place, value in enumerate(row):
            left, corner = (row[place - step], above[place - step]) if place >= step else (0, 0)
            data += bytes([(value - _predicted(kind, left, above[place], corner)) & 255])
        above = row
    return data


@pytest.mark.parametrize(("color_type", "step"), [(2, 3), (6, 4)])
def test_the_picture_stays_the_same(color_type: int, step: int) -> None:
    rows = [bytes((7 * row * place + place**2) & 255 for place in range(5 * step)) for row in range(10)]
    header = struct.pack(">IIBBBBB", 5, 10, 8, color_type, 0, 0, 0)
    packed = zlib.compress(filtered(rows, step), 1)
    png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", packed[:9]) + chunk(b"IDAT", packed[9:])
    small = small_png(png + chunk(b"IEND", b""))
    names = [name for name, _ in _chunks(small)]
    assert names == [b"IHDR", b"IDAT", b"IEND"]
    data = zlib.decompress(_chunks(small)[1][1])
    assert data == b"".join(b"\0" + row for row in rows)
    assert _rows(data, 5 * step, 10, step) == rows


def test_paeth_takes_what_is_nearest() -> None:
    assert [_predicted(4, *near) for near in ((10, 20, 30), (30, 10, 20), (10, 20, 10), (5, 5, 0))] == [10, 20, 20, 5]
