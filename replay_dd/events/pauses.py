"""When a player pauses: between actions, and in the middle of one that the program reacts to."""

from __future__ import annotations

from collections.abc import Sequence

from replay_dd.events.model import Action, ActionKind, Input, InputKind, Pace, Session

WITH_PAUSES = (Pace.RECORDED, Pace.IMPATIENT)
"""The paces at which the pauses of the person are made."""
# Longer than the time in which toolkits take two clicks for a double click (GTK 400 ms, Qt 400 ms, Tk 500 ms).
_BETWEEN_CLICKS_S = 0.55
# Toolkits keep moves of the pointer back until they draw next (GTK 60 times a second), and look idle until then.
FRAME_S = 0.04
# How much longer than it took once a failure is waited for: the machine may be busier by then.
LONGER = 1.2
LONGEST_LINGER_S = 10.0


def program_reacts(action: Action, inputs: Sequence[Input], number: int) -> bool:
    """Whether the program may do something in the middle of an action that the rest of the action builds on."""
    kind = inputs[number].kind
    if action.kind is ActionKind.DRAG and kind is InputKind.MOVE:
        # Whoever is dragging takes hold at the first move, and may be only so far when the button is released.
        first = number > 0 and inputs[number - 1].kind is InputKind.BUTTON_PRESS
        return first or inputs[number + 1].kind is InputKind.BUTTON_RELEASE
    if kind is InputKind.BUTTON_PRESS:
        # A menu opens, a drag begins. Clicks that belong together must follow each other quickly.
        return action.kind not in (ActionKind.DOUBLE_CLICK, ActionKind.WHEEL)
    return kind is InputKind.KEY_RELEASE and action.kind is ActionKind.TEXT


def pause_before(previous: Action | None, action: Action, pace: Pace) -> float:
    """How many seconds to wait before an action, after the previous one."""
    if previous is None or pace is Pace.FAST:
        return 0.0
    if pace in WITH_PAUSES:
        return max(action.time_ms - previous.time_ms - previous.duration_ms, 0) / 1000
    clicks = (ActionKind.CLICK, ActionKind.DOUBLE_CLICK)
    return _BETWEEN_CLICKS_S if previous.kind in clicks and action.kind in clicks else 0.0


def linger_of(session: Session, actions: Sequence[Action], *, least_s: float) -> float:
    """How long to wait after the last action for a failure that came later in the recording.

    Args:
        session: the session.
        actions: its actions.
        least_s: what came within this time counts as immediate.

    Returns:
        seconds; 0 if the failure came immediately, or nobody knows.
    """
    ending = session.ending
    if ending is None or not ending.failed or session.recorder != "x11" or not actions:
        return 0.0
    later_s = (ending.time_ms - max(action.time_ms + action.duration_ms for action in actions)) / 1000
    return min(later_s * LONGER, LONGEST_LINGER_S) if later_s > least_s else 0.0
