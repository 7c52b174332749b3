"""Which files are like which: how much they share, and that each has one partner."""

from __future__ import annotations

from collections import Counter

import pytest

from replay_dd.changes import alike as alike_module
from replay_dd.changes.alike import alike


def lines(text: str) -> Counter[bytes]:
    """How often each letter is a line."""
    return Counter(letter.encode() for letter in text)


def test_each_file_has_one_partner_and_the_most_similar_first() -> None:
    old = {"one": lines("abcdefgh"), "two": lines("abcdefgx")}
    assert alike(old, {"new": lines("abcdefgx")}) == {"two": "new"}
    assert alike({"old": lines("abcdefgx")}, old) == {"old": "two"}
    assert alike(old, {"new": lines("abcdefgx"), "more": lines("abcdwxyz")}) == {"two": "new", "one": "more"}


def test_files_of_the_same_path_are_not_compared() -> None:
    assert not alike({"one": lines("abcd")}, {"one": lines("abcd")})
    assert alike({"one": lines("abcd")}, {"one": lines("abcd"), "two": lines("abcx")}) == {"one": "two"}


def test_half_of_the_larger_one_must_be_shared() -> None:
    assert alike({"old": lines("abcd")}, {"new": lines("abxy")}) == {"old": "new"}
    assert not alike({"old": lines("abcd")}, {"new": lines("axyz")})
    assert not alike({"old": lines("abc")}, {"new": lines("abcdefg")})
    assert not alike({"old": lines("abcdefg")}, {"new": lines("abc")})


def test_a_line_counts_as_often_as_both_have_it() -> None:
    assert alike({"old": lines("aaaab")}, {"new": lines("aaaac")}) == {"old": "new"}
    assert not alike({"old": lines("aaaab")}, {"new": lines("aacde")})


def test_lines_that_lead_to_no_pairs_count_only_where_both_have_them(monkeypatch: pytest.MonkeyPatch) -> None:
    old = {"first": lines("1234"), "old": lines("abcd"), "second": lines("efg")}
    new = {"third": lines("1234"), "new": lines("aefg"), "fourth": lines("bcd")}
    monkeypatch.setattr(alike_module, "_MOST_LINES", 5)  # those of the first pair, and the one of the second
    assert alike(old, new) == {"first": "third"}
    new["new"] = lines("abfg")
    assert alike(old, new) == {"first": "third", "old": "new"}
