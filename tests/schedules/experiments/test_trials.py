"""The same schedules with and without: what is counted, and what counts as a proof."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace

import pytest

from replay_dd.report.tried import outcome_in_words, tried_in_words
from replay_dd.schedules.experiments.experiments import Budget, _Made, _Search
from replay_dd.schedules.experiments.trials import Trials
from replay_dd.schedules.failures.signature import signature_of
from replay_dd.schedules.model import Ending, Frame, UncaughtException, Waiter
from replay_dd.schedules.running.target import Plan
from replay_dd.schedules.runtime.virtual.lock import NOT_TAKEN
from replay_dd.schedules.story.experiment_results import (
    FAILS,
    NO_PROOF,
    PREVENTS,
    TOO_FEW,
    Attempt,
    Counts,
    Experiments,
)
from replay_dd.schedules.virtual import Region, VirtualLock
from tests.schedules.experiments.fakes import FAILS as FAILED
from tests.schedules.experiments.fakes import PASSES, FakeRunner

pytestmark = pytest.mark.once

LOCK = VirtualLock((Region("prog.py", "work", 3, 5),))
DEADLOCK = Ending(
    status=None, signal=9, deadlock=(Waiter("0.1", "waits for the lock", (Frame("prog.py", 3, "work", True),)),)
)
OTHER = replace(
    FAILED, exceptions=(UncaughtException("main", "KeyError", "'x'", (Frame("prog.py", 9, "work", True),)),)
)


def trials(ends: Callable[[Plan], Ending], amount: int = 6, **options: object) -> Trials:
    """``ends`` says how a run of a plan ends; the plans are labelled 0, 1, ..."""
    plans = [Plan(label=str(number)) for number in range(amount)]
    runner = FakeRunner(ends)
    made = Trials(runner, signature_of(FAILED), "", plans, jobs=1, time_limit_s=None, **options)  # type: ignore[arg-type]
    made.run(None, range(amount))
    return made


def odd_fail(plan: Plan) -> Ending:
    return FAILED if plan.virtual is None and int(plan.label) % 2 else PASSES


def test_a_lock_with_which_nothing_fails_prevents_it() -> None:
    found = trials(odd_fail).attempt(LOCK)
    assert (found.verdict, found.why) == (PREVENTS, "")
    assert (found.counts, found.without) == (Counts(6, 0), Counts(6, 3))


def test_one_schedule_that_no_longer_fails_is_too_few_to_tell() -> None:
    """Whatever is changed moves the switches of that one."""
    found = trials(lambda plan: FAILED if plan.virtual is None and plan.label == "3" else PASSES, 50).attempt(LOCK)
    assert (found.verdict, found.counts, found.without) == (TOO_FEW, Counts(50, 0), Counts(50, 1))
    assert outcome_in_words(found) == "0 of 50 schedules fail (without: 1), too few to tell"
    assert not Experiments((found,)).prevents
    told = " ".join(words for _, words in tried_in_words(Experiments((found,), schedules=50, neighbours=1)))
    assert "none of this prevents" not in told


def test_a_lock_with_which_some_fail_does_not() -> None:
    found = trials(lambda plan: FAILED if int(plan.label) == 5 else odd_fail(plan)).attempt(LOCK)
    assert (found.verdict, found.counts) == (FAILS, Counts(6, 1))


@pytest.mark.parametrize(("ending", "word"), [(DEADLOCK, "deadlock"), (OTHER, "KeyError (prog.py:9 in work)")])
def test_a_lock_that_makes_another_failure_proves_nothing(ending: Ending, word: str) -> None:
    made = trials(lambda plan: ending if plan.virtual and plan.label == "2" else odd_fail(plan))
    found = made.attempt(LOCK)
    assert found.verdict == NO_PROOF
    assert found.why == f"1 of 6 schedules end with {word} instead"
    assert not made.holds(LOCK, [2])
    assert made.holds(LOCK, [1, 3])


def test_another_failure_that_is_there_without_it_is_only_told() -> None:
    made = trials(lambda plan: OTHER if plan.label in "24" else odd_fail(plan))
    found = made.attempt(LOCK)
    assert found.verdict == PREVENTS
    assert found.counts == Counts(6, 0, {"KeyError (prog.py:9 in work)": 2})
    assert found.without == Counts(6, 3, {"KeyError (prog.py:9 in work)": 2})
    assert made.holds(LOCK, range(6))


def test_a_failure_like_that_one_but_elsewhere_proves_nothing() -> None:
    """A deadlock on another line, where a deadlock was to be prevented."""
    elsewhere = replace(DEADLOCK, deadlock=(Waiter("0.1", "waits", (Frame("prog.py", 4, "work", True),)),))
    plans = [Plan(label=str(number)) for number in range(3)]
    runner = FakeRunner(lambda plan: elsewhere if plan.virtual else DEADLOCK)
    made = Trials(runner, signature_of(DEADLOCK), "", plans, jobs=1, time_limit_s=None)  # type: ignore[arg-type]
    made.run(None, range(3))
    assert not made.holds(LOCK, [1])
    assert (made.attempt(LOCK).verdict, made.attempt(LOCK).why) == (
        NO_PROOF,
        "3 of 3 schedules end with deadlock instead",
    )


def test_a_deadlock_of_other_threads_at_the_same_place_is_still_that_deadlock() -> None:
    """It was there before, too, and so it would only be told beside; but the lock has only moved it."""
    caught = Waiter("0.2", "waits for the lock", (Frame("prog.py", 3, "work", True),))
    main = Waiter("0", "waits for thread 0.1 to end", (Frame("prog.py", 9, "<module>", True),))
    both = replace(DEADLOCK, deadlock=(main, *DEADLOCK.deadlock))
    others = replace(DEADLOCK, deadlock=(main, caught))
    elsewhere = replace(DEADLOCK, deadlock=(main, replace(caught, frames=(Frame("prog.py", 7, "work", True),))))
    runner = FakeRunner(lambda plan: {"0": both, "1": others, "2": elsewhere}[plan.label])
    made = Trials(runner, signature_of(both), "", [Plan(label=one) for one in "012"], jobs=1, time_limit_s=None)  # type: ignore[arg-type]
    made.run(None, range(3))
    assert [made.failed(number) for number in range(3)] == [True, True, False]


def test_a_lock_that_was_not_taken_proves_nothing() -> None:
    note = f"`self.gone` is no lock at prog.py:3, {NOT_TAKEN}"
    made = trials(lambda plan: replace(PASSES, notes=(note,)) if plan.virtual else odd_fail(plan))
    assert (made.attempt(LOCK).verdict, made.attempt(LOCK).why) == (NO_PROOF, note)
    assert not made.holds(LOCK, [1])


def test_it_does_not_hold_where_one_fails() -> None:
    made = trials(lambda plan: FAILED)
    assert not made.holds(LOCK, [0, 1])
    assert made.runs == 7  # the first that fails ends it


def test_a_schedule_is_run_once_with_each() -> None:
    counted: list[int] = []
    made = trials(odd_fail, on_run=counted.append)
    for _ in range(2):
        made.attempt(LOCK)
        made.holds(LOCK, [1, 3])
    assert counted == list(range(1, 13))


def test_what_was_run_in_time_is_compared() -> None:
    made = trials(odd_fail)
    made.run(LOCK, [0, 1])
    made.ends_at = 0.0
    found = made.attempt(LOCK)
    assert (found.counts, found.without) == (Counts(2, 0), Counts(2, 1))
    assert not made.holds(LOCK, [0, 1, 2])
    assert made.count_without() == 6


def in_time(made: Trials, runs: int) -> Attempt:
    """What is found of the lock where there is time for this many runs with it."""
    left = [runs]

    def count(_: int) -> None:
        left[0] -= 1
        made.ends_at = 0.0 if left[0] <= 0 else None

    made._on_run, made.ends_at = count, None
    return made.attempt(LOCK)


def test_a_few_schedules_are_too_few_where_others_that_fail_were_left_for_lack_of_time() -> None:
    made = trials(lambda plan: PASSES if plan.virtual else FAILED, 40)
    found = in_time(made, 14)
    assert (found.verdict, found.counts.schedules, found.untried) == (TOO_FEW, 14, 26)
    assert outcome_in_words(found) == (
        "0 of 14 schedules fail (without: 14), too few to tell; not tried in time: 26 that do not pass without"
    )
    found = in_time(made, 6)
    assert (found.verdict, found.counts.schedules, found.untried) == (PREVENTS, 20, 20)
    assert outcome_in_words(found).endswith("(without: 20); not tried in time: 20 that do not pass without")
    found = in_time(made, 100)
    assert (found.verdict, found.untried) == (PREVENTS, 0)
    assert outcome_in_words(found) == "0 of 40 schedules fail (without: 40)"


def test_what_ends_in_another_way_without_is_tried_first() -> None:
    """It may be the same race, seen elsewhere; until it is tried, nobody knows whether that lock helps there."""
    made = trials(lambda plan: PASSES if plan.virtual else OTHER if int(plan.label) > 38 else odd_fail(plan), 60)
    made.run(LOCK, [number for number in range(60) if made.failed(number)])
    made.ends_at = 0.0
    assert (made.attempt(LOCK).verdict, made.attempt(LOCK).untried) == (TOO_FEW, 21)
    found = in_time(made, 21)
    assert (found.verdict, found.untried) == (PREVENTS, 0)
    fresh = trials(lambda plan: PASSES if plan.virtual else OTHER if int(plan.label) > 38 else odd_fail(plan), 60)
    assert in_time(fresh, 21).without == Counts(21, 0, {"KeyError (prog.py:9 in work)": 21})
    assert in_time(fresh, 18).verdict == TOO_FEW
    assert in_time(fresh, 1).verdict == PREVENTS


def test_those_that_were_not_run_without_are_not_compared() -> None:
    made = trials(odd_fail, 0)
    made.plans = [Plan(label=str(number)) for number in range(6)]
    made.run(None, [0, 1])
    assert made.attempt(LOCK).counts == Counts(2, 0)
    assert made.attempt(LOCK, [1, 3]).counts == Counts(1, 0)  # of these, one was run with it


def test_a_lock_may_be_asked_to_leave_no_failure_of_another_kind() -> None:
    """The other failure occurs without the lock as well, so it is no new one; but with a better lock it is gone."""
    made = trials(lambda plan: OTHER if plan.label == "2" else odd_fail(plan))
    assert made.ended_otherwise() == [2]
    assert made.holds(LOCK, [1, 2])
    assert not made.holds(LOCK, [1, 2], passing=True)
    assert made.holds(LOCK, [1, 3], passing=True)


def test_of_several_locks_the_one_that_time_has_cut_off_is_told() -> None:
    """The smaller one was refuted: with it, a schedule ends in the other way, as it does without."""
    wider = VirtualLock((Region("prog.py", "work", 2, 6),))

    def ends(plan: Plan) -> Ending:
        other = plan.label == "0" and plan.virtual != wider
        return OTHER if other else PASSES if plan.virtual else FAILED

    made, told = trials(ends), _Made()
    made._on_run = lambda number: setattr(made, "ends_at", 0.0 if number >= 11 else None)
    found = SimpleNamespace(failing=SimpleNamespace(program=None))
    search = _Search(found, *[None] * 3, made, told, Budget(6, None), 0.0)  # type: ignore[arg-type, list-item, misc]
    assert search._one_of((LOCK, wider), [1, 0, 2, 3, 4, 5], passing=True)
    (attempt,) = told.attempts
    assert (attempt.virtual, attempt.verdict, attempt.untried, told.stopped_by) == (wider, TOO_FEW, 3, "time")
