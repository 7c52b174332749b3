"""What the whole session does: which failure it has, and how often, before anything is concluded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from replay_dd.errors.program import NotReproducedError
from replay_dd.events.model import Action, Ending, Session
from replay_dd.events.signature import outcome_of
from replay_dd.events.trial import Run
from replay_dd.events.trials import Trials
from replay_dd.outcome import Outcome

MEASURED_RUNS = 2
MORE_RUNS = 8
# A failure that shows only sometimes is tried until it would have shown with this probability.
SURE_ENOUGH = 0.95
MOST_REPEATS = 10


@dataclass(frozen=True)
class Baseline:
    """What the whole session does.

    Attributes:
        ending: the failure to look for.
        rate: how many of how many runs failed like that.
        repeat: how often a configuration that does not fail is tried.
    """

    ending: Ending
    rate: tuple[int, int]
    repeat: int


def linger_of(session: Session, actions: Sequence[Action]) -> float:
    """How long after the last action the failure came in the recording; nothing where it came at once."""
    if session.ending is None or session.recorder != "x11":
        return 0.0
    last_ms = max(action.time_ms + action.duration_ms for action in actions)
    later_s = (session.ending.time_ms - last_ms) / 1000
    return min(later_s * 1.2, 10.0) if later_s > 1.0 else 0.0


def measure(trials: Trials, session: Session, actions: Sequence[Action], *, jobs: int, repeat: int | None) -> Baseline:
    """Play the whole session often enough to know how often it fails, and how.

    Args:
        trials: plays it.
        session: what was recorded.
        actions: its actions.
        jobs: how many runs at the same time.
        repeat: how often a configuration is to be tried; None to choose it by the measured rate.

    Raises:
        NotReproducedError: it never failed as recorded.
    """
    runs = trials.several(actions, MEASURED_RUNS, jobs)
    wanted = _wanted(session, runs)
    if not _all_fail(runs, wanted):
        runs += trials.several(actions, MORE_RUNS, jobs)
        wanted = _wanted(session, runs)
    failing = [run.ending for run in runs if wanted is not None and outcome_of(run.ending, wanted) is Outcome.FAIL]
    if wanted is None or not failing:
        recorded = "no end was recorded" if session.ending is None else f"{session.ending.text} was recorded"
        raise NotReproducedError(
            f"The failure did not show again in {len(runs)} runs: {recorded}, "
            f"and the last run ended otherwise: {runs[-1].ending.text}."
        )
    tries = 1
    if len(failing) < len(runs):
        # Rather too low: few runs were made, and a failure that is missed makes the answer larger.
        rate = len(failing) / (len(runs) + 2)
        tries = min(math.ceil(math.log(1 - SURE_ENOUGH) / math.log(1 - rate)), MOST_REPEATS)
    # The run that got farthest has all the actions that any of them needed.
    farthest = max(failing, key=lambda ending: ending.actions)
    return Baseline(farthest, (len(failing), len(runs)), repeat or tries)


def _wanted(session: Session, runs: Sequence[Run]) -> Ending | None:
    """The failure to look for: the recorded one; where it was recorded otherwise, the one that all replays have.

    A recording on the user's own display does not know where a program crashed, and offsets differ between machines.
    """
    failing = [run.ending for run in runs if run.ending.failed]
    recorded = session.ending
    if recorded is not None and any(ending.signature == recorded.signature for ending in failing):
        return recorded
    similar = [
        ending
        for ending in failing
        if recorded is None or (ending.kind, ending.signal, ending.status) == _kind(recorded)
    ]
    return similar[0] if similar and len({ending.signature for ending in similar}) == 1 else None


def _kind(ending: Ending) -> tuple[object, int | None, int | None]:
    return ending.kind, ending.signal, ending.status


def _all_fail(runs: Sequence[Run], wanted: Ending | None) -> bool:
    return wanted is not None and all(outcome_of(run.ending, wanted) is Outcome.FAIL for run in runs)
