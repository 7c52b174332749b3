"""The page of compatibility tells what was judged, every exception has a reason, and a sample is as it says."""

from __future__ import annotations

import platform
import sys
from pathlib import Path

import pytest

from tests.compatibility import cpython
from tests.compatibility.document import PAGE, exceptions, page
from tests.compatibility.judge import Case, Ways, judge
from tests.compatibility.reasons import reason_for
from tests.compatibility.results import Results, file_of, load
from tools.test_all_pythons import SUPPORTED

OWN = "{}.{}".format(*sys.version_info)
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


@pytest.fixture(params=SUPPORTED)
def results(request: pytest.FixtureRequest) -> Results:
    found = load(file_of(request.param))
    assert found.version.startswith(request.param)
    return found


def test_the_page_is_what_was_judged() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `make compatibility`"


def test_every_exception_has_a_reason(results: Results) -> None:
    assert [case.name for case in exceptions(results) if not reason_for(case)] == []


def test_every_case_of_cpython_was_judged(results: Results) -> None:
    missing = {name: number - len(results.suites[name]) for name, number in results.listed.items()}
    assert {name: number for name, number in missing.items() if cpython.is_own(name) and number} == {}


def test_ninety_seven_of_a_hundred_pass_under_control(results: Results) -> None:
    own = [case for suite, cases in results.suites.items() if cpython.is_own(suite) for case in cases.values()]
    plain = [case for case in own if case.passes_plain]
    assert len(plain) > 500
    for cases in (plain, [case for case in plain if case.threads != 1]):
        assert sum(case.is_fine for case in cases) >= 0.97 * len(cases)


@pytest.mark.parametrize("name", SAMPLE)
def test_a_sample_is_as_the_page_says(name: str) -> None:
    known = load(file_of(OWN))
    if known.version != platform.python_version():
        pytest.skip(f"judged under Python {known.version}")
    told = {case.name: case for cases in known.suites.values() for case in cases.values()}[name]
    again = judge(name, cpython.command_of(Path(sys.executable), name), Ways(include=("test",), seeds=SEEDS))
    assert again.passes_plain == told.passes_plain
    assert (again.is_fine, again.threads) == (told.is_fine, told.threads), again


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
