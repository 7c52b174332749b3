"""Pictures of the screen, as PNG files.

Only what is needed for screenshots of true-colour displays is here: PNG (W3C Recommendation, third edition) with eight
bits for each of red, green and blue.
"""

from __future__ import annotations

import contextlib
import hashlib
import struct
import zlib
from pathlib import Path

from replay_dd.events.model import Rectangle
from replay_dd.events.x11.connection import Connection

_ALL_PLANES = 0xFFFFFFFF
_Z_PIXMAP = 2
# GetImage answers with one packet; parts of the screen keep it small.
_ROWS_AT_ONCE = 128


def screenshot(connection: Connection, path: Path, area: Rectangle | None = None) -> bool:
    """Write a picture of the screen, or of a part of it. False where the display cannot be read."""
    area = area or Rectangle(0, 0, *connection.size)
    pixels = pixels_of(connection, area)
    if pixels is None:
        return False
    path.write_bytes(as_png(pixels, area.width_px, area.height_px))
    return True


def picture_in(folder: Path | None, connection: Connection, name: str) -> Path | None:
    """A picture of the screen in a folder; None where none is wanted, or it cannot be had."""
    if folder is None:
        return None
    path = folder / f"{name}.png"
    with contextlib.suppress(OSError):
        if screenshot(connection, path):
            return path
    return None


def fingerprint(connection: Connection, area: Rectangle) -> str:
    """A short hash of what a part of the screen shows; empty where it cannot be read."""
    width, height = connection.size
    left, top = max(area.x_px, 0), max(area.y_px, 0)
    right, bottom = min(area.x_px + area.width_px, width), min(area.y_px + area.height_px, height)
    if right <= left or bottom <= top:
        return ""
    pixels = pixels_of(connection, Rectangle(left, top, right - left, bottom - top))
    return "" if pixels is None else hashlib.sha256(pixels).hexdigest()[:12]


def pixels_of(connection: Connection, area: Rectangle) -> bytes | None:
    """The pixels of a part of the screen: four bytes each, blue, green, red, unused."""
    rows = []
    with connection.watched():
        for top in range(0, area.height_px, _ROWS_AT_ONCE):
            height = min(_ROWS_AT_ONCE, area.height_px - top)
            with contextlib.suppress(*connection.bad_resource):
                image = connection.root.get_image(
                    area.x_px, area.y_px + top, area.width_px, height, _Z_PIXMAP, _ALL_PLANES
                )
                data = image.data if isinstance(image.data, bytes) else str(image.data).encode("latin-1")
                if len(data) == area.width_px * height * 4:
                    rows.append(data)
                    continue
            return None
    return b"".join(rows)


def as_png(pixels: bytes, width_px: int, height_px: int) -> bytes:
    """A PNG file of pixels as :func:`pixels_of` gives them."""
    colours = bytearray(width_px * height_px * 3)
    colours[0::3], colours[1::3], colours[2::3] = pixels[2::4], pixels[1::4], pixels[0::4]
    stride = width_px * 3
    lines = b"".join(b"\0" + colours[row * stride : (row + 1) * stride] for row in range(height_px))
    head = struct.pack(">IIBBBBB", width_px, height_px, 8, 2, 0, 0, 0)
    body = _chunk(b"IHDR", head) + _chunk(b"IDAT", zlib.compress(lines, 6)) + _chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
