"""Two versions that fail in different ways are not taken for the same failure."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_dd.changes.isolate import isolate_changes
from replay_dd.changes.sameness import same_kind, same_message, same_words, strictest, without_line_numbers
from replay_dd.experiment.ending import Ending, Oracle
from replay_dd.experiment.process import Finished
from tests.changes.versions import python, tree

pytestmark = pytest.mark.once


def _ending(message: str, line: int = 3) -> Ending:
    report = f'Traceback (most recent call last):\n  File "test.py", line {line}, in <module>\n    f()\n{message}\n'
    return without_line_numbers(Oracle().ending(Finished(1, None, False, 0.0, report.encode())))


def test_what_may_differ() -> None:
    failure = _ending("AssertionError: 2 of 'a' at 0x7f01 (x.py, line 12)")
    assert same_words(failure) == same_words(_ending("AssertionError: 2 of 'a' at 0x7e02 (x.py, line 15)", line=4))
    assert same_words(failure) != same_words(_ending("AssertionError: 1 of 'a' at 0x7f01 (x.py, line 12)"))
    assert same_words(failure) != same_words(_ending("AssertionError: 2 of 'b' at 0x7f01 (x.py, line 12)"))
    assert same_message(failure) == same_message(_ending("AssertionError: 1 of 'b' at 0x7f01 (x.py, line 12)"))


def _of_pytest(seen: str) -> Ending:
    """The end of what pytest prints, whose summary is cut to the width of a terminal."""
    output = (
        f">       assert '[default: True]' in out\nE       AssertionError: assert '[default: True]' in {seen}\n\n"
        "test_help.py:13: AssertionError\n=== short test summary info ===\n"
        "FAILED test_help.py::test_default - AssertionError: assert '[default: T...\n1 failed in 0.1s\n"
    )
    return without_line_numbers(Oracle().ending(Finished(1, None, False, 0.0, output.encode())))


def test_what_a_summary_leaves_out_counts() -> None:
    crashed, other = _of_pytest("''"), _of_pytest("'[default: shout] at 0x7f01:12'")
    assert crashed.words == other.words
    assert same_words(crashed) != same_words(other)
    assert same_words(other) == same_words(_of_pytest("'[default: shout] at 0x7e02:15'"))
    assert same_message(crashed) == same_message(other)


def test_messages_count_as_far_as_they_stay_the_same() -> None:
    assert strictest([_ending("E: 2"), _ending("E: 2")]) is same_words
    assert strictest([_ending("E: 2"), _ending("E: 3")]) is same_message
    assert strictest([_ending("E: a thing"), _ending("E: another")]) is same_kind


def test_a_mixture_that_crashes_is_not_the_answer_for_a_wrong_value(tmp_path: Path) -> None:
    """The test sees 1 where half of a change crashes, 2 where the rule has changed."""
    tool = "import rules\n\n\ndef start():\n    getattr(rules, {mode})\n    return code\n\n\ncode = {code}\n"
    old = {"tool.py": tool.format(mode="'sl' + 'ow'", code=0), "rules.py": "slow = 1\n"}
    new = {"tool.py": tool.format(mode="'fa' + 'st'", code=2), "rules.py": "fast = 1\n"}
    test = "\n".join(
        [
            "import tool",
            "try:",
            "    status = tool.start()",
            "except Exception:",
            "    status = 1",
            "assert status == 0, status",
        ]
    )
    found = isolate_changes(tree(tmp_path / "old", old), tree(tmp_path / "new", new), python("-c", test))
    failing = found.isolation.failing.run
    assert failing is not None
    assert "AssertionError: 2" in failing.words
    assert all("AssertionError: 1" not in step.words or step.outcome.name != "FAIL" for step in found.isolation.steps)
    assert any("AssertionError: 1" in step.words for step in found.isolation.steps)
