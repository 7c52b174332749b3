"""The commit that brought a failure, as text and as JSON."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any

from replay_dd.bisect.search import Bisection, Tested
from replay_dd.changes.history import Origin
from replay_dd.outcome import Outcome
from replay_dd.report.isolation import counted
from replay_dd.schedules.failures.signature import signature_of

FORMAT = "replay-dd bisection"
VERSION = 1
_SHOWN = 20
_VERDICTS = {Outcome.PASS: "passes", Outcome.FAIL: "fails", Outcome.UNRESOLVED: "skipped"}


def bisection_in_words(found: Bisection, log: Path) -> Iterator[str]:
    """The answer and what it rests on, line by line.

    Args:
        found: the answer.
        log: where the log of a failing run was written, if there is one.
    """
    guilty = found.guilty
    if guilty is not None:
        yield f"{guilty.commit} is the first bad commit"
        yield f"subject      {guilty.subject}"
        yield f"author       {guilty.author}, {guilty.date}"
    elif found.ended_by:
        yield f"{found.ended_by}: {_what_is_left(found)}"
    else:
        yield f"the first bad commit is among these {len(found.suspects)}; all but the last cannot be tested"
    if guilty is None:
        yield from (f"  {_short(one)}" for one in found.suspects[:_SHOWN])
        if len(found.suspects) > _SHOWN:
            yield f"  ... and {len(found.suspects) - _SHOWN} more"
    if found.failing is not None:
        yield f"failure      {signature_of(found.failing.ending).text}"
    if found.tested:
        yield "tested"
    for one in found.tested:
        yield f"  {_verdict(one):<8} {_short(one.origin)}"
        yield f"           {_evidence(one)}"
    if found.confirmed:
        yield f"{_tried_again(found)} was tried twice, also with the schedule that fails here. A pass is not a proof."
    if found.failing is not None:
        where = found.suspects[-1].commit[:12] if guilty is None else guilty.commit[:12]
        yield f"replay       git checkout {where} && replay-dd replay {shlex.quote(str(log))}"


def _tried_again(found: Bisection) -> str:
    """Words for the commits right before what is left; several after a merge."""
    last = takewhile(lambda one: one.again and one.tried.outcome is not Outcome.FAIL, reversed(found.tested))
    count = len({one.origin.commit for one in last})
    left = "it" if len(found.suspects) == 1 else "them"
    return f"The commit before {left}" if count <= 1 else f"Each of the {count} commits right before {left}"


def _what_is_left(found: Bisection) -> str:
    """What a search that did not come to its end leaves open."""
    several = len(found.suspects) > 1
    among = f"among these {len(found.suspects)}" if several else "this one"
    if found.untested:
        *bad, good = found.untested
        fails = "".join(f"{name} fails and " for name in bad)
        return f"if {fails}{good} passes, the first bad commit is {among}"
    if several:
        return f"the first bad commit is {among}"
    return f"the first bad commit is {among}, if the one before it passes once more"


def _short(origin: Origin) -> str:
    return f"{origin.commit[:12]} {origin.subject} ({origin.author}, {origin.date})"


def _verdict(tested: Tested) -> str:
    return _VERDICTS[tested.tried.outcome]


def _evidence(tested: Tested) -> str:
    tried = tested.tried
    again = "once more: " if tested.again else ""
    if tried.outcome is Outcome.FAIL:
        return f"{again}{tried.told}, with {tried.found_by}"
    if tried.outcome is Outcome.UNRESOLVED:
        return f"{again}{tried.told}"
    others = f"; {tried.failed} fail in other ways" if tried.failed else ""
    return f"{again}0 of {counted(tried.schedules, 'schedule')} fail{others}" + (
        f"; {tried.told}" if tried.told else ""
    )


def bisection_as_json(found: Bisection, log: Path) -> dict[str, Any]:
    """What ``bisect --json`` prints; arguments as for :func:`bisection_in_words`."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "guilty": None if found.guilty is None else _origin_as_json(found.guilty),
        "suspects": [_origin_as_json(one) for one in found.suspects],
        "tested": [
            {
                **_origin_as_json(one.origin),
                "outcome": one.tried.outcome.name,
                "again": one.again,
                "told": one.tried.told or None,
                "found_by": one.tried.found_by or None,
                "schedules": one.tried.schedules,
                "failed": one.tried.failed,
            }
            for one in found.tested
        ],
        "failure": None if found.failing is None else signature_of(found.failing.ending).text,
        "log": None if found.failing is None else str(log),
        "confirmed": found.confirmed,
        "ended_by": found.ended_by or None,
        "untested": list(found.untested),
    }


def _origin_as_json(origin: Origin) -> dict[str, Any]:
    return {"commit": origin.commit, "author": origin.author, "date": origin.date, "subject": origin.subject}
