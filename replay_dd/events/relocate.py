"""Moves actions along with a window whose position has changed since the session was recorded.

Rules of this module:

* Positions are screen coordinates, and nothing is moved while windows are where they were. They are elsewhere under
  another window manager, or if an action that moved them is left out.
* A window is identified by its class together with its title or its size. If that is not unique, nothing is moved: a
  wrong guess would be worse than a position that was once right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from replay_dd.events.model import Action, InputKind, Window


def placed(action: Action, recorded: Window | None, windows: Sequence[Window]) -> Action:
    """The action, moved to where its window is now.

    Args:
        action: what was recorded.
        recorded: its window, as recorded; None if unknown.
        windows: the current windows.
    """
    found = None if recorded is None or action.start is None else same_window(recorded, windows)
    if recorded is None or found is None:
        return action
    return moved(action, found.area.x_px - recorded.area.x_px, found.area.y_px - recorded.area.y_px)


def same_window(recorded: Window, windows: Sequence[Window]) -> Window | None:
    """The one window that matches; None if there is none, or more than one."""
    alike = [window for window in windows if same_kind(recorded, window)]
    for same in (
        [window for window in alike if window.title == recorded.title],
        [window for window in alike if _size(window) == _size(recorded)],
    ):
        if same:
            return same[0] if len(same) == 1 else None
    return None


def moved(action: Action, right_px: int, down_px: int) -> Action:
    """The action, moved by an offset."""
    if right_px == 0 and down_px == 0:
        return action
    inputs = tuple(
        replace(item, x_px=item.x_px + right_px, y_px=item.y_px + down_px) if item.kind is InputKind.MOVE else item
        for item in action.inputs
    )
    return replace(action, inputs=inputs)


def same_kind(one: Window, other: Window) -> bool:
    """Whether two windows are of the same class, and both or neither are menus or the like."""
    return _kind(one) == _kind(other)


def _kind(window: Window) -> tuple[str, str, bool]:
    return window.instance, window.class_name, window.override_redirect


def _size(window: Window) -> tuple[int, int]:
    return window.area.width_px, window.area.height_px
