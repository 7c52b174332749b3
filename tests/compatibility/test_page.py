"""The page of compatibility: a sample of what it claims is judged each time, and the page is made as it should be."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.compatibility import cpython
from tests.compatibility.__main__ import complaints_about
from tests.compatibility.document import PAGE, exceptions, rewritten, section
from tests.compatibility.judge import Case, Ways, judge
from tests.compatibility.results import Results

# What is run anew: of each kind of primitive a test that starts threads.
SAMPLE = (
    "test.test_queue.CFailingQueueTest.test_failing_queue",
    "test.test_thread.BarrierTest.test_barrier",
    "test.test_threading.BarrierTests.test_abort",
    "test.test_threading.CRLockTests.test_recursion_count",
    "test.test_threading.ConditionTests.test_notify",
    "test.test_threading.InterruptMainTests.test_interrupt_main_subthread",
    "test.test_threading_local.ThreadLocalTest.test_threading_local",
)
SEEDS = range(1, 3)


@pytest.mark.parametrize("name", SAMPLE)
def test_a_sample_of_cpythons_tests_passes_and_replays(name: str) -> None:
    case = judge(name, cpython.command_of(Path(sys.executable), name), Ways(include=("test",), seeds=SEEDS))
    assert case.passes_plain, case
    assert case.is_fine, case
    assert case.threads > 1, case
    assert list(case.random or {}) == list(SEEDS)


def test_sections_that_were_not_made_anew_stay() -> None:
    old = "# Older\n\n## Python 3.12.0\n\nold 12\n\n## Python 3.13.0\n\nold 13\n\n## What stays behind\n\nnothing\n"
    old += "\n## Python 3.13.0t\n\nold 13t\n"
    new = rewritten(old, ["## Replays of one log, again and again\n\nexact\n", "## Python 3.12.1\n\nnew 12\n"])
    opening, *sections = new.split("\n## ")
    assert opening.startswith("# Compatibility\n")
    assert sections == [
        "Python 3.12.1\n\nnew 12\n",
        "Python 3.13.0\n\nold 13\n",
        "Python 3.13.0t\n\nold 13t\n",
        "Replays of one log, again and again\n\nexact\n",
        "What stays behind\n\nnothing\n",
    ]
    # The page that is there can be read and written, and nothing of it gets lost.
    there = PAGE.read_text(encoding="utf-8")
    assert rewritten(there, []) == there


def test_a_section_counts_and_lists_the_exceptions() -> None:
    fine = Case("fine", plain="passed", default="passed", threads=3, random={1: "", 2: ""}, replays=3)
    racy = Case("racy", plain="passed", default="passed", threads=2, random={1: "", 2: "AssertionError"}, replays=3)
    slow = Case("watchdog_polling", plain="passed", default="passed", threads=2, replays=3, diverged=["default"])
    lame = Case("lame", plain="skipped")
    cases = {case.name: case for case in (fine, racy, slow, lame)}
    results = Results("3.12.1", {"test.test_queue": cases}, {"test.test_queue": 5})
    text = section(results)
    assert "| `test.test_queue` | 5 | 3 | 3 | 3 | 2 | 2 | 33.3 % |" in text.splitlines()
    assert [case.name for case in exceptions(results)] == ["racy", "watchdog_polling"]
    assert "- `racy`: 1 of 2 random schedules: AssertionError." in text.splitlines()
    assert "`watchdog_polling`: 1 of 3 replays differ. It compares file times" in text
    assert "Only 4 of the 5 cases of `test.test_queue` were judged." in text
    # What is wrong with it: one exception has no reason, and too few are fine.
    assert complaints_about(results) == [
        "racy has no known reason (see reasons.py)",
        "only 1 of 3 cases of CPython are fine",
        "only 1 of 3 threaded cases of CPython are fine",
    ]


def test_what_a_case_is_worth() -> None:
    assert Case("a", plain="passed", default="passed", threads=1).is_fine
    assert not Case("a", plain="passed", default="AssertionError").is_fine
    assert not Case("a", plain="passed", default="passed", random={1: "", 2: "time limit"}).is_fine
    assert not Case("a", plain="passed", default="passed", diverged=["random 3"]).is_fine
    case = Case("a", plain="passed", default="passed", threads=3, random={1: "", 2: "x"}, replays=3, diverged=["d"])
    assert Case.from_json(case.as_json()) == case


def test_a_case_that_fails_is_told(tmp_path: Path) -> None:
    (tmp_path / "race.py").write_text(
        "import threading\nseen = []\n"
        "threads = [threading.Thread(target=seen.append, args=(number,)) for number in range(3)]\n"
        "for thread in threads: thread.start()\nfor thread in threads: thread.join()\n"
        "assert seen == [0, 1, 2], seen\n"
    )
    case = judge("race", (sys.executable, "race.py"), Ways(seeds=range(1, 8), files=tmp_path))
    assert (case.plain, case.default, case.threads) == ("passed", "passed", 4)
    assert case.failed_seeds
    assert not case.diverged
    assert not case.is_fine
    assert "AssertionError" in (case.random or {})[case.failed_seeds[0]]
