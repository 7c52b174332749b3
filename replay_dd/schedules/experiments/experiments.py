"""Tries what could keep an isolated failure from happening, by experiment.

Rules of this module:

* The program's files stay as they are: the scheduler keeps the lock, or the order.
* What is told is what all schedules did, with and without. Which of several regions it is, and how small, is decided by
  those schedules that fail without.
* The first that helps ends it: notifications of all, where one was that of the wrong thread; a barrier where one
  function does both; a lock of the program, one of its own; an order.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from typing import NamedTuple

from replay_dd.errors import ReplayDDError
from replay_dd.schedules.experiments.in_vain import why_in_vain
from replay_dd.schedules.experiments.narrow import bodies_called, covers, is_one_step, narrowed, told_under
from replay_dd.schedules.experiments.notifications import notify_all_proposals
from replay_dd.schedules.experiments.proposals import (
    barrier_proposals,
    deadlock_proposals,
    lock_proposals,
    order_proposals,
    without_gaps,
)
from replay_dd.schedules.experiments.schedules_to_try import hunted, in_turns, neighbours
from replay_dd.schedules.experiments.sources import Sources
from replay_dd.schedules.experiments.taken_again import taken_again, to_be_widened
from replay_dd.schedules.experiments.trials import Trials
from replay_dd.schedules.experiments.width import is_much_narrower, lock_of_updates
from replay_dd.schedules.failures.signature import signature_of
from replay_dd.schedules.isolating.answer import ScheduleIsolation
from replay_dd.schedules.replaying.comparable import time_limit_for
from replay_dd.schedules.running.runner import Runner
from replay_dd.schedules.running.target import Plan
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.acted_later import acted_on_later
from replay_dd.schedules.story.at_switch import conflict_at_edges, conflict_of, conflicts_elsewhere
from replay_dd.schedules.story.conflict import Conflict
from replay_dd.schedules.story.early_signal import help_of_early_signal
from replay_dd.schedules.story.experiment_results import PREVENTS, TOO_FEW, Attempt, Experiments
from replay_dd.schedules.story.explain import Explanation
from replay_dd.schedules.story.kinds import essential
from replay_dd.schedules.story.own_fault import WHY_NOT_TRIED
from replay_dd.schedules.story.story import Story
from replay_dd.schedules.story.twins import Twins
from replay_dd.schedules.virtual import Virtual, VirtualBarrier, VirtualLock, VirtualOrder

SCHEDULES = 100  # that are hunted, by default
TIME_S = 10.0  # and how long that may take
LONGEST_S = 30.0  # where until then too few have failed to tell anything
_WITHOUT, _SEARCH = 0.4, 0.7  # of that time: when the runs without must be done, and the search for what helps
_QUICK = 12  # hunted schedules that decide on the way
_ENOUGH_FAILING, _ENOUGH = 5, 20  # schedules for which it is worth taking longer
_INTERRUPTED = "no lock and no order keeps a thread from being interrupted within itself"
_OF_TASKS = "an event loop chooses which of its tasks goes on; no lock of threads can make one wait"
_DEEPEST = 3  # calls into which a lock is moved
_NARROWING = 40  # smaller locks that are tried


class Budget(NamedTuple):
    """How much is tried.

    Attributes:
        schedules: how many are hunted, at most.
        time_s: seconds after which it ends with what there is; None for no limit.
        longest_s: the same, for programs of which only a few schedules can be tried until then.
    """

    schedules: int = SCHEDULES
    time_s: float | None = TIME_S
    longest_s: float = LONGEST_S


def with_experiments(
    explanation: Explanation,
    found: ScheduleIsolation,
    *,
    budget: Budget,
    jobs: int = 1,
    may_fork: bool = True,
    time_limit_s: float | None = None,
    on_stage: Callable[[str], None] = lambda text: None,
    runner: Runner | None = None,
) -> Explanation:
    """The explanation with what was tried; whatever goes wrong here costs the experiments, never the answer.

    Arguments as for :func:`try_repairs`.
    """
    story, twins = explanation.story, explanation.twins
    if story is None or twins is None or budget.schedules == 0 or explanation.interrupted:
        return explanation
    if explanation.conflict is not None and explanation.conflict.of_tasks:
        return explanation._replace(tried=Experiments(why_not=_OF_TASKS))
    if explanation.conflict is not None and explanation.conflict.interrupter:
        return explanation._replace(tried=Experiments(why_not=_INTERRUPTED))
    if explanation.conflict is not None and explanation.conflict.fault:
        return explanation._replace(tried=Experiments(why_not=WHY_NOT_TRIED[explanation.conflict.fault]))
    if budget.time_s is not None and budget.time_s <= 0:
        return explanation._replace(tried=Experiments(why_not="out of time"))
    try:
        tried = try_repairs(
            *(found, story, twins, explanation.conflict),
            budget=budget,
            jobs=jobs,
            may_fork=may_fork,
            time_limit_s=time_limit_s,
            on_stage=on_stage,
            runner=runner,
        )
    except ReplayDDError as error:
        tried = Experiments(why_not=str(error))
    except Exception as error:
        tried = Experiments(why_not=f"the experiments failed ({type(error).__name__}: {error})")
    return explanation._replace(tried=tried, interrupted=tried.stopped_by == "interrupt")


def try_repairs(
    found: ScheduleIsolation,
    story: Story,
    twins: Twins,
    conflict: Conflict | None = None,
    *,
    budget: Budget,
    jobs: int = 1,
    may_fork: bool = True,
    time_limit_s: float | None = None,
    on_stage: Callable[[str], None] = lambda text: None,
    runner: Runner | None = None,
) -> Experiments:
    """Try what could keep an isolated failure from happening.

    Args:
        found: the isolation.
        story: its story.
        twins: what the two final runs accessed.
        conflict: what the story is about; None to find it out.
        budget: how much to try.
        jobs: the number of parallel runs.
        may_fork: fork the program at its first thread for each run, if possible.
        time_limit_s: seconds after which a run is killed; None to derive it from the recorded runs.
        on_stage: receives progress, in words.
        runner: runs the program; by default a new one.

    Raises:
        ProgramNotFoundError, NotControlledError: the program can no longer be run.
    """
    why_not = why_in_vain(story, conflict, twins)
    if why_not:
        return Experiments(why_not=why_not)
    began = time.monotonic()
    log = found.failing
    limit_s = time_limit_for((found.passing, log)) if time_limit_s is None else time_limit_s
    made = _Made()
    own = Runner(log.program, log.settings, may_fork=may_fork) if runner is None else nullcontext(runner)
    with own as used:
        try:
            first = used.run(Plan("profile"), limit_s)
            assert found.switch is not None
            about = conflict_of(found, found.switch, twins) if conflict is None else conflict
            near = neighbours(log, found.switch.failing, found.ranges, about)
            plans, made.near = in_turns(near, hunted(first, budget.schedules))
            trials = Trials(
                *(used, signature_of(log.ending), log.failure, plans),
                jobs=jobs,
                time_limit_s=min(limit_s, 5 + 20 * first.log.ending.seconds),
                on_run=lambda number: on_stage(f"{made.stage}, run {number}"),
            )
            made.trials = trials
            _Search(found, story, twins, about, trials, made, budget, began).run()
        except KeyboardInterrupt:
            made.stopped_by = "interrupt"
    done = made.trials
    return Experiments(
        attempts=tuple(made.attempts),
        schedules=0 if done is None else done.count_without(),
        neighbours=0 if done is None else sum(number in made.near for number in range(done.count_without())),
        runs=0 if done is None else done.runs,
        seconds=time.monotonic() - began,
        stopped_by=made.stopped_by,
        why_not=made.why_not,
    )


class _Made:
    """What there is so far, whatever ends it."""

    def __init__(self) -> None:
        self.attempts: list[Attempt] = []
        self.trials: Trials | None = None
        self.near: frozenset[int] = frozenset()
        self.stage = "trying the schedules as they are"
        self.stopped_by = ""
        self.why_not = ""


class _Search:
    """Looks for what helps."""

    def __init__(
        self,
        found: ScheduleIsolation,
        story: Story,
        twins: Twins,
        conflict: Conflict,
        trials: Trials,
        made: _Made,
        budget: Budget,
        began: float,
    ) -> None:
        self._found, self._story, self._twins, self._conflict = found, story, twins, conflict
        self._trials, self._made = trials, made
        self._budget, self._time_s, self._began = budget, budget.time_s, began
        self._sources = Sources(found.failing.program)

    def run(self) -> None:
        """Make the experiments; what they find is in ``made``, also if this is interrupted."""
        trials, made = self._trials, self._made
        self._until(_WITHOUT)
        trials.run(None, range(len(trials.plans)))
        if trials.out_of_time and self._time_s and not self._is_enough():
            self._time_s = max(self._time_s, self._budget.longest_s)
            self._until(_WITHOUT)
            trials.run(None, range(len(trials.plans)), lambda ended: not self._is_enough())
        failed = [number for number in range(trials.count_without()) if trials.failed(number)]
        if trials.out_of_time and not failed:
            made.stopped_by = "time"
            return
        if 0 not in failed:
            made.why_not = "the failing schedule does not fail when it is run once more"
            return
        quick = _some_of(failed, made.near)
        others = trials.ended_otherwise()[:_QUICK]
        self._until(_SEARCH)
        for notifies in notify_all_proposals(self._story, self._found.failing):
            made.stage = "trying notifications of all"
            if self._one_of((notifies,), quick):
                return
        # No lock keeps an order; on a few schedules one may seem to.
        for barrier in self._barriers():
            made.stage = "trying a barrier"
            if self._one_of((barrier,), quick):
                return
        if self._is_weak():
            made.why_not = "no lock keeps an object that is known only weakly: ask once, and keep what the answer was"
            return
        # Nor does a lock make anyone wait for a thread to be done.
        orders = list(self._orders())
        early = orders[:1] if self._story.kind == kinds.TOO_SOON else []
        for order in early:
            made.stage = "trying an order"
            if self._one_of((order,), quick):
                return
        for proposed in self._locks():
            locks = dict.fromkeys(without_gaps(one, self._sources) for one in proposed)
            group = tuple(lock for lock in locks if lock.regions)
            made.stage = "trying a lock"
            # What ends in another way without may be the same race seen elsewhere: rather what mends that, too. It is
            # asked early, as smaller locks leave just that.
            if others and self._one_of(group, [*quick[:1], *others, *quick[1:]], passing=True):
                return
            if self._one_of(group, quick):
                return
        for order in orders[len(early) :]:
            made.stage = "trying an order"
            if self._one_of((order,), quick):
                return
        if not made.attempts:
            made.why_not = "the story names no lines that a lock or an order could be tried at"

    def _is_enough(self) -> bool:
        """Whether so many schedules were run without anything that more are not worth taking longer."""
        count = self._trials.count_without()
        return count >= _ENOUGH and sum(map(self._trials.failed, range(count))) >= _ENOUGH_FAILING

    def _until(self, share: float) -> None:
        if self._time_s is not None:
            self._trials.ends_at = self._began + share * self._time_s

    def _is_weak(self) -> bool:
        """Whether the failure is that an object was gone to which nothing referred any more."""
        right = self._conflict.right
        return right is not None and right.access.is_weak and right.access.reads

    def _locks(self) -> Iterator[tuple[VirtualLock, ...]]:
        if self._story.kind in (kinds.LOCK_ORDER, kinds.SELF_DEADLOCK):
            turns = [[step.access for step in turn.steps] for turn in self._story.turns]
            yield from deadlock_proposals(turns, self._sources)
            return
        seen = (self._twins.failing, self._twins.passing)
        told, switch = self._conflict, self._found.switch
        yield from lock_proposals(told, seen, self._sources)
        assert switch is not None
        at_edges = conflict_at_edges(self._found, switch, self._twins)
        known = told in (at_edges, essential(at_edges, self._found.failing.ending))
        # What one thread does twice is no step of its own there: to make it one only keeps the others out.
        if not known and acted_on_later(at_edges, self._twins.failing) is None:
            yield from lock_proposals(at_edges, seen, self._sources)
        for elsewhere in conflicts_elsewhere(self._found, switch, self._twins):
            yield from lock_proposals(elsewhere, seen, self._sources)

    def _barriers(self) -> Iterator[VirtualBarrier]:
        waits = self._story.kind in (kinds.ORDER_VIOLATION, kinds.TOO_EARLY)
        if self._story.hang is None and waits and self._may_have_to_wait():
            yield from barrier_proposals(self._conflict, self._twins.failing, self._sources)

    def _orders(self) -> Iterator[VirtualOrder]:
        # Where each thread needs a value of its own, none has to wait for what another one does.
        if self._story.kind not in (kinds.LOCK_ORDER, kinds.SELF_DEADLOCK) and self._may_have_to_wait():
            yield from order_proposals(self._conflict, self._twins.passing, self._sources)

    def _may_have_to_wait(self) -> bool:
        """Whether one thread may have to wait for what another one does, as nothing else is known that would help."""
        early = help_of_early_signal(self._story.kind, self._conflict, self._twins.failing)
        return not self._story.help or bool(early)

    def _one_of(self, group: Sequence[Virtual], quick: Sequence[int], *, passing: bool = False) -> bool:
        """Whether one of these prevents the failure; told with what all schedules did with it, or why it does not."""
        trials, made = self._trials, self._made
        best: Attempt | None = None
        for virtual in group:
            if not trials.holds(virtual, quick, passing=passing):
                tried = trials.attempt(virtual, quick)
                # The first one is told, unless time ended one that nothing speaks against yet.
                cut_off = trials.out_of_time and tried.verdict in (PREVENTS, TOO_FEW)
                if (best is None or cut_off) and tried.counts.schedules and not tried.not_taken:
                    best = tried
                if trials.out_of_time:
                    break
                continue
            larger: list[VirtualLock] = []
            if isinstance(virtual, VirtualLock):
                made.stage = "narrowing the lock"
                virtual, *larger = self._narrowed(virtual, quick, passing=passing)
            made.stage = "trying all schedules with it"
            self._until(1.0)
            whole = trials.attempt(virtual)
            while larger and whole.verdict not in (PREVENTS, TOO_FEW):  # narrowed on too few schedules
                virtual = larger.pop(0)
                whole = trials.attempt(virtual)
            if isinstance(virtual, VirtualLock):
                whole = whole._replace(
                    again=taken_again(virtual, self._twins.failing, self._sources),
                    widened=to_be_widened(virtual, self._twins.failing, self._sources),
                )
            if whole.verdict in (PREVENTS, TOO_FEW) and whole.counts.schedules:
                made.attempts.insert(0, whole)
                return True
            best = whole
            if trials.out_of_time:
                break
        known = [attempt.virtual for attempt in made.attempts]
        if best is not None and best.virtual not in known and (not passing or trials.out_of_time):
            made.attempts.append(best)
        if trials.out_of_time:
            made.stopped_by = "time"
        return trials.out_of_time

    def _narrowed(self, lock: VirtualLock, quick: Sequence[int], *, passing: bool) -> list[VirtualLock]:
        """Locks that hold, the smallest first: narrowed, also inside of what a statement calls, and as it was.

        Around calls of what updates something, it is rather a lock of the updates alone.
        """
        updates = lock_of_updates(self._conflict, self._twins.failing, self._sources)
        narrower = updates is not None and is_much_narrower(updates, lock, self._twins.failing)
        # All schedules are tried with it then; if it fails, the other one is told.
        if updates is not None and narrower and self._trials.holds(updates, quick[:_QUICK], passing=passing):
            return [updates, lock]
        kept, conflict = told_under(lock, self._conflict), self._conflict
        as_one = is_one_step(lock, conflict)

        def holds(one: VirtualLock) -> bool:
            told = covers(one, kept) and (is_one_step(one, conflict) or not as_one)
            return told and self._trials.holds(one, quick, passing=passing)

        found: list[VirtualLock] = []
        smaller: VirtualLock | None = lock
        while smaller is not None and len(found) < 2 * _DEEPEST:
            found = [narrowed(smaller, self._sources, holds, _NARROWING), smaller, *found]
            inner = bodies_called(found[0], (self._twins.failing, self._twins.passing), self._sources)
            smaller = next((one for one in inner if holds(one)), None)
        return list(dict.fromkeys(found))


def _some_of(failed: Sequence[int], near: frozenset[int]) -> list[int]:
    """Failing schedules to decide by: all that are near the isolated one, and some of those that were hunted."""
    close = [number for number in failed if number in near]
    far = [number for number in failed if number not in near]
    step = max(1, len(far) // _QUICK)
    return [*close, *far[::step][:_QUICK]]
