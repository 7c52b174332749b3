"""The runs of a hunt in their order, each of which is learnt from before the next one is planned.

First come those that need to know nothing about the program, and the one under the default schedule. Where a corpus
keeps what hunts learn, the failures of earlier hunts follow, and if there was none, the first runs that were put off
for them. All others are planned.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain

from replay_dd.schedules.failures.signature import Signature
from replay_dd.schedules.hunting.opening_plans import MOST as MOST_OPENINGS
from replay_dd.schedules.hunting.opening_plans import is_opening
from replay_dd.schedules.hunting.openings import Made, has_one_schedule, is_over, opening_runs
from replay_dd.schedules.hunting.options import HuntOptions
from replay_dd.schedules.hunting.plans import Coverage, HuntPlans, plans_of
from replay_dd.schedules.hunting.progress import Progress
from replay_dd.schedules.hunting.runs import HuntRuns
from replay_dd.schedules.hunting.session import Learnt, Session
from replay_dd.schedules.model import Log
from replay_dd.schedules.running.target import Plan


class Attempts(Iterator[Made]):
    """The runs of a hunt, in order; to be closed.

    Args:
        batch: makes the runs.
        before: the runs that were made before the one under the default schedule.
        plan: of that one; ``batch`` has its run.
        options: what the hunt is asked for.
        session: what earlier hunts have learnt; None if nobody keeps it.

    Attributes:
        count: how many runs there were so far.
        out_of_time: whether the time budget ended them.
    """

    def __init__(
        self, batch: HuntRuns, before: list[Made], plan: Plan, options: HuntOptions, session: Session | None
    ) -> None:
        self._batch = batch
        self._seed = options.seed
        self._session = session
        self._made = len(before) + 1
        self._planned = 0
        self.count = 0
        self.out_of_time = False
        self._progress = session.progress if session else Progress()
        amount = 0 if has_one_schedule(batch.first) else options.runs - self._made
        amount -= session.left if session else 0
        later = MOST_OPENINGS if session and session.is_new and options.strategy is None else 0
        self._openings_left = max(0, min(later, amount))
        amount -= later
        # To learn from a run takes its time, too; the corpus wants it even so.
        learns = options.strategy is None and (session is not None or not is_over(batch.ends_at))
        seen = session.seen_before if session else None
        self._learning = HuntPlans(batch.first, options.seed, amount, self._progress, seen) if learns else None
        next_seed = options.seed + self._progress.seed + self._progress.plans
        self._drawn = batch.runs(self._learning or plans_of(options.strategy, next_seed, batch.first, amount))
        known = session.runs_of_failures(batch.fresh_limit_s) if session else ()
        self._runs = chain(before, [(plan, batch.first)], known, self._openings(), self._drawn)

    def __next__(self) -> Made:
        over = self.are_new and is_over(self._batch.ends_at)
        if not over:
            plan, run = next(self._runs)
            # One that the end of the time has ended tells nothing.
            over = self.are_new and run.log.ending.timed_out and is_over(self._batch.ends_at)
        if over:
            self.out_of_time = True
            raise StopIteration
        if self._learning is not None and is_opening(plan):
            self._learning.look_at(plan, run)
        elif self.are_new and not (self._session and self._session.is_of_failure(plan)):
            if self._learning is not None:
                self._learning.learn(self._planned, plan, run)
            self._planned += 1
        if self._session:
            self._session.take(run)
        self.count += 1
        return plan, run

    @property
    def are_new(self) -> bool:
        """Whether the next one is not one of those that were made before."""
        return self.count >= self._made

    @property
    def failures_left(self) -> bool:
        """Whether a failure of an earlier hunt is still to be tried."""
        return bool(self._session and self._session.left)

    def is_known(self, failure: Signature) -> bool:
        """Whether earlier hunts found this failure, too."""
        return bool(self._session and self._session.is_known(failure))

    @property
    def coverage(self) -> Coverage | None:
        """What the runs covered; None if nothing is learnt from them."""
        return None if self._learning is None else self._learning.coverage

    def close(self) -> None:
        """Let no further run start, and wait for those under way."""
        self._drawn.close()

    def save(self, found: Iterable[Log]) -> Learnt | None:
        """Let the corpus, if there is one, keep what was learnt, and the logs of failures."""
        if self._session is None:
            return None
        there = self._learning
        progress = there.progress if there else replace(self._progress, plans=self._progress.plans + self._planned)
        return self._session.save(found, self.count, progress)

    def _openings(self) -> Iterator[Made]:
        left = self._openings_left
        for one in opening_runs(self._batch.runner, self._batch.time_limit_s, left, self._seed):
            left -= 1
            yield one
        if self._learning is not None:
            self._learning.allow(left)  # there may be fewer openings than there are runs for them
