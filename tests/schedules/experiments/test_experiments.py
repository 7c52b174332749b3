"""Experiments with real programs, from the failing run to what was tried against it."""

from __future__ import annotations

import sys
import textwrap
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from replay_dd.errors.program import NotControlledError
from replay_dd.report.story import story_as_json, story_as_text
from replay_dd.report.tried import attempt_in_words
from replay_dd.schedules.experiments import experiments as module
from replay_dd.schedules.experiments.experiments import Budget, try_repairs, with_experiments
from replay_dd.schedules.experiments.schedules_to_try import in_turns, neighbours
from replay_dd.schedules.hunting.hunt import hunt
from replay_dd.schedules.hunting.options import HuntOptions
from replay_dd.schedules.isolating.answer import ScheduleIsolation
from replay_dd.schedules.isolating.failing_range import NO_RANGES, FailingRange, FailingRanges
from replay_dd.schedules.isolating.isolate import isolate
from replay_dd.schedules.model import Settings, Switch
from replay_dd.schedules.running.target import Plan, describe_program
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.story.experiment_results import FAILS, NO_PROOF, PREVENTS, Experiments
from replay_dd.schedules.story.explain import Explanation, explain
from replay_dd.schedules.virtual import Region, VirtualBarrier, VirtualLock, VirtualOrder
from tests.schedules.experiments.fakes import access
from tests.schedules.logs import log_of

FEW = Budget(12, None)

OWN_LOCK = """\
import threading
class Stock:
    def __init__(self):
        self._lock = threading.Lock()
        self.left = 5
    def put(self):
        with self._lock:
            self.left += 1
    def take(self):
        left = self.left
        self.left = left - 1
stock = Stock()
threads = [threading.Thread(target=one) for one in (stock.take, stock.put)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert stock.left == 5, stock.left
"""
NO_LOCK = OWN_LOCK.replace("with self._lock:", "if self._lock:")
TWO_ACCOUNTS = """\
import threading
class Account:
    def __init__(self, amount):
        self.lock = threading.Lock()
        self.amount = amount
def move(one, other, amount):
    with one.lock:
        have = one.amount
    with other.lock:
        other.amount += amount
    with one.lock:
        one.amount = have - amount
one, other = Account(100), Account(0)
threads = [threading.Thread(target=move, args=(one, other, 10)) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert one.amount == 80, one.amount
"""
EARLY = """\
import threading
class Service:
    def start(self):
        self.thread = threading.Thread(target=self.run)
        self.thread.start()
        self.name = "x"
    def run(self):
        self.greeting = "hello " + self.name
service = Service()
service.start()
service.thread.join()
assert service.greeting == "hello x"
"""
PARTS = """\
import threading
parts, sums = [0, 0], [0, 0]
def work(number):
    parts[number] = number + 1
    sums[number] = sum(parts)
threads = [threading.Thread(target=work, args=(number,)) for number in (0, 1)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert sums == [3, 3], sums
"""
WEAK = """\
import threading, weakref
class Image: pass
image = Image()
ref = weakref.ref(image)
found = []
def look():
    if ref() is not None:
        found.append(ref())
thread = threading.Thread(target=look)
thread.start()
del image
thread.join()
assert None not in found
"""
TWO_LOCKS = """\
import threading
class Account:
    def __init__(self):
        self.lock = threading.Lock()
def transfer(source, target):
    with source.lock:
        with target.lock:
            pass
one, other = Account(), Account()
threads = [threading.Thread(target=transfer, args=both) for both in ((one, other), (other, one))]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


def isolated(folder: Path, text: str) -> tuple[ScheduleIsolation, Explanation]:
    (folder / "prog.py").write_text(textwrap.dedent(text), encoding="utf-8")
    found = hunt(describe_program((sys.executable, "prog.py"), directory=folder), Settings(), HuntOptions(runs=50))
    assert found.passing is not None
    assert found.failing is not None
    isolation = isolate(found.passing, found.failing)
    return isolation, explain(isolation)


def tried(folder: Path, text: str) -> Experiments:
    found, explanation = isolated(folder, text)
    explanation = with_experiments(explanation, found, budget=FEW)
    assert explanation.tried is not None
    return explanation.tried


def region(function: str, first: int, last: int = 0) -> Region:
    return Region("prog.py", function, first, last or first)


def test_a_lock_of_the_program_is_tried_first(tmp_path: Path) -> None:
    found = tried(tmp_path, OWN_LOCK)
    (attempt,) = found.attempts
    assert attempt.virtual == VirtualLock((region("Stock.take", 10, 11),), "self._lock")
    assert attempt.verdict == PREVENTS
    assert attempt.counts.failed == 0 < attempt.without.failed
    assert attempt.counts.schedules == attempt.without.schedules == found.schedules == found.neighbours + 12
    assert (found.stopped_by, found.why_not) == ("", "")


@pytest.mark.once
def test_each_object_has_a_lock_of_its_own(tmp_path: Path) -> None:
    """That of the other account would prevent this failure, too, but not one of two transfers to different accounts."""
    made = tried(tmp_path, TWO_ACCOUNTS)
    (lock,) = [attempt for attempt in made.attempts if attempt.verdict == PREVENTS]
    assert isinstance(lock.virtual, VirtualLock)
    assert (lock.virtual.taking, lock.virtual.regions) == ("one.lock", (region("move", 7, 12),))
    assert lock.widened == ("prog.py:7", "prog.py:11")


def test_nothing_is_tried_after_an_interrupt() -> None:
    explanation = Explanation(cast(Any, "a story"), twins=cast(Any, "twins"), interrupted=True)
    assert with_experiments(explanation, cast(Any, None), budget=FEW) is explanation


@pytest.mark.once
def test_otherwise_the_regions_of_both_threads_become_one_step(tmp_path: Path) -> None:
    (attempt,) = tried(tmp_path, NO_LOCK).attempts
    assert isinstance(attempt.virtual, VirtualLock)
    assert attempt.verdict == PREVENTS
    assert region("Stock.take", 10, 11) in attempt.virtual.regions or region("Stock.put", 8) in attempt.virtual.regions


@pytest.mark.once
def test_what_other_choices_interrupt_is_tried_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The isolated switch may only let be seen what another one has done."""
    found, explanation = isolated(tmp_path, NO_LOCK)
    assert explanation.conflict is not None
    assert explanation.story is not None
    assert explanation.twins is not None
    elsewhere, told = explanation.conflict, explanation.conflict._replace(left=None, right=None)
    monkeypatch.setattr(module, "conflict_at_edges", lambda *_: told)
    for others in ([], [elsewhere]):
        monkeypatch.setattr(module, "conflicts_elsewhere", lambda *_, others=others: iter(others))
        experiments = try_repairs(found, explanation.story, explanation.twins, told, budget=FEW)
        assert [one.verdict for one in experiments.attempts] == [PREVENTS] * len(others)


