"""The first runs of a hunt, which need to know nothing about the program, and the one under the default schedule.

Rules of this module:

* A hunt needs a run that passes, and one to learn from. So the default schedule comes after the others, or as soon as
  one of them has failed.
* If that fails, too, a run that passes is still to be found. Tests of races often sleep where another thread must not
  come between, so the default schedule without sleeps is the next one. And a child process or a server answers sooner
  than most threads come by, which the default schedule lets run as soon as one waits; so does the next one not.
* Where a corpus knows what failed before, that comes first, and so does the default schedule, by which the corpus knows
  the program.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from replay_dd.schedules.failures.signature import PASSED, signature_of
from replay_dd.schedules.hunting.opening_plans import ANSWERS_FIRST, NO_SLEEP, opening
from replay_dd.schedules.running.runner import Runner
from replay_dd.schedules.running.target import Plan, TargetRun
from replay_dd.schedules.runtime import channel

Made: TypeAlias = tuple[Plan, TargetRun]


class Opened(NamedTuple):
    """The first runs of a hunt.

    Attributes:
        before: those before the default schedule, and that without sleeps.
        first: that one; if the time was over, or Ctrl-C ended them, the last one is in its place.
        interrupted: whether Ctrl-C ended them.
    """

    before: list[Made]
    first: Made
    interrupted: bool = False


def opened(runner: Runner, time_limit_s: float | None, most: int, ends_at: float | None, seed: int) -> Opened:
    """Make the first runs of a hunt.

    Args:
        runner: what runs the program.
        time_limit_s: seconds after which a run is killed; None for no limit.
        most: how many there may be before the default schedule.
        ends_at: the time, as ``time.monotonic`` tells it, at which no more are made; None for no limit.
        seed: of what is drawn.

    Raises:
        KeyboardInterrupt: Ctrl-C came in the first one.
    """
    before: list[Made] = []
    try:
        for plan, run in opening_runs(runner, time_limit_s, most, seed):
            if has_one_schedule(run):
                return Opened([], (DEFAULT, replace(run, log=replace(run.log, strategy="default"))))
            # A failure is worth more time: it counts only beside a run that passes.
            if is_over(ends_at) and not _fails(run):
                return Opened(before, (plan, run))
            before.append((plan, run))
            if signature_of(run.log.ending).kind != PASSED:
                break
        default = DEFAULT, runner.run(DEFAULT, time_limit_s)
        made = [run for _, run in (*before, default)]
        if len(before) < most and all(_fails(run) for run in made) and any(_sleeps(run) for run in made):
            before.append((NO_SLEEP, runner.run(NO_SLEEP, time_limit_s)))
            made.append(before[-1][1])
        if len(before) < most and all(_fails(run) for run in made) and any(_is_answered(run) for run in made):
            before.append((ANSWERS_FIRST, runner.run(ANSWERS_FIRST, time_limit_s)))
        return Opened(before, default)
    except KeyboardInterrupt:
        if not before:
            raise
        return Opened(before[:-1], before[-1], interrupted=True)


def opening_runs(runner: Runner, time_limit_s: float | None, most: int, seed: int) -> Iterator[Made]:
    """The runs that need to know nothing about the program but what the ones before show, one by one."""
    before: list[TargetRun] = []
    while len(before) < most and (plan := opening(seed, before)) is not None:
        before.append(runner.run(plan, time_limit_s))
        yield plan, before[-1]


def is_over(ends_at: float | None) -> bool:
    """Whether no more runs are to be made."""
    return ends_at is not None and time.monotonic() >= ends_at


def has_one_schedule(run: TargetRun) -> bool:
    """Whether the program started no thread, so that there was nothing to schedule."""
    end = run.log.ending
    return end.complete and len(end.thread_times) < 2


def _fails(run: TargetRun) -> bool:
    return signature_of(run.log.ending).failed


def _sleeps(run: TargetRun) -> bool:
    return any(switch.wake is not None and not switch.wake.time_out for switch in run.log.switches)


def _is_answered(run: TargetRun) -> bool:
    """Whether something came from outside while another thread ran, or would have come."""
    waits = (one[1:4] for one in run.log.arrivals if one[0] == channel.ARRIVAL)
    return any(by != thread for thread, _, by in waits)


DEFAULT = Plan("profile", label="default")
