"""Which failure an answer is about, and all that it needs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from replay_dd.errors.program import DoesNotFailError
from replay_dd.errors.user import UsageError
from replay_dd.experiment.baseline import Rate
from replay_dd.experiment.driver import NO_OBSERVER
from replay_dd.experiment.proof import Proof
from replay_dd.experiment.testing import Tests
from replay_dd.report.schedules import schedules_as_text
from replay_dd.schedules.failures.signature import signature_of
from replay_dd.schedules.hunting.hunt import hunt
from replay_dd.schedules.hunting.options import HuntOptions
from replay_dd.schedules.isolating import answer
from replay_dd.schedules.isolating import isolate as isolate_module
from replay_dd.schedules.isolating.answer import ScheduleIsolation
from replay_dd.schedules.isolating.isolate import isolate
from replay_dd.schedules.isolating.minimize import minimize
from replay_dd.schedules.log import read_log, write_log
from replay_dd.schedules.model import Log, Settings, Trigger
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.explain import explain
from tests.schedules.isolating.test_searches import run_under

# What is sought in runs, and not what runs do, which depends on the Python.
pytestmark = pytest.mark.once

TWO_RACES = """\
import threading


class Shared:
    a = b = 0


def add():
    before = shared.a
    shared.a = before + 1
    before = shared.b
    shared.b = before + 1