@pytest.mark.once
def test_a_lock_that_was_narrowed_too_far_is_tried_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few schedules decide what is left of a lock; that all of them hold is seen only then."""
    wide = VirtualLock((region("Stock.put", 8), region("Stock.take", 10, 11)))
    for narrow in (VirtualLock((region("Stock.take", 10),)), wide):
        monkeypatch.setattr(module, "narrowed", lambda lock, *_, narrow=narrow: narrow)
        (attempt,) = tried(tmp_path, NO_LOCK).attempts
        assert attempt.virtual == wide
        assert attempt.verdict == PREVENTS


@pytest.mark.once
def test_where_no_lock_helps_an_order_does(tmp_path: Path) -> None:
    best, *others = tried(tmp_path, EARLY).attempts
    assert best.virtual == VirtualOrder(region("Service.run", 8), region("Service.start", 6))
    assert best.verdict == PREVENTS
    assert {one.verdict for one in others} <= {FAILS, NO_PROOF}


@pytest.mark.parametrize(("signal", "count"), [("call set() later", 1), ("", 0)])
def test_an_order_is_tried_in_spite_of_other_help_where_a_signal_comes_too_early(
    signal: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where each thread needs a value of its own, none has to wait; but who was told too early has to."""
    monkeypatch.setattr(module, "order_proposals", lambda *_: iter(["an order"]))
    monkeypatch.setattr(module, "help_of_early_signal", lambda *_: signal)
    found: Any = SimpleNamespace(failing=log_of([]), passing=None)
    story: Any = SimpleNamespace(kind="order violation", help="something else")
    search = module._Search(found, story, found, found, found, found, FEW, 0)
    assert len(list(search._orders())) == count


