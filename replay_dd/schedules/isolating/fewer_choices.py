"""Rewrites a schedule of many choices into one of few with the same ending, before single choices are left out.

A schedule drawn at random switches hundreds of times. Leaving out single choices is slow there, and ends early: each
choice that is gone shifts what all later ones meet, so most of them seem to be needed. The order of the threads can be
kept where it matters, and made simpler everywhere else.

A run is a sequence of *blocks*: a thread, and the thread time up to which it runs. Two blocks of one thread can be
joined if what lies between them may as well come before or after. Which may is not known, so it is tried, in coarse
steps first:

1. The schedule with a single one of its choices: many bugs need no more.
2. A window of blocks in which each thread runs once: first all blocks, then halves of them, and so on. If the ending
   stays the same, the window has as many blocks as threads.

Source: joining blocks is due to N. Jalbert and K. Sen, "A Trace Simplification Technique for Effective Debugging of
Concurrent Programs", FSE 2010, who move one block at a time; windows take fewer tests where most blocks do not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import pairwise
from typing import NamedTuple

from replay_dd.experiment.in_order import runs_in_order
from replay_dd.schedules.isolating.circumstance import Triggers
from replay_dd.schedules.model import Log, Trigger

WORTHWHILE = 6  # choices; ddmin alone is as fast with fewer
MOST_ALONE = 24  # choices that are tried alone


class Block(NamedTuple):
    """A thread runs up to this thread time."""

    thread: str
    until: int


class Rewritten(NamedTuple):
    """A schedule with fewer choices.

    Attributes:
        log: its run; the log given if there is none with fewer.
        tests: how many runs that took.
        interrupted: whether Ctrl-C ended it.
    """

    log: Log
    tests: int
    interrupted: bool = False


def with_fewer_choices(
    log: Log,
    run: Callable[[Triggers], Log],
    ends_alike: Callable[[Log], bool],
    *,
    jobs: int = 1,
    may_go_on: Callable[[int], bool] = lambda tests: True,
    on_test: Callable[[Log, bool], None] = lambda run, better: None,
) -> Rewritten:
    """Find a schedule with fewer choices under which the program ends alike.

    Args:
        log: the run to rewrite.
        run: runs a schedule; called from several threads.
        ends_alike: whether a run ends like the log.
        jobs: the number of parallel runs; the answer does not depend on it.
        may_go_on: called with the number of tests so far; whether there may be another one.
        on_test: called after each test with its run, and whether it is the best so far.
    """
    best, tests = log, 0
    known: set[Triggers] = {log.triggers}

    def first_better(candidates: Iterator[Triggers]) -> Log | None:
        nonlocal tests
        with closing(runs_in_order(run, (one for one in candidates if one not in known), jobs)) as runs:
            for candidate, made in runs:
                if not may_go_on(tests):
                    return None
                tests += 1
                known.add(candidate)
                better = ends_alike(made) and len(made.triggers) < len(best.triggers)
                on_test(made, better)
                if better:
                    return made
        return None

    if len(best.triggers) < WORTHWHILE:
        return Rewritten(best, 0)
    try:
        best = first_better(_alone(best)) or best
        parts = 1
        while parts * 2 <= len(blocks_of(best)) and len(best.triggers) > 1 and may_go_on(tests):
            found = first_better(_windows(blocks_of(best), parts))
            if found is None:
                parts *= 2
            else:
                best = found
    except KeyboardInterrupt:
        return Rewritten(best, tests, interrupted=True)
    return Rewritten(best, tests)


def blocks_of(log: Log) -> list[Block]:
    """The blocks of a run; the last one lasts to its end."""
    return [Block(switch.thread, switch.time) for switch in log.switches]


def triggers_of(blocks: Sequence[Block]) -> Triggers:
    """The schedule in which the threads take turns like this."""
    joined: list[Block] = []
    for block in blocks:
        if joined and joined[-1].thread == block.thread:
            joined[-1] = block
        else:
            joined.append(block)
    found: dict[tuple[str, int], Trigger] = {}
    for one, following in pairwise(joined):
        found[one] = Trigger(one.thread, one.until, following.thread)
    return tuple(sorted(found.values()))


def _alone(log: Log) -> Iterator[Triggers]:
    """One choice each: the latest first, as failures show soon after what causes them; no more than a few."""
    preemptions = [switch.trigger for switch in log.switches if not switch.by_default and not switch.forced]
    step = max(1, len(preemptions) // MOST_ALONE)
    latest_first = preemptions[::-1]
    chosen = latest_first[: MOST_ALONE // 2] + latest_first[MOST_ALONE // 2 :: step]
    yield from ((trigger,) for trigger in dict.fromkeys(chosen[:MOST_ALONE]))


def _windows(blocks: list[Block], parts: int) -> Iterator[Triggers]:
    """The schedules with one of so many parts of the blocks rewritten; also of parts that overlap two of them."""
    size = max(2, -(-len(blocks) // parts))
    step = size if parts == 1 else max(1, size // 2)
    for start in range(0, len(blocks), step):
        window = blocks[start : start + size]
        rewritten = [*blocks[:start], *_each_thread_once(window), *blocks[start + size :]]
        if len(rewritten) < len(blocks):
            yield triggers_of(rewritten)


def _each_thread_once(window: list[Block]) -> list[Block]:
    """The threads in the order in which they first run, each as far as it comes in the window."""
    until: dict[str, int] = {}
    for block in window:
        until[block.thread] = block.until
    return [Block(thread, time) for thread, time in until.items()]
