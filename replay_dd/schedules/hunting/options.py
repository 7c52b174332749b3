"""What a hunt is asked for, and whom it tells how it goes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from replay_dd.schedules.failures.signature import Signature
from replay_dd.schedules.replaying.record import DEFAULT_TIME_LIMIT_S
from replay_dd.schedules.running.target import Plan


@dataclass(frozen=True)
class HuntOptions:
    """What a hunt is asked for.

    Attributes:
        runs: the maximum number of runs.
        seed: the first seed.
        strategy: one of :data:`~replay_dd.schedules.replaying.record.STRATEGIES`; None for a mixture.
        jobs: the number of parallel runs.
        time_limit_s: seconds after which a run is killed; None for no limit.
        simplify: reduce both schedules to the choices that their endings need.
        may_fork: fork the program at its first thread for each run, if possible.
        failure: count only failures whose description contains this text; others are skipped and do not end the hunt.
        time_budget_s: seconds after which no further run starts, not even to simplify, and the one under way is ended
            without being looked at, unless it is the first; None for no limit.
        simplify_s: seconds that simplifying may take at least, also where the budget is over by then.
        keep_going: make all the runs, and keep one log of each failure that counts.
        only: where preemptions come: where an interpreter with a GIL can switch, where only one without it can, or (if
            empty) anywhere; see :mod:`~replay_dd.schedules.hunting.only_where`.
        always_verify: replay the passing run even if none failed.
    """

    runs: int
    seed: int = 0
    strategy: str | None = None
    jobs: int = 1
    time_limit_s: float | None = DEFAULT_TIME_LIMIT_S
    simplify: bool = True
    may_fork: bool = True
    failure: str = ""
    time_budget_s: float | None = None
    simplify_s: float = 0.0
    keep_going: bool = False
    only: str = ""
    always_verify: bool = True


@dataclass(frozen=True)
class HuntListener:
    """Whom a hunt tells how it goes.

    Attributes:
        on_run: called with number, plan and ending of each run, in order.
        on_simplify: called with the number of each simplifying run; with 0 at the start.
        on_fresh: told once, in words, why runs use fresh processes where nobody asked for them.
    """

    on_run: Callable[[int, Plan, Signature], None] = lambda number, plan, signature: None
    on_simplify: Callable[[int], None] = lambda number: None
    on_fresh: Callable[[str], None] = lambda words: None
