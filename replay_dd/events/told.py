"""What the actions of a run were done to, where only a run of its own can tell.

Rules of this module:

* GTK, wxGTK and Qt name their widgets to assistive technologies. Programs that do so start more slowly and run other
  code, so no run that decides something has them on a bus: one more run is made, for the names alone.
* Names count only if that run got as far as the other one did.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from replay_dd.errors import ReplayDDError
from replay_dd.events.model import Action, Session
from replay_dd.events.run import Conditions, Run, run_session
from replay_dd.events.x11.display import PrivateDisplay


def told_targets(run: Run, on_bus: Callable[[], Run]) -> tuple[str, ...]:
    """What each action of a run was done to.

    Args:
        run: a run in which that was asked for.
        on_bus: makes it again, on a bus.
    """
    if not run.can_tell:
        return run.targets
    try:
        told = on_bus().targets
    except (ReplayDDError, KeyboardInterrupt):
        return run.targets  # the answer is there, and only lacks names
    if len(told) != len(run.targets):
        return run.targets
    return tuple(one or other for one, other in zip(told, run.targets, strict=True))


def replayed_on_bus(session: Session, actions: Sequence[Action], conditions: Conditions, window_manager: str) -> Run:
    """A replay on a display of its own, in which the program's toolkit tells of its widgets."""
    with PrivateDisplay(session.screen, window_manager) as display:
        return run_session(session, actions, display, conditions, want_targets=True, on_bus=True)
