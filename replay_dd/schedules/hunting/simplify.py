"""Simplifies the schedules that a hunt found: the same ending with fewer non-default choices.

A simplified log is a different run: its failure has the same signature but possibly another message.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

from replay_dd.errors.program import NotReproducedError
from replay_dd.schedules.failures.signature import PASSED, signature_of
from replay_dd.schedules.hunting.plans import HuntPlans
from replay_dd.schedules.hunting.possible_preemptions import possible_preemptions
from replay_dd.schedules.hunting.runs import HuntRuns
from replay_dd.schedules.model import Log, Trigger
from replay_dd.schedules.replaying.record import verify_log
from replay_dd.schedules.running.target import Plan, TargetRun

if TYPE_CHECKING:
    from replay_dd.experiment.result import TestRecord

SIMPLIFY_LIMIT_S = 60.0
_MANY_CHOICES = 3  # to leave some of so many out takes about as many runs as to try the likeliest preemptions
_SIMPLER_RUNS = 80  # how many runs with preemptions are tried to find a simpler schedule with the same failure
_SAME_RUNS = 8  # how many more, once one of them fails alike, but with another message


class Simplifier:
    """Reduces schedules to the choices that their endings need.

    Args:
        batch: makes the runs.
        on_run: called with the number of the run; with 0 at the start.
        ends_at: the time, as ``time.monotonic`` tells it, at which logs are left as they are; None for no limit.

    Attributes:
        runs: the number of runs so far, not counting those that verify logs.
    """

    def __init__(
        self, batch: HuntRuns, on_run: Callable[[int], None] | None = None, ends_at: float | None = None
    ) -> None:
        self._batch = batch
        self._on_run = on_run or (lambda number: None)
        self._ends_at = ends_at
        self._tried: set[tuple[Trigger, ...]] = set()
        self.runs = 0

    @property
    def _left_s(self) -> float:
        """How long the next simplification may take."""
        left_s = math.inf if self._ends_at is None else self._ends_at - time.monotonic()
        return min(SIMPLIFY_LIMIT_S, max(0.0, left_s))

    def simplified(self, log: Log, failure: str = "") -> Log:
        """The same ending with fewer deviations from the default schedule: easier to read, and to isolate from.

        Args:
            log: the log of a run.
            failure: text that the description of its failure must still contain.

        Raises:
            KeyboardInterrupt: Ctrl-C.
        """
        ending, left_s = signature_of(log.ending), self._left_s
        if not log.triggers or not left_s or ending.in_step:
            return log
        if len(log.triggers) == 1 and not ending.same(signature_of(self._batch.first.log.ending)):
            return log  # without this choice it is the first run, which ended differently
        # Half of all the modules that a hunt loads, and not every hunt gets here.
        from replay_dd.experiment.driver import Observer
        from replay_dd.schedules.isolating.minimize import minimize

        self._on_run(self.runs)
        before = self.runs
        try:
            found = minimize(
                log,
                jobs=self._batch.jobs,
                time_limit_s=self._batch.time_limit_s,
                time_budget_s=left_s,
                runner=self._batch.runner,
                failure=failure,
                proof_runs=0,  # the simplified log is verified below
                observer=Observer(on_test=self._count),
            )
        except NotReproducedError:
            return log
        if found.isolation.interrupted:
            raise KeyboardInterrupt
        self.runs = before + found.isolation.tests + found.rewriting_tests
        simple = verify_log(found.log, self._batch.time_limit_s)
        told = signature_of(simple.ending)
        if simple.verified and told.same(ending) and told.mentions(failure):
            return replace(simple, strategy=f"{log.strategy}, simplified")
        return log

    def with_likely_preemptions(self, log: Log, failure: str = "") -> Log:
        """The failure by a few of the likeliest preemptions of the default schedule; else the log given.

        That takes far fewer runs than to reduce a log with many choices. What the preemptions lead to is learnt, as in
        a hunt, so there may be several.

        Args:
            log: the log of a failing run.
            failure: text that the description of its failure must still contain.

        Raises:
            KeyboardInterrupt: Ctrl-C.
        """
        if len(log.triggers) < _MANY_CHOICES or signature_of(log.ending).in_step:
            return log
        plans = HuntPlans(self._batch.first, 0, _SIMPLER_RUNS, only_preemptions=True)
        return self._with_one_of(plans, log, failure, may_differ=False, learn=plans.learn)

    def with_one_preemption(self, log: Log, seed: int, failure: str = "", *, may_differ: bool = True) -> Log:
        """The failure by a single preemption of the default schedule, if a few runs find one; else the log given.

        A simplified schedule cannot lose another choice, but may still be needlessly indirect. The preemptions tried
        are those at conflicts, then random ones. If none makes the same failure, one will do that fails at the same
        place with another message.

        Args:
            log: the log of a failing run.
            seed: the first seed.
            failure: text that the description of its failure must still contain.
            may_differ: accept another message.

        Raises:
            KeyboardInterrupt: Ctrl-C.
        """
        return self._with_one_of(self._single_preemptions(seed), log, failure, may_differ=may_differ)

    def _with_one_of(
        self,
        plans: Iterator[Plan],
        log: Log,
        failure: str,
        *,
        may_differ: bool,
        learn: Callable[[int, Plan, TargetRun], None] = lambda number, plan, run: None,
    ) -> Log:
        first = self._batch.first.log.ending
        wanted = signature_of(log.ending)
        if len(log.triggers) < 2 or signature_of(first).kind != PASSED or wanted.in_step or not self._left_s:
            return log
        alike: Log | None = None
        last = math.inf
        with closing(self._batch.runs(plans)) as runs:
            for number, (plan, run) in enumerate(runs):
                self._count()
                if not self._left_s:
                    break
                learn(number, plan, run)
                self._tried.add(plan.triggers)
                found = signature_of(run.log.ending)
                if found.mentions(failure) and found.same(wanted):
                    if len(run.log.triggers) < len(log.triggers) and (simpler := self._verified(run.log)) is not None:
                        return simpler
                elif alike is None and may_differ and found.mentions(failure) and found.same_but_for_message(wanted):
                    alike, last = run.log, number + _SAME_RUNS
                if number == last:
                    break
        return self._verified(alike) or log if alike is not None else log

    def _single_preemptions(self, seed: int) -> Iterator[Plan]:
        likely = list(self._likely_preemptions(_SIMPLER_RUNS // 2))
        yield from likely
        thread_times = self._batch.first.log.ending.thread_times
        for number in range(_SIMPLER_RUNS - len(likely)):
            yield Plan("bounded", {"seed": seed + number, "preemptions": 1}, thread_times)

    def _likely_preemptions(self, most: int) -> Iterator[Plan]:
        found = possible_preemptions(self._batch.first)
        for preemption in sorted(found, key=lambda one: one.rank)[:most]:
            if (preemption.trigger,) not in self._tried:
                yield Plan("replay", triggers=(preemption.trigger,))

    def _verified(self, log: Log) -> Log | None:
        """The log, if a replay ends in the same way."""
        verified = verify_log(log, self._batch.time_limit_s)
        return verified if verified.verified and signature_of(verified.ending).same(signature_of(log.ending)) else None

    def _count(self, record: TestRecord | None = None) -> None:
        self.runs += 1
        self._on_run(self.runs)