@pytest.mark.parametrize(
    ("helps", "signal", "count"), [("", "", 1), ("something else", "call set() later", 1), ("something else", "", 0)]
)
def test_no_thread_waits_at_a_barrier_for_what_the_other_should_not_have_shown(
    helps: str, signal: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "barrier_proposals", lambda *_: iter(["a barrier"]))
    monkeypatch.setattr(module, "help_of_early_signal", lambda *_: signal)
    found: Any = SimpleNamespace(failing=log_of([]), passing=None)
    story: Any = SimpleNamespace(kind="read before initialisation", help=helps, hang=None)
    search = module._Search(found, story, found, found, found, found, FEW, 0)
    assert len(list(search._barriers())) == count


@pytest.mark.once
def test_threads_that_need_what_the_others_do_first_get_a_barrier(tmp_path: Path) -> None:
    (attempt,) = tried(tmp_path, PARTS).attempts
    assert attempt.virtual == VirtualBarrier(region("work", 5), ("0.1", "0.2"))
    assert attempt.verdict == PREVENTS
    assert "wait for each other before prog.py:5" in attempt_in_words(attempt)


@pytest.mark.once
def test_no_lock_is_proposed_for_what_is_known_only_weakly(tmp_path: Path) -> None:
    found = tried(tmp_path, WEAK)
    assert found.attempts == ()
    assert "keep what the answer was" in found.why_not


@pytest.mark.once
def test_a_deadlock_goes_away_if_both_locks_are_taken_in_one_step(tmp_path: Path) -> None:
    (attempt,) = tried(tmp_path, TWO_LOCKS).attempts
    assert attempt.virtual == VirtualLock((region("transfer", 6, 8),))
    assert attempt.verdict == PREVENTS


# -- without running anything ----------------------------------------------------------------------------------------


@pytest.mark.once
def test_where_nothing_prevents_a_hang_what_would_help_is_told(tmp_path: Path) -> None:
    text = (Path(__file__).parents[1] / "story" / "hangs" / "mailer.py").read_text(encoding="utf-8")
    text = text.replace("stopping = False", "stopping = 0").replace("stopping = True", "stopping = 1")  # not a flag
    found, explanation = isolated(tmp_path, text)
    explanation = with_experiments(explanation, found, budget=FEW)
    assert explanation.tried is not None
    assert PREVENTS not in {attempt.verdict for attempt in explanation.tried.attempts}
    told = " ".join(" ".join(story_as_text(explanation, found.failing.program)).split())
    assert "would help put the item that ends the wait" in told


def test_no_time_no_experiments() -> None:
    explanation = Explanation(cast(Any, "a story"), twins=cast(Any, "twins"))
    told = with_experiments(explanation, cast(Any, None), budget=Budget(100, 0)).tried
    assert told is not None
    assert (told.why_not, told.runs) == ("out of time", 0)


def test_no_schedules_no_experiments() -> None:
    explanation = Explanation(None, "there is none")
    assert with_experiments(explanation, None, budget=FEW) is explanation  # type: ignore[arg-type]
    told = Explanation(object(), twins=object())  # type: ignore[arg-type]
    assert with_experiments(told, None, budget=Budget(0, None)) is told  # type: ignore[arg-type]


