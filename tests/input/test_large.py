"""What is left out of a large file before all of it is looked into."""

from __future__ import annotations

import random
import struct

import pytest

from replay_dd.dd import IntervalSet
from replay_dd.input import levels, records
from replay_dd.input.levels import course
from replay_dd.input.units import BYTES
from tests.input.test_nested import reduced

pytestmark = pytest.mark.once


def test_a_large_file_first_loses_parts_of_equal_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(levels, "LARGE", 1_000)
    lines = [b"line %d\n" % number for number in range(1_000)]
    content = b"".join([*lines[:700], b"here (BOOM) is\n", *lines[700:]])
    searches = course(content, None, None)
    space = next(searches)
    assert (space.unit, space.all.count) == ("part", 64)
    assert all(space.build(space.all - IntervalSet.of([number])).endswith(b"\n") for number in space.all)
    left, tests = reduced(content, lambda text: b"BOOM" in text)
    assert left == b"BOOM"
    assert tests < 60


def test_parts_are_left_out_only_as_long_as_that_halves_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(levels, "LARGE", 1_000)
    searches = course(b"line\n" * 1_000, None, None)
    space = next(searches)
    assert searches.send((b"", space.build(space.all))).unit != "part"
    again = course(b"line\n" * 1_000, None, None)
    next(again)
    assert again.send((b"", b"line\n" * 300)).unit == "part"


def test_records_of_a_large_file_come_before_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(levels, "LARGE", 1_000)
    content = b"".join(b"KIND" + struct.pack(">I", 40) + bytes(40) for _ in range(50))
    assert next(course(content, None, None)).unit == "record"
    assert next(course(content, None, [BYTES])).unit == "byte"


def test_chance_is_not_followed_through_a_whole_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first records tell that they are of no few kinds."""
    asked: list[int] = []

    def few(content: bytes, starts: list[int], rule: records._Rule, whole: bool) -> bool:
        asked.append(len(starts))
        return is_of_few_kinds(content, starts, rule, whole)

    is_of_few_kinds = records._is_of_few_kinds
    monkeypatch.setattr(records, "_is_of_few_kinds", few)
    chance = random.Random(3)
    sizes = [chance.randrange(4, 40) for _ in range(400)]
    content = b"".join(chance.randbytes(4) + struct.pack(">H", size) + chance.randbytes(size) for size in sizes)
    assert [*records.record_edges(content)] == [0, len(content)]
    assert max(asked) == 64