shared = Shared()
threads = [threading.Thread(target=add) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert shared.a == shared.b == 2, f"a={shared.a} b={shared.b}"
"""
LOSES_A, LOSES_B = Trigger("0.1", 4, "0.2"), Trigger("0.1", 8, "0.2")
WRITES_A, WRITES_B = 10, 12


@pytest.fixture(scope="module")
def two_races(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("two_races")
    (path / "prog.py").write_text(TWO_RACES)
    return path


def line_of(found: ScheduleIsolation) -> int:
    assert found.switch is not None
    assert found.switch.failing.place is not None
    return found.switch.failing.place.line


def message_of(log: Log) -> str:
    return signature_of(log.ending).said


@pytest.mark.parametrize(
    ("trigger", "message", "line"), [(LOSES_A, "a=1 b=2", WRITES_A), (LOSES_B, "a=2 b=1", WRITES_B)]
)
def test_the_answer_is_about_the_failure_of_the_log(trigger: Trigger, message: str, line: int, two_races: Path) -> None:
    """Both failures are one assertion in one line; a search that ignores the message ends at either."""
    passing, failing = run_under(two_races), run_under(two_races, trigger)
    assert message_of(failing) == message
    for others in ((), (Trigger("0.2", 9, "0.1"),)):
        failing = run_under(two_races, trigger, *others)
        found = isolate(passing, failing)
        assert found.isolation.verified
        assert message_of(found.failing) == message
        assert found.message is None
        assert line_of(found) == line


def test_every_race_of_the_turn_has_a_range_of_its_own(two_races: Path) -> None:
    passing, failing = run_under(two_races), run_under(two_races, LOSES_A)
    found = isolate(passing, failing)
    lines = [
        [one.first.place and one.first.place.line, one.last.place and one.last.place.line]
        for one in found.ranges.ranges
    ]
    assert lines == [[WRITES_A, WRITES_A], [WRITES_B, WRITES_B]]
    assert ["a=1 b=2" in one.failure for one in found.ranges.ranges] == [True, False]
    assert [one.guilty for one in found.ranges.ranges] == [True, False]
    second = isolate(passing, failing, range_number=2)
    assert second.isolation.verified
    assert line_of(second) == WRITES_B
    assert message_of(second.failing) == "a=2 b=1"
    assert [one.guilty for one in second.ranges.ranges] == [False, True]
    for number in (0, 3):
        with pytest.raises(UsageError, match="2 failing ranges"):
            isolate(passing, failing, range_number=number)


def test_a_text_decides_which_failure_is_sought(two_races: Path) -> None:
    passing, failing = run_under(two_races), run_under(two_races, LOSES_B)
    found = isolate(passing, failing, failure="b=1")
    assert found.failing.failure == "b=1"
    assert "b=1" in message_of(found.failing)
    with pytest.raises(DoesNotFailError, match="a=2 b=1"):
        isolate(passing, failing, failure="a=1")
    with pytest.raises(DoesNotFailError, match="a=2 b=1"):
        minimize(replace(failing, failure="a=1"))
    assert "b=1" in message_of(minimize(failing, failure="b=1").log)


def test_a_hunt_keeps_its_text_in_the_log_for_the_searches_that_follow(two_races: Path) -> None:
    program = run_under(two_races).program
    found = hunt(replace(program, files={}, paths={}), Settings(), HuntOptions(runs=60, failure="b=1"))
    assert found.passing is not None
    assert found.failing is not None
    assert found.failing.failure == "b=1"
    write_log(found.failing, two_races / "fail.log")
    read = read_log(two_races / "fail.log")
    assert read.failure == "b=1"
    answer = isolate(replace(found.passing, program=read.program), read)
    assert line_of(answer) == WRITES_B
    assert "b=1" in message_of(answer.failing)


HANDSHAKE = """\
import threading


class Shared:
    ready = used = False
    noise = 0


def prepare():
    shared.ready = True
    shared.noise = 1
    shared.ready = False


def use():
    if shared.ready:
        shared.noise = 2
        assert shared.ready, "taken away"


shared = Shared()
threads = [threading.Thread(target=target) for target in (prepare, use)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def test_all_choices_that_the_failure_needs_are_told(tmp_path: Path) -> None:
    """The two runs differ in one of two switches; the one that they share is part of the answer, the others are not."""
    (tmp_path / "prog.py").write_text(HANDSHAKE)
    needed = {Trigger("0.1", 4, "0.2"), Trigger("0.2", 4, "0.1")}
    failing = run_under(tmp_path, *needed)
    assert "taken away" in signature_of(failing.ending).text
    passing = run_under(tmp_path, Trigger("0.1", 4, "0.2"))
    assert signature_of(passing.ending).kind == "passed"
    for one, other in ((passing, failing), (run_under(tmp_path), failing)):
        found = isolate(one, other)
        assert found.isolation.verified
        assert found.needed is not None
        assert found.needed.minimal
        assert [(choice.thread, choice.to) for choice in found.choices] == [("0.1", "0.2"), ("0.2", "0.1")]
        assert found.switch is not None
        assert found.switch.failing in found.choices
        assert found.needed.tests <= 2
        assert all(found.gil_of_choice(choice).positions == 1 for choice in found.choices), "known of each"


def test_a_proof_that_ctrl_c_cuts_short_is_not_called_failed(two_races: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = isolate(run_under(two_races), run_under(two_races, LOSES_A))
    best = found._replace(isolation=replace(found.isolation, proof=Proof()))
    cut_short = best._replace(isolation=replace(best.isolation, proof=Proof(Rate(0, 3), Rate(3, 3))))

    def interrupted(*arguments: object) -> ScheduleIsolation:
        raise KeyboardInterrupt

    monkeypatch.setattr(answer, "_with_ranges", interrupted)
    monkeypatch.setattr(answer, "_proved", lambda *arguments: cut_short)
    monkeypatch.setattr(answer.LIVE, "kill_all", lambda: None)
    runs = cast(Any, None)
    told = answer._proved_beside_ranges(best, Tests(found.isolation.circumstance), runs, 2, NO_OBSERVER, lambda: False)
    assert (told.isolation.interrupted, told.isolation.proof.made) == (True, False)


def test_a_time_budget_holds_for_what_follows_the_search(two_races: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer itself is proved; its range takes too long."""
    passing, failing = run_under(two_races), run_under(two_races, LOSES_A)
    found = isolate(passing, failing, time_budget_s=3600)
    assert found.ranges.tried
    clock = iter([0.0])
    monkeypatch.setattr(isolate_module, "time", SimpleNamespace(monotonic=lambda: next(clock, 7200.0)))
    monkeypatch.setattr(isolate_module._Limits, "seconds_left", lambda limits: None)
    late = isolate(passing, failing, time_budget_s=3600)
    assert late.isolation.verified
    assert late.switch == found.switch
    assert (late.ranges.tried, late.needed) == (0, None)


@pytest.mark.parametrize("jobs", [1, 2])
def test_no_switch_is_to_blame_for_what_came_from_outside(
    jobs: int, two_races: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where another process has a lock at times: both runs may have the same switches, once they are repeated."""
    found = [answer.find_guilty_switch]
    monkeypatch.setattr(answer, "find_guilty_switch", lambda *logs: found.pop()(*logs) if found else None)
    isolation = isolate(run_under(two_races), run_under(two_races, LOSES_A), jobs=jobs)
    assert isolation.isolation.verified
    assert isolation.switch is None


LETTER_BOX = """\
import queue
import threading


def post(text):
    with lock:
        letters.put(text)


def collect():
    for _ in range(3):
        letters.get()
        with lock:
            collected.append(1)


lock, letters, collected = threading.Lock(), queue.Queue(maxsize=1), []
postman = threading.Thread(target=collect)
postman.start()
for text in "abc":
    post(text)
postman.join()
"""


def test_the_last_wait_of_a_deadlock_is_the_guilty_switch_where_no_other_follows(tmp_path: Path) -> None:
    """The failing run makes no choice at all; the passing one preempts the thread that would have to wait for ever."""
    (tmp_path / "prog.py").write_text(LETTER_BOX)
    failing = run_under(tmp_path)
    assert failing.ending.deadlock
    last = failing.ending.thread_times["0"]
    preempted = (run_under(tmp_path, ("0", time, "0.1")) for time in range(last - 1, 0, -1))
    passing = next(log for log in preempted if not signature_of(log.ending).failed)
    found = isolate(passing, failing)
    assert found.switch is not None
    guilty, instead = found.switch
    assert (guilty.thread, guilty.to, guilty.place and guilty.place.line) == ("0", "0", 7)
    assert (instead and instead.thread, instead and instead.to) == ("0", "0.1")
    text = "\n".join(schedules_as_text(found, tmp_path / "p.log", tmp_path / "f.log"))
    assert "The run FAILS if thread 0 has to wait, and no thread can run on, at prog.py:7 in post" in text
    assert "It PASSES if thread 0 gives way to thread 0.1 at prog.py:" in text
    explanation = explain(found)
    assert explanation.story is not None, explanation.why_not
    assert explanation.story.kind == kinds.HOLD_AND_WAIT


NOT_CONNECTED = """\
import threading


class Client:
    def __init__(self):
        self.line = None

    def connect(self):
        self.line = []


client = Client()
threading.Thread(target=client.connect, daemon=True).start()
client.line.append("hello")
"""


def test_the_end_of_the_program_is_the_guilty_switch_where_only_the_passing_run_gives_way(tmp_path: Path) -> None:
    """The failing run makes no switch at all: its main thread dies, and the other one has not even begun."""
    (tmp_path / "prog.py").write_text(NOT_CONNECTED)
    failing = run_under(tmp_path)
    assert signature_of(failing.ending).failed
    assert not failing.switches
    passing = run_under(tmp_path, ("0", 1, "0.1"))
    found = isolate(passing, failing)
    assert found.switch is not None
    guilty, instead = found.switch
    assert (guilty.thread, guilty.to, guilty.time) == ("0", "0", failing.ending.thread_times["0"])
    assert (instead and instead.thread, instead and instead.to) == ("0", "0.1")
    text = "\n".join(schedules_as_text(found, tmp_path / "p.log", tmp_path / "f.log"))
    assert "The run FAILS if thread 0 runs on to the end of the program\n    after its yield point" in text
    assert "It PASSES if thread 0 gives way to thread 0.1 at prog.py:1" in text
    explanation = explain(found)
    assert explanation.story is not None, explanation.why_not
    assert explanation.story.kind == kinds.TOO_EARLY
    assert "before thread 0.1 has set it (prog.py:9)" in explanation.story.summary
    assert [link.proved for link in explanation.links.tried] == [True]


@pytest.mark.once
def test_how_far_a_killed_program_came_is_not_told(tmp_path: Path) -> None:
    killed = "if client.line is None:\n    import os\n    import signal\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    (tmp_path / "prog.py").write_text(NOT_CONNECTED.replace('client.line.append("hello")\n', killed))
    failing, passing = run_under(tmp_path), run_under(tmp_path, ("0", 1, "0.1"))
    assert not failing.ending.complete
    text = "\n".join(schedules_as_text(isolate(passing, failing), tmp_path / "p.log", tmp_path / "f.log"))
    assert "The run FAILS if thread 0 runs on to the end of the program\nIt PASSES if" in text


def test_runs_that_end_alike_without_a_deadlock_have_no_guilty_switch(two_races: Path) -> None:
    passing = run_under(two_races)
    fewer = replace(passing, switches=passing.switches[:-1])
    assert answer.find_guilty_switch(passing, fewer) is None
