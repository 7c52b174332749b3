"""Configurations as files."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from replay_dd.dd import EMPTY, IntervalSet
from replay_dd.input.space import Changed, Kept, lines_shown, shown
from replay_dd.input.units import BYTES, CHARACTERS, LINES

TEXTS = st.text("ab\n", max_size=20).map(str.encode)


@given(TEXTS, st.sets(st.integers(0, 19)))
def test_units_are_kept_in_order(content: bytes, kept: set[int]) -> None:
    space = Kept(content, BYTES)
    kept = {number for number in kept if number in space.all}
    assert space.build(IntervalSet.of(kept)) == bytes(content[number] for number in sorted(kept))
    assert space.build(space.all) == content


@given(TEXTS, TEXTS, st.sampled_from([LINES, CHARACTERS]), st.booleans())
def test_changes_lead_from_one_file_to_the_other(passing: bytes, failing: bytes, level: object, hunks: bool) -> None:
    space = Changed(passing, failing, level, hunks=hunks)  # type: ignore[arg-type]
    assert space.build(EMPTY) == passing
    assert space.build(space.all) == failing
    assert bool(space.all) == (passing != failing)


def test_changes_that_touch_are_one_hunk() -> None:
    passing, failing = b"1\n2\n3\n4\n5\n6\n", b"1\nb\nc\n4\n5\n6\n7\n"
    space = Changed(passing, failing, LINES, hunks=True)
    assert (space.unit, space.all.count) == ("hunk", 2)
    assert space.build(IntervalSet.of([0])) == b"1\nb\nc\n4\n5\n6\n"
    assert space.build(IntervalSet.of([1])) == b"1\n2\n3\n4\n5\n6\n7\n"
    assert [space.words(delta) for delta in space.all] == [
        r"line 2: '2\n3\n' becomes 'b\nc\n'",
        r"line 7: '7\n' inserted",
    ]


def test_changes_in_words() -> None:
    space = Changed(b"one\ntwo\n", b"oe\ntwio\n", CHARACTERS)
    assert [space.words(delta) for delta in space.all] == [
        "line 1, column 2: 'n' removed",
        "line 2, column 3: 'i' inserted",
    ]


def test_nothing_harmful_reaches_a_terminal() -> None:
    assert shown(b"\x1b[31m\xff") == r"'\x1b[31m\xff'"
    assert len(shown(b"x" * 1000)) == 60
    assert lines_shown(b"a\x1b\xff\tb\n" * 3, 2) == [r"a\x1b\xff     b"] * 2
