"""Numbers that tell where something in a file begins are corrected when bytes before that are left out."""

from __future__ import annotations

import random
import re
import struct

import pytest

from replay_dd.input.numbers import FIXED, Form
from replay_dd.input.places import binary_places, guesses, rows_between, tells_places, text_places
from tests.input.test_nested import reduced

pytestmark = pytest.mark.once

FORMS = {form.name: form for form in FIXED}


def linked(order: str, size: str) -> bytes:
    """A file that begins with a place, which leads to the next one, and so on."""
    form = struct.Struct(order + size)
    content = bytearray(b"LINK" + bytes(form.size))
    link, random_bytes = 4, random.Random(2)
    for number in range(4):
        content += random_bytes.randbytes(700 + number)
        form.pack_into(content, link, len(content))
        content += b"NODE"
        link = len(content)
        content += bytes(form.size)
    return bytes(content) + random_bytes.randbytes(500)


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("size", "HIQ")
def test_what_places_lead_to_may_move(order: str, size: str) -> None:
    form = struct.Struct(order + size)

    def breaks(content: bytes) -> bool:
        """A program that follows the places, and fails at the third node."""
        link, nodes = 4, 0
        while content.startswith(b"LINK") and len(content) >= link + form.size:
            (at,) = form.unpack_from(content, link)
            if content[at : at + 4] != b"NODE":
                break
            link, nodes = at + 4, nodes + 1
            if nodes == 3:
                return True
        return False

    left, tests = reduced(linked(order, size), breaks)
    assert breaks(left)
    # Nothing but the numbers and the names; what follows a short number may be read as its end.
    assert len(left) <= 4 + 3 * (4 + max(form.size, 4))
    assert tests < 2500


OBJECTS = [b"(%d is a page of the report)" % number for number in range(1, 8)]


def with_table() -> bytes:
    content, places = b"%TABLE\n", []
    for number, text in enumerate(OBJECTS, 1):
        places.append(len(content))
        content += b"%d obj\n%s\nend\n" % (number, text)
    table = b"".join(b"%010d n\n" % place for place in places)
    return content + b"table %d\n%s" % (len(places), table) + b"start %d\n" % len(content)


def refuses(content: bytes) -> bool:
    """A program that goes by the table, and fails at the fifth object."""
    start = re.search(rb"start (\d+)\n*\Z", content)
    if start is None or not content[int(start[1]) :].startswith(b"table "):
        return False
    places = re.findall(rb"^(\d{10}) n$", content[int(start[1]) :], re.MULTILINE)
    return any(content[int(place) :].startswith(b"5 obj\n(") for place in places)


def test_places_of_lines_in_a_text_are_corrected() -> None:
    left, _ = reduced(with_table(), refuses)
    assert refuses(left)
    assert len(left) < 60
    assert re.search(rb"\d{10} n", left)


def test_only_a_text_with_numbers_of_a_fixed_width_tells_places() -> None:
    content = with_table()
    places = text_places(content)
    assert [int(content[slice(*one.number)]) for one in places] == [one.counted[1] for one in places]
    assert len(places) == len(OBJECTS) + 1
    assert tells_places(content)
    assert not tells_places(content.replace(b"0" * 6, b""))
    assert not tells_places(content + b"000009 " * 12), "by chance"
    assert not tells_places(b"one\n" * 30 + b"40\n44\n48\n52\n56\n")


def test_numbers_do_not_overlap_and_lead_to_something() -> None:
    form: Form = FORMS["4 bytes, little"]
    content = bytearray(400)
    content[0:4] = b"LINK"
    struct.pack_into("<I", content, 4, 0x12C)
    content[0x12C:0x130] = b"NODE"
    (place,) = binary_places(bytes(content), form)
    assert (place.number, place.counted) == ((4, 8), (0, 0x12C))
    assert rows_between(bytes(content), [place])[-6:] == [0x12C, 0x12D, 0x12E, 0x12F, 0x130, 400]
    assert dict(guesses(bytes(content)))[form] == (8, 0x12C)
    assert not list(guesses(bytes(400)))
    assert not binary_places(b"\7" + bytes(300), form), "no place leads to the first bytes"
