"""What a corpus knows after a hunt, in words and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from replay_dd.report.isolation import counted
from replay_dd.schedules.hunting.memory import FAILS, PASSES, KnownFailure
from replay_dd.schedules.hunting.session import Learnt

_HEAD = f"{'corpus':<13}"
_INDENT = " " * len(_HEAD)


def corpus_in_words(learnt: Learnt, *, seen_is_told: bool = False) -> Iterator[str]:
    """Lines for the terminal.

    Args:
        learnt: what it knows.
        seen_is_told: whether another line tells how many orders were seen of this very program.
    """
    told = [_failure(one, learnt) for one in learnt.failures]
    so_far = f"{counted(learnt.hunts, 'hunt')} so far ({counted(learnt.runs, 'run')})"
    if learnt.orders_known and (learnt.changed or not seen_is_told):
        seen = f"{learnt.orders_seen} of at most {learnt.orders_known} orders of conflicting accesses seen in {so_far}"
        told.append(seen + (f", {learnt.new_orders} of them new" if learnt.hunts > 1 and learnt.new_orders else ""))
    else:
        told.append(
            so_far + (f", {counted(learnt.new_orders, 'new order')} seen in this one" if learnt.hunts > 1 else "")
        )
    if learnt.changed:
        orders = f"{counted(learnt.dropped, 'order')} in code that is gone {'was' if learnt.dropped == 1 else 'were'}"
        gone = f", and {orders} dropped" if learnt.dropped else ""
        told.append(f"the program has changed since the last hunt: what was tried counts as untried{gone}")
    for number, line in enumerate(told):
        yield (_INDENT if number else _HEAD) + line


def _failure(one: KnownFailure, learnt: Learnt) -> str:
    before = learnt.before.get(one.log)
    name = f"{learnt.folder / one.log}" + (f", found in hunt {one.found_in}" if one.found_in else "")
    if before is None:
        return f"{learnt.folder / one.log}: a new failure, which the next hunt tries first"
    if one.state == FAILS:
        return f"{name}, {'fails again' if before == FAILS else 'is back: it fails again'}"
    if one.state == PASSES:
        return f"{name}, passes" + (" now: repaired?" if before == FAILS else f" since hunt {one.since}")
    return f"{name}, cannot be followed any more: its code has changed too much"


def known_failures(learnt: Learnt) -> Iterator[str]:
    """What became of the failures that earlier hunts found, in short."""
    for one in learnt.failures:
        if one.log in learnt.before and not one.state == learnt.before[one.log] == PASSES:
            yield _failure(one, learnt)


def corpus_as_json(learnt: Learnt) -> dict[str, Any]:
    """For ``--json``."""
    return {
        "folder": str(learnt.folder),
        "hunts": learnt.hunts,
        "runs": learnt.runs,
        "orders_seen": learnt.orders_seen,
        "orders_known": learnt.orders_known,
        "new_orders": learnt.new_orders,
        "changed": learnt.changed,
        "dropped": learnt.dropped,
        "failures": [{**one._asdict(), "log": str(learnt.folder / one.log)} for one in learnt.failures],
    }
