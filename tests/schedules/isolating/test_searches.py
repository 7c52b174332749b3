"""Replay, isolation and minimisation of a small program."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from replay_dd.errors.program import DoesNotFailError, DoesNotPassError, NotReproducedError, ProgramChangedError
from replay_dd.errors.user import NoDifferenceError, SwappedError, TwoProgramsError
from replay_dd.experiment.driver import Observer
from replay_dd.experiment.result import Isolation, TestRecord
from replay_dd.experiment.testing import Tests
from replay_dd.outcome import Outcome
from replay_dd.schedules.failures.signature import signature_of
from replay_dd.schedules.isolating.circumstance import MixedSchedules, ScheduleRunner
from replay_dd.schedules.isolating.difference import difference_of
from replay_dd.schedules.isolating.isolate import _is_measured, isolate
from replay_dd.schedules.isolating.minimize import minimize
from replay_dd.schedules.model import Log, Settings, Trigger
from replay_dd.schedules.replaying.comparable import check_pair
from replay_dd.schedules.replaying.replay import check_unchanged, find_divergence, replay, replay_plan
from replay_dd.schedules.running.runner import Runner
from replay_dd.schedules.running.target import Plan, describe_program, run_target

# What is sought in runs, and not what runs do, which depends on the Python.
pytestmark = pytest.mark.once

TEXT = """\
import threading


class Shared:
    value = 0
    noise = 0


def add():
    for _ in range(20):
        shared.noise += 1
    before = shared.value
    shared.value = before + 1
    for _ in range(20):
        shared.noise += 1


