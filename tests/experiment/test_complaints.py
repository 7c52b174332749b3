"""What a program says that ends with an exit status."""

from __future__ import annotations

import pytest

from replay_dd.experiment.complaints import tellings
from replay_dd.experiment.ending import Ending, Oracle
from replay_dd.experiment.process import Finished


def ending(output: str, part: str = "") -> Ending:
    return Oracle().about(part.encode()).ending(Finished(1, None, False, 0.5, output.encode()), part.encode())


@pytest.mark.parametrize(
    ("one", "same", "other"),
    [
        # No word in these tells that they complain.
        (
            "load.sh: line 5: size: readonly variable\n",
            "load.sh: line 7: size: readonly variable\n",
            "load.sh: no row\n",
        ),
        ("begun\nrow 3 has no name\n", "begun 2\nrow 41 has no name\n", "begun 2 rows\nrow 3 has no size\n"),
        ("a.py:1:1: F401 'os' imported but unused\n", "a.py:7: F401 'sys' imported but unused\n", "a.py:1:1: E9 bad\n"),
        ("", "", "no row\n"),
    ],
    ids=["shell", "words", "linter", "silence"],
)
def test_what_is_said_tells_exits_apart(one: str, same: str, other: str) -> None:
    assert ending(one).is_like(ending(same))
    assert not ending(one).is_like(ending(other))
    assert not ending(other).is_like(ending(one))


def test_data_at_the_end_tells_nothing() -> None:
    one, other = (ending(f"{row}\n", row) for row in ("alpha beta", "gamma"))
    assert one.is_like(other)


def test_the_first_finding_of_a_linter_leads() -> None:
    output = "a.c:3:1: unused name\na.c:4:1: late import\nFound 2 errors.\n"
    assert tellings(output.encode()) == ["a.c:3:1: unused name", "a.c:4:1: late import"]
    assert ending(output).leads
    assert ending(output).words == "exit status 1: a.c:3:1: unused name"


def test_a_total_is_no_complaint() -> None:
    """One more or one less would be another word."""
    assert ending("row has no name\nFound 1 error.\n").is_like(ending("row has no name\nFound 2 errors.\n"))
    assert not ending("row has no name\nFound 1 error.\n").is_like(ending("row has no size\nFound 1 error.\n"))


def test_of_a_long_output_the_last_lines_tell() -> None:
    lines = [f"{word} row" for word in ("first", *(["middle"] * 30), "last")]
    found = tellings("\n".join(lines).encode())
    assert found[0] == "last row"
    assert "first row" not in found


def test_what_a_complaint_announces_belongs_to_it() -> None:
    output = "begun:\nsetup: error at rows.txt:3:\n\n  no {} set\n\nlast\n"
    assert tellings(output.encode()) == ["setup: error at rows.txt:3: no {} set"]
    assert not ending(output.format("name")).is_like(ending(output.format("size")))
