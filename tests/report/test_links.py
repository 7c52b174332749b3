"""Lines behind what they are called."""

from __future__ import annotations

from replay_dd.report.links import labelled


def test_what_does_not_fit_is_indented_like_its_first_line() -> None:
    lines = [*labelled("", "  it is a Lock and taken again at bank.py:29: make it an RLock, or take it only outside")]
    assert len(lines) == 2
    assert all(line.startswith(" " * 15) and line[15] != " " for line in lines)
    assert [*labelled("seen", "it")] == ["seen         it"]
