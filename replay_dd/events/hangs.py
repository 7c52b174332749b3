"""Searches for a hang, which would cost the whole time limit in each run that fails.

Rules of this module:

* Once the whole session has hung for the whole limit, a run counts as hung after a small part of that. The proof of the
  answer takes the whole limit again.
* A program that was only slow there is found out by the proof, or because the session seems to hang at another action
  than before. Then the search starts anew, and waits for the whole limit each time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from replay_dd.events.model import EndingKind
from replay_dd.events.run import Conditions, Run

_PART = 10
# A busy machine makes any program pause for some tenths of a second.
_LEAST_S = 0.5


class OnlySlowError(Exception):
    """A run that seemed to hang went on when it was given the whole time limit."""


def sooner(conditions: Conditions) -> Conditions:
    """Conditions under which a program counts as hung after a part of the time limit."""
    limit_s = min(max(conditions.hang_limit_s / _PART, _LEAST_S), conditions.hang_limit_s)
    return replace(conditions, hang_limit_s=limit_s, patience_s=min(conditions.patience_s, limit_s / 2))


def all_hung(runs: Sequence[Run]) -> bool:
    """Whether runs of one session all hung, after the same action."""
    return len({run.ending.actions for run in runs}) == 1 and all(run.ending.kind is EndingKind.HANG for run in runs)
