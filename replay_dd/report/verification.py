"""What came of trying a repair, as text and as JSON."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from replay_dd.report.delays import delay_hint
from replay_dd.schedules.experiments.sweep import Sweep
from replay_dd.schedules.experiments.verify import CANNOT_TELL, FAILS_OTHERWISE, REPAIRED, Verification

_SHOWN = 5
_NEXT = "hunt the program as it is now for a failing run (`replay-dd hunt`), or read what was changed"


def verification_in_words(made: Verification, log: Path) -> Iterator[str]:
    """The verdict and what it rests on, line by line.

    Args:
        made: what was tried.
        log: where the log of a failing run was written, if there is one.
    """
    yield f"verdict      {_verdict(made)}"
    if made.verdict == CANNOT_TELL and not made.interrupted:
        yield f"next         {_NEXT}"
    if made.failing is not None:
        yield f"failure      {made.failure}"
        every = made.verdict == FAILS_OTHERWISE and made.failed == made.runs > 1
        yield f"found by     {'every schedule, first by ' if every else ''}{made.found_by}"
        yield f"replay       replay-dd replay {shlex.quote(str(log))}"
    changed = ", ".join(made.changed[:_SHOWN]) or "nothing"
    more = f" and {len(made.changed) - _SHOWN} more" if len(made.changed) > _SHOWN else ""
    yield f"changed      {changed}{more}"
    anchored = made.anchored
    if anchored is not None:
        switches, missed = len(anchored.anchors), len(anchored.missed)
        told = f"{switches - missed} of {switches} switches found in the program as it is now"
        yield f"old schedule {told}{_near(made)}"
        for anchor in anchored.missed[:_SHOWN]:
            yield f"not found    thread {anchor.switch.thread} {anchor.switch.where}: {anchor.why}"
    for sweep in made.swept:
        yield f"swept        {_sweep(sweep)}"
    if made.hunted:
        yield f"hunted       {made.hunted} schedules"
    if made.asleep_s and made.failing is None:
        yield f"but          {delay_hint(made.asleep_s, made.max_delay_s)}"
    if made.verdict == REPAIRED:
        yield "This is not a proof: other schedules were not tried."


def _verdict(made: Verification) -> str:
    if made.verdict == REPAIRED:
        late = f", if no thread is more than {made.max_delay_s:g} s late" if made.asleep_s else ""
        return f"repaired: 0 of {made.schedules} schedules fail{late}"
    if made.verdict == CANNOT_TELL:
        none = "" if made.interrupted else f"0 of {made.schedules} schedules fail, but "
        return f"cannot tell: {none}{made.why}"
    if made.verdict == FAILS_OTHERWISE:
        which = "every run fails" if made.failed == made.runs else f"{made.failed} of {made.runs} runs fail"
        return f"fails otherwise: not as recorded, but {which}"
    return "still fails"


def _near(made: Verification) -> str:
    return f", and {made.near} schedules near it" if made.near else ""


def _sweep(sweep: Sweep) -> str:
    where = (
        f"in {sweep.function} of {sweep.file}" if sweep.function else f"in {sweep.file}" if sweep.file else "anywhere"
    )
    which = "each" if sweep.whole else "some"
    tried = f"thread {sweep.thread} gives way at {which} of its yield points {where}: {len(sweep.times)} schedules"
    return f"{tried} (it no longer comes to {sweep.gone})" if sweep.gone else tried


def verification_as_json(made: Verification, log: Path) -> dict[str, Any]:
    """What ``verify-fix --json`` prints; arguments as for :func:`verification_in_words`."""
    anchored = made.anchored
    return {
        "format": "replay-dd verification",
        "version": 1,
        "verdict": made.verdict,
        "why": made.why or None,
        "schedules": made.schedules,
        "failure": made.failure or None,
        "found_by": made.found_by or None,
        "log": str(log) if made.failing is not None else None,
        "changed": list(made.changed),
        "switches": None if anchored is None else len(anchored.anchors),
        "not_found": []
        if anchored is None
        else [
            {"thread": one.switch.thread, "time": one.switch.time, "where": one.switch.where, "why": one.why}
            for one in anchored.missed
        ],
        "near": made.near,
        "swept": [
            {
                "thread": one.thread,
                "file": one.file or None,
                "function": one.function or None,
                "gone": one.gone or None,
                "schedules": len(one.times),
                "whole": one.whole,
            }
            for one in made.swept
        ],
        "hunted": made.hunted,
        "without_verdict": made.without_verdict,
        "runs": made.runs,
        "failed": made.failed,
        "max_delay_s": made.max_delay_s,
        "asleep_s": made.asleep_s,
        "interrupted": made.interrupted,
    }
