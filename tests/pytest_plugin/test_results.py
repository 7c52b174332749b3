from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from replay_dd.pytest_plugin.budget import seconds_of
from replay_dd.pytest_plugin.results import (
    DEADLOCK,
    FAILS_ALWAYS,
    HANG,
    NO_FAILURE,
    NO_THREADS,
    NO_TIME,
    NOT_HUNTED,
    RACE,
    HuntResult,
    annotation,
    job_summary,
    summary,
    table,
    tells_of_a_find,
)

RACY = HuntResult(
    *("t.py::test[a,b:c]", RACE, 6, 1.5),
    failure="AssertionError: 100%\nof it",
    switch="thread 0.1 gives way to thread 0.2 at a.py:8 in get",
    path="src/a.py",
    line=8,
    gil="possible",
    log="logs/minimal-fail.log",
    story=("RACE on x",),
)


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the command `replay-dd` is."""
    tool = tmp_path / "replay-dd"
    tool.touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tool


def test_a_repetition_names_the_interpreter_if_the_command_cannot_be_found(installed: Path) -> None:
    assert RACY.repeat == "replay-dd replay logs/minimal-fail.log"
    installed.unlink()
    assert RACY.repeat.endswith(" -m replay_dd replay logs/minimal-fail.log")


def test_what_a_worker_sends_arrives_as_it_was() -> None:
    assert HuntResult.of_data(RACY.as_data()) == RACY


def test_the_summary_counts_tests_threads_hunts_races_and_runs() -> None:
    others = [HuntResult("t.py::quiet", NO_FAILURE, 100, 2.0), HuntResult("t.py::late", NOT_HUNTED, why="no time")]
    others.append(HuntResult("t.py::beside_a_server", NO_THREADS, 1, 0.1))
    others += [HuntResult(f"t.py::last_{number}", NOT_HUNTED, why=NO_TIME) for number in range(2)]
    lines = list(summary([RACY, *others], 7, 3))
    assert lines[0] == "7 tests, 3 with threads, 2 hunted, 1 race found, 106 runs, 3.5 s"
    assert lines[1:] == [
        "RACE t.py::test[a,b:c]: thread 0.1 gives way to thread 0.2 at a.py:8 in get",
        "     replay-dd replay logs/minimal-fail.log",
        "t.py::late: not hunted: no time",
        "2 tests were not hunted: no time is left of --replay-dd-total",
        "Where no failure was found, that is not a proof: other schedules were not tried.",
    ]


def test_a_deadlock_is_called_one() -> None:
    dead = replace(RACY, test="t.py::dead", kind=DEADLOCK)
    results = [RACY, dead, replace(dead, test="t.py::dead_too"), replace(RACY, test="t.py::circle", kind=HANG)]
    lines = list(summary(results, 4, 4))
    assert lines[0].split(", ")[3] == "1 race and 2 deadlocks and 1 hang found"
    found = [line.partition(":")[0] for line in lines if tells_of_a_find(line)]
    assert found == ["RACE t.py", "DEADLOCK t.py", "DEADLOCK t.py", "HANG t.py"]
    assert [line.split()[0] for line in table(results)] == [RACE, DEADLOCK, DEADLOCK, HANG]
    assert ",title=deadlock in t.py" in annotation(dead)
    assert HuntResult.of_data(dead.as_data()) == dead


def test_the_table_has_a_line_for_each_test_but_those_for_which_there_was_no_time() -> None:
    late = HuntResult("t.py::late", NOT_HUNTED, why=NO_TIME)
    refused = HuntResult("t.py::refused", NOT_HUNTED, why="it is gone")
    assert [line.split()[-1] for line in table([RACY, late, refused])] == [RACY.test, refused.test]


def test_the_table_counts_one_run_and_several_in_columns() -> None:
    one, two = table([HuntResult("t.py::one", NO_FAILURE, 1, 2.0), HuntResult("t.py::two", NO_FAILURE, 2, 2.0)])
    assert one.split()[2:4] == ["1", "run"]
    assert two.split()[2:4] == ["2", "runs"]
    assert one.index("t.py") == two.index("t.py")


def test_a_summary_without_a_race_claims_no_proof_and_says_why_runs_were_slow() -> None:
    lines = list(summary([HuntResult("t.py::quiet", NO_FAILURE, 100, 2.0, fresh="it has x open")], 1, 1))
    assert lines[1:] == [
        "1 test loaded the suite in each run, which is slower: it has x open",
        "Where no failure was found, that is not a proof: other schedules were not tried.",
    ]
    assert list(summary([], 3, 0)) == ["3 tests, 0 with threads, 0 hunted, 0 races found, 0 runs, 0.0 s"]


def test_tests_that_cannot_be_copied_for_the_same_reason_are_counted_together() -> None:
    results = [
        HuntResult(f"t.py::{number}", NO_FAILURE, 1, fresh=f"it has pipe:[{number}] open before its first thread")
        for number in (235370, 7)
    ]
    told = [line for line in summary(results, 2, 2) if "loaded the suite" in line]
    slow = "2 tests loaded the suite in each run, which is slower: it has pipe open before its first thread"
    assert told == [slow]


@pytest.mark.parametrize(
    ("left_s", "which", "enough"),
    [
        ([0.08], "1 test", "80ms"),
        ([0.0799, 0.0123], "each of 2 tests", "80ms"),
        ([0.1], "1 test", "100ms"),
        ([0.1001, 5.0], "1 test", "200ms"),
        ([1.0], "1 test", "1000ms"),
        ([5.0, 0.0], "", ""),
    ],
)
@pytest.mark.parametrize("verdict", [NO_FAILURE, FAILS_ALWAYS])
def test_the_summary_tells_of_sleeps_that_kept_their_order(
    verdict: str, left_s: list[float], which: str, enough: str
) -> None:
    results = [HuntResult("t.py::quiet", verdict, 9, 2.0, asleep_s=asleep_s) for asleep_s in left_s]
    told = [line for line in summary([*results, replace(RACY, asleep_s=0.5)], 9, 9) if "--replay-dd-max-delay" in line]
    assert len(told) == bool(which)
    for line in told:
        assert f"In {which}, a sleep" in line
        assert f"`--replay-dd-max-delay={enough}`" in line
        assert seconds_of(enough) >= max(one for one in left_s if one <= 1)


def test_annotations_escape_what_github_would_take_for_its_own() -> None:
    assert annotation(RACY) == (
        "::error file=src/a.py,line=8,title=race in t.py%3A%3Atest[a%2Cb%3Ac]::"
        "AssertionError: 100%25%0Aof it: thread 0.1 gives way to thread 0.2 at a.py:8 in get"
    )


def test_an_annotation_names_no_file_where_no_line_is_known() -> None:
    line = annotation(HuntResult("t.py::test", RACE, failure="AssertionError", switch="not isolated"))
    assert line == "::error title=race in t.py%3A%3Atest::AssertionError: not isolated"


def test_properties_for_reports() -> None:
    assert dict(RACY.properties()) == {
        "replay_dd.verdict": "race",
        "replay_dd.runs": "6",
        "replay_dd.switch": "thread 0.1 gives way to thread 0.2 at a.py:8 in get",
        "replay_dd.gil": "possible",
        "replay_dd.log": "logs/minimal-fail.log",
    }
    assert dict(HuntResult("t", NO_FAILURE, 9).properties()) == {
        "replay_dd.verdict": "no failure",
        "replay_dd.runs": "9",
    }


def test_the_summary_of_a_job_is_markdown_with_the_story() -> None:
    page = job_summary([RACY], 1, 1)
    assert page.startswith("### replay-dd\n\n1 test, 1 with threads")
    assert "```text\nRACE on x\n\nreplay-dd replay logs/minimal-fail.log\n```" in page