shared = Shared()
threads = [threading.Thread(target=add) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert shared.value == 3, shared.value
"""
READ, WRITE = 12, 13


def run_under(folder: Path, *triggers: tuple[str, int, str]) -> Log:
    program = describe_program((sys.executable, "prog.py"), directory=folder)
    plan = replay_plan(tuple(Trigger(*trigger) for trigger in triggers)) if triggers else Plan()
    return run_target(program, Settings(), plan, time_limit_s=60).log


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("searches")
    (path / "prog.py").write_text(TEXT)
    return path


@pytest.fixture(scope="module")
def passing(folder: Path) -> Log:
    return run_under(folder)


def window_of(folder: Path, passing: Log) -> int:
    """A thread time of 0.1 between reading and writing."""
    last = passing.ending.thread_times["0.1"]
    for time in range(last // 2 - 12, last // 2 + 12):
        log = run_under(folder, ("0.1", time, "0.2"))
        if signature_of(log.ending).failed:
            return time
    raise AssertionError("no failure in the middle of the thread")


@pytest.fixture(scope="module")
def time(folder: Path, passing: Log) -> int:
    return window_of(folder, passing)


@pytest.fixture(scope="module")
def failing(folder: Path, time: int) -> Log:
    """The failure with switches around it that do not matter."""
    log = run_under(folder, ("0.2", 9, "0.3"), ("0.3", 11, "0.2"), ("0.1", time, "0.2"), ("0.2", 30, "0.3"))
    assert signature_of(log.ending).failed
    return log


def test_the_guilty_switch_is_found(passing: Log, failing: Log, time: int) -> None:
    found = isolate(passing, failing)
    assert found.isolation.verified
    assert found.isolation.complete
    assert found.isolation.deltas_left == 1
    assert found.message == ("2", "1")  # a second search, for the very message, ended at the same place
    assert found.isolation.unresolved == ()  # what it passed over is no other failure
    assert found.isolation.tests <= 2 * math.ceil(math.log2(found.isolation.deltas_before)) + 4
    assert found.switch is not None
    switch = found.switch.failing
    assert switch.place is not None
    assert (switch.place.file, switch.place.function, switch.place.line) == ("prog.py", "add", WRITE)
    assert found.gil.reachable is False
    (choice,) = found.choices
    assert choice == switch
    assert signature_of(found.passing.ending).text == "exit status 0"
    assert signature_of(found.failing.ending).same(signature_of(failing.ending))
    # Both runs are the same up to the switch.
    divergence = find_divergence(found.passing, found.failing)
    assert divergence is not None
    assert divergence.actual == switch


@pytest.mark.parametrize(
    ("recorded", "others", "vain"),
    [
        ("0.105039 s", ["0.105039 s", "0.006123 s", "0.006124 s", "0.006125 s"], True),
        ("0.105039 s", ["0.105039 s", "0.006123 s", "0.006124 s"], False),  # too few to tell
        ("0.105039 s", ["0.105039 s", "0.006123 s", "0.006123 s", "0.006125 s"], False),  # a value that comes again
        ("0.10504 s", ["0.10504 s", "0.00612 s", "0.00613 s", "0.00614 s"], False),
        ("7 left", ["7 left", "6 left", "5 left", "4 left"], False),
    ],
)
def test_a_time_in_the_message_is_not_sought(recorded: str, others: list[str], vain: bool, failing: Log) -> None:
    def says(text: str) -> Log:
        (raised,) = failing.ending.exceptions
        return replace(failing, ending=replace(failing.ending, exceptions=(replace(raised, text=text),)))

    with Runner(failing.program, failing.settings) as runner:
        assert _is_measured(ScheduleRunner(says(recorded), runner, None), [says(text) for text in others]) is vain


def test_the_answer_does_not_depend_on_the_number_of_jobs(passing: Log, failing: Log) -> None:
    one, four = (isolate(passing, failing, jobs=jobs) for jobs in (1, 4))
    assert one.switch == four.switch
    assert counts(one.isolation) == counts(four.isolation)
    assert one.passing.switches == four.passing.switches
    assert one.failing.switches == four.failing.switches
    assert one.isolation.steps == four.isolation.steps


def counts(isolation: Isolation[Log]) -> tuple[int, ...]:
    return isolation.tests, isolation.requested, isolation.deltas_before


def test_a_limit_gives_the_best_so_far(passing: Log, failing: Log) -> None:
    found = isolate(passing, failing, max_tests=1)
    assert not found.isolation.complete
    assert not found.isolation.verified
    assert found.delta is None, "several are left"
    assert signature_of(found.failing.ending).failed


def test_a_minimal_schedule_has_no_trigger_too_many(folder: Path, failing: Log, time: int) -> None:
    assert len(failing.triggers) > 1
    found = minimize(failing)
    assert found.isolation.complete
    assert found.isolation.deltas_before == len(failing.triggers)
    assert found.log.triggers == (Trigger("0.1", time, "0.2"),)
    wanted = signature_of(failing.ending)
    assert signature_of(found.log.ending).same(wanted)
    for left_out in found.log.triggers:
        rest = [trigger for trigger in found.log.triggers if trigger != left_out]
        assert not signature_of(run_under(folder, *rest).ending).same(wanted)


def test_the_default_schedule_needs_no_triggers(folder: Path, passing: Log, time: int) -> None:
    busy = run_under(folder, ("0.1", 5, "0.2"), ("0.2", 7, "0.3"))
    assert signature_of(busy.ending).text == "exit status 0"
    assert minimize(busy).log.triggers == ()


def test_tests_that_are_unresolved_are_counted_with_their_endings(failing: Log, passing: Log) -> None:
    another = replace(failing, ending=replace(failing.ending, exceptions=(), status=7))
    with Runner(failing.program, failing.settings) as runner:
        circumstance = MixedSchedules(ScheduleRunner(another, runner, 60), difference_of(passing, failing))
        tests = Tests(circumstance)
        ends = circumstance.base, circumstance.universe
        assert [tests.outcome(end) for end in ends] == [Outcome.PASS, Outcome.UNRESOLVED]
        assert tests.unresolved() == (), "no search has used them"
        for end in ends:
            tests.count(end)
        ((ending, number),) = tests.unresolved()
    assert (ending.words, ending.failed, number) == (signature_of(failing.ending).text, True, 1)


def test_every_test_is_told(passing: Log, failing: Log) -> None:
    told: list[TestRecord] = []
    found = isolate(passing, failing, observer=Observer(told.append))
    assert told
    assert tuple(told) == found.isolation.steps
    for record in told:
        assert (record.outcome is Outcome.PASS) == (record.words == "exit status 0")
    # The second search passed over runs with the failure, but another number than that of the log.
    passed_over = {record.words for record in told if record.outcome is Outcome.UNRESOLVED}
    assert (passed_over, found.isolation.unresolved) == ({signature_of(found.failing.ending).text}, ())


def test_replay_is_exact(passing: Log, failing: Log) -> None:
    for log, outcome in ((passing, Outcome.PASS), (failing, Outcome.FAIL)):
        for _ in range(3):
            result = replay(log, time_limit_s=60)
            assert (result.outcome, result.reproduced, result.divergence) == (outcome, True, None)
            assert result.run.log.ending.digest == log.ending.digest


# -- logs that do not fit --------------------------------------------------------------------------------------------


def test_pairs_that_cannot_be_compared(passing: Log, failing: Log) -> None:
    other_command = replace(passing, program=replace(passing.program, command=("python", "other.py")))
    other_settings = replace(passing, settings=Settings("line"))
    other_python = replace(passing, program=replace(passing.program, python="3.10.0"))
    other_input = replace(passing, program=replace(passing.program, standard_input=b"more"))
    other_text = replace(passing, program=replace(passing.program, files={"prog.py": "0" * 32}))
    cases = [
        (failing, passing, SwappedError),
        (failing, failing, DoesNotPassError),
        (passing, passing, DoesNotFailError),
        *((one, failing, TwoProgramsError) for one in (other_command, other_settings, other_python, other_input)),
        (other_text, failing, TwoProgramsError),
    ]
    for first, second, error in cases:
        with pytest.raises(error):
            check_pair(first, second, accept_changes=False)
    with pytest.raises(TwoProgramsError):
        check_pair(other_command, failing, accept_changes=True)
    check_pair(other_text, failing, accept_changes=True)
    check_pair(passing, failing, accept_changes=False)


def test_the_same_schedule_with_two_outcomes(passing: Log, failing: Log) -> None:
    with pytest.raises(NoDifferenceError):
        isolate(replace(passing, switches=failing.switches), failing)


def test_a_log_that_does_not_replay(passing: Log, failing: Log) -> None:
    with pytest.raises(NotReproducedError, match="failing log"):
        isolate(passing, replace(failing, switches=tuple(s for s in failing.switches if s.thread != "0.1" or s.forced)))
    elsewhere = replace(passing, ending=replace(passing.ending, digest=1))
    with pytest.raises(NotReproducedError, match="passing log"):
        isolate(elsewhere, failing)


def test_a_changed_program_is_told(tmp_path: Path) -> None:
    (tmp_path / "prog.py").write_text(TEXT)
    log = run_under(tmp_path)
    check_unchanged(log)
    (tmp_path / "prog.py").write_text(TEXT + "\n")
    with pytest.raises(ProgramChangedError, match=r"prog\.py"):
        check_unchanged(log)
    with pytest.raises(ProgramChangedError, match=r"3\.99"):
        check_unchanged(replace(log, program=replace(log.program, files={})), python="3.99.0")


def test_divergence_names_the_first_switch_that_differs(tmp_path: Path) -> None:
    (tmp_path / "prog.py").write_text(TEXT)
    log = run_under(tmp_path, ("0.1", 9, "0.2"))
    # The same lines, and one access more.
    (tmp_path / "prog.py").write_text(TEXT.replace("range(20)", "range(shared.value, 20)", 1))
    result = replay(log, time_limit_s=60)
    assert "expected thread 0.1 to yield to 0.2 at its time 9" in str(result.divergence)
    # Runs with the same switches but different ends are reported, too.
    assert str(find_divergence(log, replace(log, ending=replace(log.ending, digest=1))))
    shorter = replace(log, switches=log.switches[:-1])
    gone = find_divergence(log, shorter)
    assert gone is not None
    assert (gone.expected, gone.actual) == (log.switches[-1], None)