@pytest.mark.once
@pytest.mark.parametrize(
    ("raised", "why"),
    [(NotControlledError("It is gone."), "It is gone."), (ZeroDivisionError("by 0"), "(ZeroDivisionError: by 0)")],
)
def test_what_goes_wrong_costs_only_the_experiments(
    raised: Exception, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> Experiments:
        raise raised

    monkeypatch.setattr(module, "try_repairs", fail)
    told = Explanation(object(), twins=object())  # type: ignore[arg-type]
    explanation = with_experiments(told, None, budget=FEW)  # type: ignore[arg-type]
    assert explanation.tried is not None
    assert why in explanation.tried.why_not
    assert not explanation.interrupted


@pytest.mark.once
def test_ctrl_c_keeps_what_is_there(tmp_path: Path) -> None:
    found, explanation = isolated(tmp_path, NO_LOCK)
    runs: list[str] = []

    def on_stage(text: str) -> None:
        runs.append(text)
        if len(runs) == 5:
            raise KeyboardInterrupt

    assert explanation.story is not None
    assert explanation.twins is not None
    made = try_repairs(found, explanation.story, explanation.twins, budget=FEW, on_stage=on_stage)
    assert made.stopped_by == "interrupt"
    assert made.attempts == ()
    assert made.runs == 5
    text = "\n".join(story_as_text(explanation._replace(tried=made), found.failing.program))
    assert "nothing yet" in text
    assert "5 runs; interrupted)" in text

    made = try_repairs(found, explanation.story, explanation.twins, budget=Budget(12, 0.0))
    assert (made.runs, made.attempts) == (0, ())
    told = story_as_json(explanation._replace(tried=made), found.failing.program)["tried"]
    assert told["stopped_by"] == "time"


@pytest.mark.once
def test_both_edges_of_each_failing_range_are_among_the_neighbours() -> None:
    """What leaves the first failing position open, and only that, must not be called sufficient."""

    def at(time: int) -> Switch:
        return Switch("0.1", time, "0.2", False, False, None, time, 1)

    def from_to(first: int, last: int, *, guilty: bool) -> FailingRange:
        return FailingRange(at(first), at(last), "", True, guilty, log_of([]), None)

    ranges = FailingRanges((from_to(3, 3, guilty=False), from_to(20, 80, guilty=True)), 0, 0, 0)
    _, *others = neighbours(log_of([at(80)]), at(80), ranges)
    times = [plan.triggers[0].time for plan in others]
    assert {1, 2, 3, 4, 5, 18, 19, 20, 21, 22, 78, 79, 81, 82} <= set(times)
    assert len([time for time in times if 22 < time < 78]) >= 4
    assert times[0] == 18  # those of the guilty range first
    forced = replace(at(80), by_default=True)
    assert len(list(neighbours(log_of([forced]), forced, ranges))) == 1


@pytest.mark.once
def test_a_choice_between_the_accesses_of_the_story_is_moved_between_them() -> None:
    """What leaves one of these positions open must not be called sufficient, wherever the isolated switch is."""

    def at(thread: str, time: int) -> Switch:
        return Switch(thread, time, "0.2", False, False, None, time, 1)

    def edge(time: int) -> Edge:
        return Edge(access("0.1", ("work", 1))._replace(time=time), (), inferred=False)

    story = Conflict("0.1", edge(4), edge(8), None, (), (), ())
    failing = log_of([at("0.1", 6), at("0", 80)])
    _, *others = neighbours(failing, at("0", 80), NO_RANGES, story)
    moved = [{trigger.thread: trigger.time for trigger in plan.triggers} for plan in others]
    assert [one for one in moved if one["0"] == 80] == [{"0.1": time, "0": 80} for time in (5, 7, 8)]
    assert len([one for one in moved if one["0"] != 80]) == len(list(neighbours(failing, at("0", 80), NO_RANGES))) - 1


@pytest.mark.once
def test_both_kinds_of_schedules_take_turns() -> None:
    near, far = [Plan(label=f"near {number}") for number in range(2)], [Plan(label=str(number)) for number in range(4)]
    plans, numbers = in_turns(near, far)
    assert [str(plan) for plan in plans] == ["near 0", "0", "near 1", "1", "2", "3"]
    assert numbers == {0, 2}
    assert in_turns(far, near)[1] == {0, 2, 4, 5}


@pytest.mark.once
def test_neighbours_are_the_failing_schedule_and_its_switch_elsewhere(tmp_path: Path) -> None:
    found, _ = isolated(tmp_path, NO_LOCK)
    assert found.switch is not None
    switch = found.switch.failing
    first, *others = neighbours(found.failing, switch, found.ranges)
    assert first.triggers == found.failing.triggers
    times = [trigger.time for plan in others for trigger in plan.triggers if trigger.thread == switch.thread]
    assert switch.time not in times
    assert {switch.time - 1, switch.time + 1} <= set(times)
    assert len(times) == len(set(times))
