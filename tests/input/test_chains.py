"""Chains of records, found without knowing the format."""

from __future__ import annotations

import json
import random
import struct

import pytest

from replay_dd.input.chains import Rule, chains, follow, follow_loosely
from replay_dd.input.lengths import Step
from replay_dd.input.numbers import BINARY

FORMS = {form.name: form for form in BINARY}
GROUPS = FORMS["groups of 7 bits"]


def test_the_best_chain_ends_where_the_stretch_does() -> None:
    records = [struct.pack(">BH", kind, size) + b"\xaa" * size for kind, size in ((1, 5), (2, 9), (1, 3))]
    content = b"head" + b"".join(records) + b"tail"
    (first, *_) = chains(content, (4, len(content) - 4), is_text=False)
    assert (first.rule, first.edges) == (Rule(FORMS["2 bytes, big"], 1), (4, 12, 24, 30))
    assert follow(content, (4, len(content)), first.rule, 0) is None
    assert follow(content, (0, len(content)), first.rule, 4, left=4) is not None


def test_a_row_of_zeros_is_no_chain() -> None:
    assert not [chain for chain in chains(bytes(60), (20, 60), is_text=False) if len(chain.edges) > 6]


def test_ordinary_text_has_no_chain() -> None:
    text = json.dumps({f"name {number}": [number, 10 * number] for number in range(40)}, indent=1).encode()
    assert not [chain for chain in chains(text, (0, len(text)), is_text=True) if chain.bits > 6]


def test_loose_records_leave_as_little_as_possible_between_them() -> None:
    content = b"\x0a\3abc\x10\x99\x1d\x1a\2xy\x20\x13"
    found = follow_loosely(content, (0, len(content)), Rule(GROUPS, 1))
    assert found is not None
    assert found.edges == (0, 8, 12)


def segment(kind: int, body: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, kind, len(body) + 2) + body


def test_other_bytes_may_follow_a_chain_and_a_length_may_count_itself() -> None:
    shades = random.Random(5).randbytes(300)
    segments = [segment(kind, b"\xaa" * size) for kind, size in ((1, 9), (2, 30), (2, 41), (3, 8), (4, 0))]
    content = b"IMG" + b"".join(segments) + b"\xff\xda\xff\xff" + shades
    rule = Rule(FORMS["2 bytes, big"], 2, counts_itself=True)
    (first, *_) = chains(content, (0, len(content)), is_text=False)
    assert (first.rule, first.edges) == (rule, (3, 16, 50, 95, 107, 111))
    assert first.goes_on
    step = Step(rule, 3, 0, goes_on=True)
    assert step.chain(content[:3] + segments[1] + shades, (0, 337)) == follow(
        content[:3] + segments[1] + shades, (0, 337), rule, 3, goes_on=True
    )
    assert Step(rule, 3, 0).chain(content, (0, len(content))) is None


@pytest.mark.parametrize("content", [random.Random(5).randbytes(3000), bytes(300)], ids=["chance", "zeros"])
def test_chance_makes_no_chain_that_other_bytes_follow(content: bytes) -> None:
    assert not [chain for chain in chains(content, (0, len(content)), is_text=False) if chain.goes_on]
