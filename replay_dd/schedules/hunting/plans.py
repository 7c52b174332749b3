"""What the runs of a hunt try: preemptions at conflicts, combined as the hunt learns, in turn with random strategies.

Rules of this module:

* Preemptions come from what the threads touched (``likely_preemptions.py``): first single ones of the
  default schedule. The run of each tells what the threads touch then, and with that, which preemption to add.
  Where it reaches a place that no run had reached, the preemptions that led there do not count.
* The first runs try preemptions, as their failures are easiest to explain: the next in order, promising ones before
  others, and fewer before more, in turn with the next that may bring about an order of two accesses that no run had.
  What the most promising ones do not find takes many of them, so of three runs after that, two draw a schedule, and one
  tries a preemption.
* Preemptions are tried without notes of places where nothing is shared (``unshared_places.py``), and
  partial order sampling does not stop there.
* Where the program's code has finalizers, every third plan collects garbage at drawn places, until there were enough.
* Plans depend on runs that were given at least ``LAG`` plans before, so they are the same for any number of jobs.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterator
from dataclasses import replace
from typing import NamedTuple

from replay_dd.schedules.hunting.finalizers import COLLECT, collecting, collecting_plans, has_finalizers
from replay_dd.schedules.hunting.likely_preemptions import (
    Order,
    Preemption,
    is_order,
    is_sample,
    orders_of,
    trace_of,
)
from replay_dd.schedules.hunting.lock_cycles import lock_cycles
from replay_dd.schedules.hunting.possible_preemptions import possible_preemptions
from replay_dd.schedules.hunting.progress import Progress, Waiting
from replay_dd.schedules.hunting.strategies import ABREAST, PARTIAL_ORDER, VIEWS, RandomPlans
from replay_dd.schedules.hunting.unshared_places import UnsharedPlaces
from replay_dd.schedules.model import Trigger
from replay_dd.schedules.replaying.record import plan_for
from replay_dd.schedules.running.target import Plan, TargetRun
from replay_dd.schedules.runtime.channel import LOCK

LAG = 4
_NEXT, _NEW_ORDER, _RANDOM = "next", "new order", "random"
_FIRST_TURNS = (_NEXT, _NEW_ORDER, _NEXT)
_TURNS = (_RANDOM, _RANDOM, _NEW_ORDER, _RANDOM, _RANDOM, _NEXT)
_MOST_PREEMPTIONS = 4
_ONE_MORE = 2  # one more preemption counts as much as two ranks, another choice where one is forced as one
_MOST_TOUCHES = 4_000  # of a run that is learnt from
_MOST_WAITING = 20_000  # preemptions to be tried


class Coverage(NamedTuple):
    """What the runs of a hunt covered, as far as the touches of its threads are known.

    Attributes:
        orders_seen: how many orders of two conflicting accesses some run had.
        orders_known: as many, with their opposites, some of which may be impossible.
        tried: how many combinations of preemptions at conflicts were tried.
        exhausted: all combinations of up to so many preemptions at conflicts were tried.
        exhaustive: how many those were.
        sampled: whether conflicts were left out, such as those of later rounds of a loop.
        all_orders: how many orders of all conflicting accesses there are, if each was run; otherwise 0.
        collecting: how many runs collected garbage, which calls finalizers.
    """

    orders_seen: int
    orders_known: int
    tried: int
    exhausted: int
    exhaustive: int
    sampled: bool
    all_orders: int
    collecting: int


def _turn(number: int) -> str:
    """Whose turn it is."""
    later = number - len(_FIRST_TURNS)
    return _FIRST_TURNS[number] if later < 0 else _TURNS[later % len(_TURNS)]


def _order(one: Waiting) -> tuple[int, int, int]:
    return one.cost, one.position, one.number


class HuntPlans(Iterator[Plan]):
    """The plans of a hunt after its run under the default schedule.

    Args:
        first: that run, with what its threads touched.
        seed: the first seed.
        amount: how many plans at most.
        before: what earlier hunts of the same program came to.
        seen_before: which orders in a run's places were seen before the program was edited; those are not new.
        only_preemptions: nothing is drawn; ends when no preemptions are left.

    Attributes:
        orders: the orders of conflicting accesses that the runs had.
    """

    def __init__(
        self,
        first: TargetRun,
        seed: int,
        amount: int,
        before: Progress | None = None,
        seen_before: Callable[[TargetRun], set[Order]] | None = None,
        *,
        only_preemptions: bool = False,
    ) -> None:
        self._first = first
        self._seed = seed
        self._amount = amount
        self._given = 0
        self._before = before = before or Progress()
        self._learnt = 0
        self._running: dict[int, tuple[Waiting, bool]] = {}
        self._seen_before = seen_before or (lambda run: set())
        self._no_news: set[Order] = set()
        self._likely_given = 0
        self._random = RandomPlans(first)
        self._unshared = UnsharedPlaces()
        self._only_preemptions = only_preemptions
        self._waiting: list[Waiting] = []
        self._unlearned: list[tuple[int, Plan, TargetRun]] = []
        self._numbered = 0
        self._tried: set[tuple[Trigger, ...]] = set()
        self._traces: set[int] = set()
        self._reached: set[tuple[str, int]] = set()
        self._free: dict[tuple[Trigger, ...], int] = {}
        self._sampled = False
        self._collects = not only_preemptions and has_finalizers(first.log.program)
        self._hoped_for: set[Hashable] = set()
        self._novelties: dict[tuple[Trigger, ...], Hashable] = {}
        self.orders: set[Order] = set()
        for triggers in lock_cycles(first.touches):
            self._add(triggers[:-1], Preemption(triggers[-1], 0, (LOCK, triggers)), 0)
        self._orders_by_chance: set[Order] = set()  # what draws reached, a preemption may still have to
        self._go_on(before)
        self._learn_from(Plan(), first)

    def __next__(self) -> Plan:
        if self._given - self._before.plans >= self._amount:
            raise StopIteration
        while self._unlearned and self._unlearned[0][0] <= self._given - LAG:
            _, plan, run = self._unlearned.pop(0)
            self._learn_from(plan, run)
        number = self._given
        self._given += 1
        collecting_before = collecting_plans(number) if self._collects else 0
        if self._collects and collecting_plans(number + 1) > collecting_before:
            return collecting(collecting_before, self._seed)
        best = self._best(number - collecting_before, number)
        if best is not None:
            self._likely_given += 1
            label = (
                "preemption at a conflict"
                if len(best.triggers) == 1
                else f"{len(best.triggers)} preemptions at conflicts"
            )
            left_out = self._unshared.known
            self._sampled = self._sampled or bool(left_out)
            return Plan("profile", triggers=best.triggers, left_out=left_out, label=label)
        if self._only_preemptions:
            raise StopIteration
        plan = self._random.plan(number - self._likely_given - collecting_before, self._seed + number)
        return replace(plan, left_out=self._unshared.known) if PARTIAL_ORDER in plan.options else plan

    def learn(self, number: int, plan: Plan, run: TargetRun) -> None:
        """Take the run of a plan, in the order of the plans.

        Args:
            number: which plan, from 0.
            plan: the plan.
            run: its run.
        """
        number += self._before.plans
        self._learnt += 1
        self._running.pop(number, None)
        if plan.strategy == "profile" or plan.first is not None:
            self._unlearned.append((number, plan, run))

    def look_at(self, plan: Plan, run: TargetRun) -> None:
        """Take the run of a plan that is none of these, before the first of them is made."""
        self._random.leave_out(plan)
        if plan.strategy == "profile":
            self._learn_from(plan, run)

    def allow(self, more: int) -> None:
        """Make so many more plans, at most, than were asked for."""
        self._amount += more

    @property
    def coverage(self) -> Coverage:
        """What the runs covered; to be asked for when all are done."""
        self._settle()
        seen = self.orders | self._orders_by_chance
        known = seen | {(second, first) for first, second in seen}
        left = min((len(one.triggers) for one in self._waiting), default=_MOST_PREEMPTIONS + 1)
        exhausted = left - 1 if len(self._waiting) < _MOST_WAITING else 0
        exhaustive = sum(len(triggers) <= exhausted for triggers in self._novelties)
        return Coverage(
            *(len(seen), len(known), self._likely_given, exhausted, exhaustive),
            sampled=self._sampled,
            all_orders=self._random.orders,
            collecting=collecting_plans(self._given) if self._collects else 0,
        )

    @property
    def progress(self) -> Progress:
        """What the next hunt of the same program can go on with; to be asked for when all are done."""
        self._settle()
        return Progress(
            *(self._before.seed, self._given, self._likely_given, self._numbered, self._sampled),
            tried=self._novelties,
            waiting=sorted(self._waiting, key=_order),
            orders=self.orders,
            by_chance=self._orders_by_chance - self.orders,
        )

    def _settle(self) -> None:
        """Learn from all runs; take back the plans that were given, but whose runs nobody looked at."""
        while self._unlearned:
            _, plan, run = self._unlearned.pop(0)
            self._learn_from(plan, run)
        for waiting, is_hope in self._running.values():
            self._waiting.append(waiting)
            self._novelties.pop(waiting.triggers, None)
            if is_hope:
                self._hoped_for.discard(waiting.novelty)
        self._likely_given -= len(self._running)
        self._running.clear()
        self._given = self._before.plans + self._learnt

    def _go_on(self, before: Progress) -> None:
        self._seed += before.seed
        self._given = before.plans
        self._likely_given, self._numbered, self._sampled = before.likely, before.numbered, before.sampled
        self._novelties.update(before.tried)
        self._waiting += before.waiting
        self._tried |= {*before.tried, *(one.triggers for one in before.waiting)}
        self.orders |= before.orders
        self._orders_by_chance |= before.by_chance
        self._hoped_for |= {one for one in before.tried.values() if not is_order(one) or one in before.orders}

    def _best(self, turn: int, number: int) -> Waiting | None:
        """The next preemptions to try, as the plan of this number; None if it is the turn of a random strategy."""
        kind = _NEXT if self._only_preemptions else _turn(turn)
        if kind == _RANDOM:
            return None
        waiting = self._waiting
        if kind == _NEW_ORDER:
            known = self.orders | self._hoped_for | self._no_news
            waiting = [one for one in waiting if one.novelty not in known]
        best = min(waiting, default=None, key=_order)
        if best is not None:
            self._waiting.remove(best)
            self._running[number] = best, best.novelty not in self._hoped_for
            self._hoped_for.add(best.novelty)
            self._novelties[best.triggers] = best.novelty
        return best

    def _learn_from(self, plan: Plan, run: TargetRun) -> None:
        if COLLECT in plan.options:
            return  # what a finalizer touches, no other thread does
        if plan.first is not None:
            self._random.take(plan, run)
            return
        if len(run.touches) > _MOST_TOUCHES and plan.triggers:
            self._sampled = True
            return
        self._sampled = self._sampled or is_sample(run.touches)
        if not plan.left_out:
            self._unshared.learn(run)
        if not plan.options.keys().isdisjoint((ABREAST, PARTIAL_ORDER, VIEWS)):
            self._orders_by_chance |= orders_of(run.touches)
            self._random.learn(run.touches)
            return
        self.orders |= orders_of(run.touches)
        self._no_news |= self._seen_before(run)
        self._random.learn(run.touches)
        hoped_for = self._novelties.get(plan.triggers)
        if hoped_for is not None and is_order(hoped_for) and hoped_for not in self.orders:
            self._hoped_for.discard(hoped_for)  # another visit may bring it about
        trace = trace_of(run.touches)
        if trace in self._traces:
            return
        self._traces.add(trace)
        reached = {(touch.thread, touch.place) for touch in run.touches} - self._reached
        self._reached |= reached
        free = self._free[plan.triggers] = len(plan.triggers) if reached else self._free.get(plan.triggers[:-1], 0)
        switches = [switch for switch in run.log.switches if not switch.by_default]
        # Where a sleep ended early with a preemption, the run with that one alone is not made.
        if plan.triggers and any(switch.trigger not in plan.triggers for switch in switches):
            self._sampled = True
        forced = {switch.trigger for switch in switches if switch.forced}
        del switches[_MOST_PREEMPTIONS:]  # with many threads there are thousands of both, and no use for those later
        times = [switch.global_time for switch in switches]
        triggers = tuple(switch.trigger for switch in switches)
        for position, found in enumerate(possible_preemptions(run)):
            before = triggers[: bisect_left(times, found.global_time)]
            if len(before) < _MOST_PREEMPTIONS:
                counted = before[min(free, len(before)) :]
                cost = sum(1 if trigger in forced else _ONE_MORE for trigger in counted)
                self._add(before, found, cost + found.rank, position)

    def _add(self, triggers: tuple[Trigger, ...], found: Preemption, cost: int, position: int = 0) -> None:
        together = (*triggers, found.trigger)
        if together not in self._tried and len(self._waiting) < _MOST_WAITING:
            self._tried.add(together)
            self._waiting.append(Waiting(cost, position, self._numbered, together, found.novelty))
            self._numbered += 1


def plans_of(strategy: str | None, seed: int, first: TargetRun, amount: int) -> Iterator[Plan]:
    """The plans of a hunt that uses one strategy only.

    Args:
        strategy: one of :data:`~replay_dd.schedules.replaying.record.STRATEGIES`; None for no plans.
        seed: the first seed.
        first: the first run.
        amount: how many plans.
    """
    thread_times = first.log.ending.thread_times
    if strategy is not None and strategy != "default":  # under the default schedule, the first run has been made
        yield from (plan_for(strategy, seed + number, thread_times) for number in range(amount))
