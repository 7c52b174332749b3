"""The answer of an isolation as text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from replay_dd.circumstance import Found
from replay_dd.dd import EMPTY
from replay_dd.experiment.baseline import Baseline, Rate
from replay_dd.experiment.proof import Proof
from replay_dd.experiment.result import Isolation
from replay_dd.report.schedules import schedules_as_text
from replay_dd.report.schedules_json import schedules_as_json
from replay_dd.schedules.failures.signature import ChangedMessage
from replay_dd.schedules.isolating.answer import Execution, GuiltySwitch, ScheduleIsolation
from replay_dd.schedules.isolating.circumstance import MixedSchedules, ScheduleRunner
from replay_dd.schedules.isolating.difference import difference_of
from replay_dd.schedules.isolating.failing_range import NO_RANGES, FailingRange, FailingRanges
from replay_dd.schedules.isolating.gil import WITHOUT_GIL
from replay_dd.schedules.isolating.needed_choices import NeededChoices
from replay_dd.schedules.model import Place, Switch
from replay_dd.schedules.observed.executed import Executed, ExecutedRun
from replay_dd.schedules.running.runner import Runner
from replay_dd.schedules.story.explain import Explanation
from tests.schedules.logs import FAILED, PLACE, log_of


@pytest.mark.parametrize("ended, until", [(True, "has ended"), (False, "has to wait in library code")])
def test_a_thread_without_a_place_has_ended_or_waits(ended: bool, until: str) -> None:
    failing = Switch("0.1", 3, "0.2", False, False, PLACE, 9, 1)
    passing = Switch("0.1", 7, "0", True, True, None, 13, 2, ended=ended)
    text = answer(failing, passing)
    assert text[0] == "The run FAILS if thread 0.1 gives way to thread 0.2 at prog.py:7 in work"
    assert f"It PASSES if thread 0.1 runs on until it {until} (its yield point 7)." in text


@pytest.mark.parametrize(
    "ended, what",
    [(True, "gives way to thread 0.2 at its end"), (False, "has to wait and thread 0.2 runs on in library code")],
)
def test_the_guilty_switch_may_have_no_place(ended: bool, what: str) -> None:
    failing = Switch("0.1", 3, "0.2", True, False, None, 9, 1, ended=ended)
    assert answer(failing, None)[0] == f"The run FAILS if thread 0.1 {what}"


def test_a_garbage_collection_is_no_switch() -> None:
    failing = Switch("0.1", 3, "0.1", False, False, PLACE, 9, 1, collects=True)
    found = found_by(failing, replace(failing, time=4))
    text = told(found)
    assert text[0] == "The run FAILS if thread 0.1 collects garbage at prog.py:7 in work"
    assert "It PASSES if thread 0.1 collects garbage at prog.py:7 instead" in text
    assert any(line.startswith("Possible with the GIL") for line in text)
    answer = schedules_as_json(found, Path("p"), Path("f"), NO_STORY)["answer"]
    assert (answer["switch"]["gil_reachable"], answer["switch"]["gil_label"]) == (True, "with the GIL")


def test_both_runs_may_differ_in_who_runs_on_where_a_thread_has_to_wait() -> None:
    failing = Switch("0.1", 3, "0.2", True, False, PLACE, 9, 1)
    passing = Switch("0.1", 3, "0", True, True, PLACE, 9, 1)
    text = answer(failing, passing)
    assert text[0] == "The run FAILS if thread 0.1 has to wait and thread 0.2 runs on at prog.py:7 in work"
    assert "It PASSES if thread 0.1 has to wait and thread 0 runs on at prog.py:7 instead" in text


NO_STORY = Explanation(None, "not observed")


def preemption(time: int, line: int = 7) -> Switch:
    return Switch("0.1", time, "0.2", False, False, replace(PLACE, line=line), 9, 1)


def ranges(*edges: tuple[int, int, str, bool]) -> FailingRanges:
    made = [
        FailingRange(preemption(first), preemption(last), failure, guilty, guilty, log_of([]), None)
        for first, last, failure, guilty in edges
    ]
    return FailingRanges(tuple(made), 9, 40, 5)


def executed(*instructions: tuple[int, int, str]) -> Execution:
    """Thread time, line, and how the interpreter looks there."""
    return Execution(
        "0.1",
        ExecutedRun(
            tuple(
                Executed("0.1", time, time, replace(PLACE, line=line), 1, number, check, True, True)
                for number, (time, line, check) in enumerate(instructions)
            )
        ),
    )


def test_separate_ranges_are_told_with_their_failures() -> None:
    found = found_by(
        preemption(9), None, ranges=ranges((3, 4, "one", False), (6, 9, "two", True), (12, 12, "three", False))
    )
    text = told(found)
    assert "This turn of thread 0.1 has 3 failing ranges; 9 of its 40 positions were tried:" in text
    at = text.index("  2. yield points 6 to 9, prog.py:7 to prog.py:7 (the switch above)")
    assert text[at + 1] == "       two"
    assert text[at - 1] == "       another failure: one"
    assert text[at + 2] == "  3. yield point 12, prog.py:7"
    assert any("5 more for the failing ranges" in line for line in text)
    told_in_json = schedules_as_json(found, Path("pass.log"), Path("fail.log"), NO_STORY)["answer"]
    assert [one["failure"] for one in told_in_json["failing_ranges"]] == ["one", "two", "three"]
    assert told_in_json["failing_range"]["isolated"] is True
    assert told_in_json["positions"] == {"tried": 9, "in_turn": 40}


def test_the_gil_is_told_of_the_whole_range() -> None:
    """The last position cannot be reached, but an earlier one can."""
    way = executed((5, 5, ""), (6, 6, "entry"), (7, 6, ""), (8, 7, ""))
    found = found_by(preemption(8), None, ranges=ranges((6, 8, "one", True)), execution=way)
    text = told(found)
    at = text.index(
        "Possible with the GIL of Python 3.12.1: threads can be switched at 1 of its 3 positions, first at prog.py:6"
    )
    assert text[at + 2] == "    (yield point 6): a function begins or resumes."
    switch = schedules_as_json(found, Path("pass.log"), Path("fail.log"), NO_STORY)["answer"]["switch"]
    assert (switch["gil_reachable"], switch["gil_label"]) == (True, "with the GIL")
    none = found_by(preemption(8), None, ranges=ranges((7, 8, "one", True)), execution=way)
    assert (
        "Only without the GIL: under that of Python 3.12.1, threads cannot be switched anywhere in this range."
        in told(none)
    )
    assert schedules_as_json(none, Path("p"), Path("f"), NO_STORY)["answer"]["switch"]["gil_reachable"] is False
    assert schedules_as_json(none, Path("p"), Path("f"), NO_STORY)["answer"]["switch"]["gil_label"] == WITHOUT_GIL


@pytest.mark.parametrize(
    ("place", "forced", "reachable"), [(None, False, None), (PLACE, False, None), (None, True, True)]
)
def test_what_is_not_known_of_the_gil_is_null(place: Place | None, forced: bool, reachable: bool | None) -> None:
    switch = Switch("0.1", 3, "0.2", forced, False, place, 9, 1)
    answer_in_json = schedules_as_json(found_by(switch, None), Path("p"), Path("f"), NO_STORY)["answer"]
    assert answer_in_json["switch"]["gil_reachable"] is reachable
    assert answer_in_json["choices"][0]["gil_reachable"] is reachable


def test_the_lines_in_between_are_those_executed() -> None:
    way = executed((2, 30, ""), (3, 7, ""), (4, 50, ""), (5, 8, ""), (6, 8, ""), (7, 9, ""))
    text = told(found_by(preemption(3), preemption(7, line=9), execution=way))
    at = text.index("In between, thread 0.1 executes:")
    assert [line.split()[0] for line in text[at + 2 : at + 5]] == ["7", "50", "8"]
    assert not any(line.split()[:1] == ["9"] for line in text[at + 5 :]), "there the other switch is"


def test_all_needed_choices_are_told() -> None:
    other = Switch("0.2", 5, "0.3", True, False, None, 12, 1)
    found = found_by(preemption(3), None, other)
    found = found._replace(needed=NeededChoices(found.passing, found.failing, True, 4, 2))
    text = told(found)
    assert "The failure needs all of these 2 choices; everything else is the default schedule:" in text
    assert "  1. thread 0.1 gives way to thread 0.2 at prog.py:7 in work, yield point 3 (the switch above)" in text
    assert "  2. thread 0.2 has to wait and thread 0.3 runs on in library code, yield point 5" in text
    assert any("4 more for which choices are needed" in line for line in text)
    not_tried = NeededChoices(found.passing, found.failing, False, 4, 2)
    unknown = told(found._replace(needed=not_tried))
    assert not any("needs all" in line for line in unknown)
    in_json = schedules_as_json(found, Path("p"), Path("f"), NO_STORY)["answer"]
    assert [(one["thread"], one["isolated"]) for one in in_json["choices"]] == [("0.1", True), ("0.2", False)]
    assert in_json["choices_minimal"] is True


def test_what_only_the_passing_run_chooses_is_told_where_the_default_schedule_fails() -> None:
    failing = Switch("0", 3, "0.1", True, True, PLACE, 9, 1)
    passing = replace(failing, to="0.2", by_default=False)
    alike = "Apart from that, both runs follow the default schedule."
    assert alike in answer(failing, passing)
    found = found_by(failing, passing)
    with_more = replace(found.passing, switches=(*found.passing.switches, preemption(5)))
    text = told(found._replace(passing=with_more))
    assert alike not in text
    at = text.index("Apart from that, the failing run follows the default schedule; the passing run does not:")
    assert text[at + 1] == "  1. thread 0.1 gives way to thread 0.2 at prog.py:7 in work, yield point 5"


def test_the_line_of_a_message_that_changed_is_told() -> None:
    message = ChangedMessage("will not read more\nassert 1 == 2\nend", "will not read more\nassert 2 == 3")
    text = list(schedules_as_text(found_by(preemption(3), None)._replace(message=message), Path("p"), Path("f")))
    assert [line.strip() for line in text if line.startswith("        ") and ": assert" in line] == [
        "log: assert 1 == 2",
        "now: assert 2 == 3",
    ]


def test_a_changed_message_is_told() -> None:
    found = found_by(preemption(3), None)._replace(message=ChangedMessage("a=1 b=2", "a=2 b=1\nmore"))
    text = told(found)
    at = next(number for number, line in enumerate(text) if line.startswith("message "))
    assert "with other data" in text[at]
    assert [line.strip() for line in text[at + 1 : at + 3]] == ["log: a=1 b=2", "now: a=2 b=1"]
    told_in_json = schedules_as_json(found, Path("p"), Path("f"), NO_STORY)["answer"]["message_changed"]
    assert told_in_json == {"recorded": "a=1 b=2", "found": "a=2 b=1\nmore"}


def test_a_search_that_was_stopped_has_isolated_nothing() -> None:
    found = found_by(preemption(3), None)
    stopped = found._replace(isolation=replace(found.isolation, stopped_by="tests"))
    assert told(stopped)[0].startswith("Not isolated: the search was stopped with")


def answer(failing: Switch, passing: Switch | None) -> list[str]:
    return told(found_by(failing, passing))


def told(found: ScheduleIsolation) -> list[str]:
    return list(schedules_as_text(found, Path("pass.log"), Path("fail.log")))


def found_by(
    failing: Switch,
    passing: Switch | None,
    *more: Switch,
    ranges: FailingRanges = NO_RANGES,
    execution: Execution | None = None,
) -> ScheduleIsolation:
    runs = log_of([*([] if passing is None else [passing]), *more]), log_of([failing, *more], FAILED)
    difference = difference_of(*runs)
    with Runner(runs[1].program, runs[1].settings) as runner:
        circumstance = MixedSchedules(ScheduleRunner(runs[1], runner, 1, runs[0]), difference)
    failure = circumstance.judge(runs[1])
    isolation = Isolation(
        *(circumstance, failure, Found(EMPTY, runs[0]), Found(difference.all, runs[1]), 4),
        *(Baseline(failure, Rate(2, 2)), Proof(Rate(3, 3), Rate(0, 3), True), 2, 2, 4, (), None, 0.5, ()),
    )
    return ScheduleIsolation(*(isolation, GuiltySwitch(failing, passing), None, ranges, *runs), execution=execution)
