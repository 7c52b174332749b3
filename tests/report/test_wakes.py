"""Where a sleep or time-out that ends makes the difference, the answer says so."""

from __future__ import annotations

from dataclasses import replace

from replay_dd.report.schedules import does_in_words
from replay_dd.report.wakes import further_delays, is_about_sleeping, wakes_as_text
from replay_dd.schedules.isolating.answer import GuiltySwitch
from replay_dd.schedules.model import Switch, Wake
from tests.schedules.logs import FAILED, PLACE, log_of

SLEEPS = replace(PLACE, line=30, function="nap")
STANDS = replace(PLACE, line=40, function="compute")
EARLY = Wake(False, SLEEPS, 20_000_000)


def told(failing: Switch, passing: Switch | None, *before: Switch) -> list[str]:
    guilty = GuiltySwitch(failing, passing)
    assert is_about_sleeping(guilty)
    logs = log_of([*before, failing], FAILED), log_of([*before, *([] if passing is None else [passing])])
    return [line for line in wakes_as_text(guilty, *logs) if not line[:10].strip().isdigit()]


def test_a_sleep_that_ends_while_its_rival_could_go_on() -> None:
    failing = Switch("0.1", 3, "0.2", False, False, STANDS, 9, 1, wake=EARLY)
    passing = Switch("0.1", 7, "0.2", True, True, None, 13, 2, ended=True, wake=Wake(False, SLEEPS, 0))
    assert told(failing, passing) == [
        "The run FAILS if the sleep of thread 0.2 at prog.py:30 in nap ends",
        "before thread 0.1 goes on at prog.py:40 in compute",
        "    It ends 20 ms early: on a busy machine, the other may be that late (`--max-delay`).",
        "    Thread 0.1 runs until then (its yield point 3).",
        "It PASSES if thread 0.1 first runs on until it has ended (its yield point 7).",
    ]


def test_where_a_thread_ends_its_rival_is_who_runs_on_in_the_other_run() -> None:
    before = Switch("0.3", 5, "0.1", True, True, STANDS, 5, 1)
    failing = Switch("0.1", 3, "0.2", True, False, None, 9, 1, ended=True, wake=replace(EARLY, time_out=True))
    passing = Switch("0.1", 3, "0.3", True, True, None, 9, 1, ended=True)
    text = told(failing, passing, before)
    assert text[:2] == [
        "The run FAILS if the time-out of thread 0.2 at prog.py:30 in nap ends",
        "before thread 0.3 goes on at prog.py:40 in compute",
    ]
    assert text[-1] == "It PASSES if thread 0.3 goes on first."
    assert "at its end" not in "".join(text)


def test_two_sleeps_that_end_at_the_same_time() -> None:
    failing = Switch("0", 3, "0.2", True, False, STANDS, 9, 1, wake=Wake(False, SLEEPS, 0))
    passing = Switch("0", 3, "0.1", True, True, STANDS, 9, 1, wake=Wake(True, PLACE, 0))
    assert told(failing, passing) == [
        "The run FAILS if the sleep of thread 0.2 at prog.py:30 in nap ends",
        "before the time-out of thread 0.1 at prog.py:7 in work",
        "    Both end at the same time, so either may be first.",
        "    Thread 0 runs until then (its yield point 3).",
        "It PASSES if the time-out of thread 0.1 at prog.py:7 in work ends first.",
    ]


def test_a_sleep_that_ends_in_the_passing_run() -> None:
    failing = Switch("0.1", 7, "0", True, True, STANDS, 13, 2)
    passing = Switch("0.1", 3, "0.2", False, False, STANDS, 9, 1, wake=EARLY)
    text = told(failing, passing)
    assert text[0] == "The run PASSES if the sleep of thread 0.2 at prog.py:30 in nap ends"
    assert text[-1] == "It FAILS if thread 0.1 first runs on until prog.py:40 (its yield point 7)."


def test_a_passing_run_may_end_without_another_switch() -> None:
    failing = Switch("0.1", 3, "0.2", False, False, STANDS, 9, 1, wake=EARLY)
    assert told(failing, None)[-1] == "It PASSES if thread 0.1 runs on to the end."


def test_a_sleep_that_is_over_makes_no_difference() -> None:
    over = Wake(False, SLEEPS, 0)
    failing = Switch("0.1", 3, "0.2", True, False, STANDS, 9, 1, wake=over)
    passing = Switch("0.1", 3, "0", True, True, STANDS, 9, 1)
    assert not is_about_sleeping(GuiltySwitch(failing, passing))
    assert not is_about_sleeping(GuiltySwitch(replace(failing, wake=None), passing))
    assert not is_about_sleeping(GuiltySwitch(replace(failing, wake=None), replace(passing, wake=over)))


def test_a_choice_that_ends_a_sleep_early_says_so() -> None:
    itself = Switch("0", 3, "0", True, False, SLEEPS, 9, 1, wake=EARLY)
    assert does_in_words(itself) == "goes on, as its sleep ends 20 ms early,"
    waits = replace(itself, to="0.1", wake=replace(EARLY, time_out=True))
    assert does_in_words(waits) == "has to wait and thread 0.1, whose time-out ends 20 ms early, runs on"
    assert does_in_words(replace(waits, forced=False)) == "gives way to thread 0.1, whose time-out ends 20 ms early,"
    on_time = replace(itself, wake=Wake(False, SLEEPS, 0))
    assert does_in_words(on_time) == "has to wait, and no thread can run on,"


def test_sleeps_that_end_early_beside_the_difference() -> None:
    guilty = Switch("0.1", 3, "0", False, False, STANDS, 9, 1)
    early = Switch("0", 8, "0", True, False, SLEEPS, 14, 2, wake=EARLY)
    less = replace(early, time=9, wake=Wake(True, PLACE, 1_000_000))
    assert list(further_delays(log_of([guilty], FAILED), guilty)) == []
    assert list(further_delays(log_of([guilty, early], FAILED), early)) == []
    assert next(further_delays(log_of([guilty, early], FAILED), guilty)) == (
        "In the failing run, the sleep of thread 0 at prog.py:30 in nap ends 20 ms early:"
    )
    assert next(further_delays(log_of([guilty, less, early], FAILED), guilty)) == (
        "In the failing run, the sleep of thread 0 at prog.py:30 in nap ends 20 ms early (as do 1 more):"
    )
