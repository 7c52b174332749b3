"""What was tried against an isolated failure, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from replay_dd.schedules.story.experiment_results import (
    FAILS,
    NO_PROOF,
    PREVENTS,
    TOO_FEW,
    Attempt,
    Counts,
    Experiments,
)
from replay_dd.schedules.story.words import listed, short_file
from replay_dd.schedules.virtual import Region, Virtual, VirtualBarrier, VirtualLock, VirtualNotifyAll, VirtualOrder

_KINDS = {VirtualLock: "lock", VirtualOrder: "order", VirtualBarrier: "barrier", VirtualNotifyAll: "notify all"}


def tried_in_words(tried: Experiments | None) -> Iterator[tuple[str, str]]:
    """The experiments: a label, and a text of any length; none if nothing was tried."""
    if tried is None:
        return
    for attempt in tried.attempts:
        yield "tried", f"{virtual_in_words(attempt.virtual)}:"
        yield "", f"  {outcome_in_words(attempt)}"
        if attempt.widened:
            yield "", f"  let the `with` at {listed(attempt.widened)} reach over all of it"
        if attempt.again:
            yield "", f"  {again_in_words(attempt)}"
    if tried.why_not:
        yield "tried", f"nothing: {tried.why_not}"
    elif not tried.attempts:
        yield "tried", "nothing yet: it ended while the schedules were run without any change, to compare with"
    elif not tried.prevents and not tried.undecided:
        yield "", "  so none of this prevents the failure"
    if tried.schedules:
        hunted = tried.schedules - tried.neighbours
        near = tried.neighbours - 1
        ends = {"time": "; out of time", "interrupt": "; interrupted"}.get(tried.stopped_by, "")
        yield "", f"  (the failing schedule, {near} near it, {hunted} hunted; {tried.runs:,} runs{ends})"


def attempt_in_words(attempt: Attempt) -> str:
    """An experiment and what came of it, such as ``with bank.py:6-8 as one step: 0 of 215 schedules fail``."""
    return f"{virtual_in_words(attempt.virtual)}: {outcome_in_words(attempt)}"


def outcome_in_words(attempt: Attempt) -> str:
    """What came of an experiment."""
    if attempt.verdict == NO_PROOF:
        return f"no proof, {attempt.why}"
    counts, without = attempt.counts, attempt.without
    still = "still " if attempt.verdict == FAILS else ""
    text = f"{counts.failed} of {counts.schedules} schedules {still}fail (without: {without.failed})"
    if attempt.verdict == TOO_FEW:
        text += ", too few to tell"
    if attempt.untried and attempt.verdict in (PREVENTS, TOO_FEW):
        one = "one that does" if attempt.untried == 1 else f"{attempt.untried} that do"
        text += f"; not tried in time: {one} not pass without"
    if counts.others:
        text += f"; {_others(counts.others)} (without: {_others(without.others) or 'none'})"
    return text


def again_in_words(attempt: Attempt) -> str:
    """What else has to be changed for a lock that is taken once more inside."""
    if isinstance(attempt.virtual, VirtualLock) and not attempt.virtual.taking:
        verb = "is" if len(attempt.again) == 1 else "are"
        return f"{listed(attempt.again)} {verb} also reached from inside, so it has to be an RLock"
    return f"it is a Lock and taken again at {listed(attempt.again)}: make it an RLock, or take it only outside"


def virtual_in_words(virtual: Virtual) -> str:
    """What the scheduler kept."""
    if isinstance(virtual, VirtualOrder):
        later, earlier = virtual.later, virtual.earlier
        passed = f"if {_place(later)} waits until another thread has passed {_place(earlier)}"
        if virtual.times > 1:
            passed = f"if {_place(later)} waits until other threads have passed {_place(earlier)} {virtual.times} times"
        return passed
    if isinstance(virtual, VirtualBarrier):
        threads = f"the threads {listed(virtual.threads)}"
        return f"with a barrier: if {threads} wait for each other before {_place(virtual.before)}"
    places = " and ".join(map(_place, virtual.regions))
    if isinstance(virtual, VirtualNotifyAll):
        return f"with `notify_all()` for `notify()` at {places}"
    return f"taking {virtual.taking} at {places}" if virtual.taking else f"with {places} as one step"


def _place(region: Region) -> str:
    return short_file(region.file) + str(region).removeprefix(region.file)


def _others(others: Mapping[str, int]) -> str:
    return ", ".join(f"{count} end with {text}" for text, count in others.items())


def tried_as_json(tried: Experiments | None) -> dict[str, Any] | None:
    """The member ``tried`` of a story; None if nothing was tried."""
    if tried is None:
        return None
    return {
        "attempts": [_attempt_as_json(attempt) for attempt in tried.attempts],
        "schedules": tried.schedules,
        "neighbours": tried.neighbours,
        "runs": tried.runs,
        "seconds": round(tried.seconds, 3),
        "stopped_by": tried.stopped_by or None,
        "why_not": tried.why_not or None,
    }


def _attempt_as_json(attempt: Attempt) -> dict[str, Any]:
    virtual = attempt.virtual
    regions = virtual.regions if isinstance(virtual, VirtualLock | VirtualNotifyAll) else ()
    return {
        "words": attempt_in_words(attempt),
        "kind": _KINDS[type(virtual)],
        "regions": [_region_as_json(one) for one in regions],
        "taking": (virtual.taking or None) if isinstance(virtual, VirtualLock) else None,
        "later": _region_as_json(virtual.later) if isinstance(virtual, VirtualOrder) else None,
        "earlier": _region_as_json(virtual.earlier) if isinstance(virtual, VirtualOrder) else None,
        "times": virtual.times if isinstance(virtual, VirtualOrder) else None,
        "before": _region_as_json(virtual.before) if isinstance(virtual, VirtualBarrier) else None,
        "threads": list(virtual.threads) if isinstance(virtual, VirtualBarrier) else None,
        "verdict": attempt.verdict,
        "why": attempt.why or None,
        "again": list(attempt.again),
        "widened": list(attempt.widened),
        "untried": attempt.untried,
        "with": _counts_as_json(attempt.counts),
        "without": _counts_as_json(attempt.without),
    }


def _region_as_json(region: Region) -> dict[str, Any]:
    return {"file": region.file, "function": region.function, "first": region.first, "last": region.last}


def _counts_as_json(counts: Counts) -> dict[str, Any]:
    return {"schedules": counts.schedules, "failed": counts.failed, "others": dict(counts.others)}
