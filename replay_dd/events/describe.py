"""Descriptions of actions, as a person would write them in a bug report."""

from __future__ import annotations

from replay_dd.events.model import Action, ActionKind, InputKind, Session, Window

_BUTTONS = {1: "", 2: "middle-", 3: "right-", 8: "back-", 9: "forward-"}
_WHEEL = {4: "up", 5: "down", 6: "left", 7: "right"}
_LONGEST_TEXT = 40


def describe_action(action: Action, session: Session) -> str:
    """Describe an action, such as ``click in "Calculator" at 30,40``."""
    return in_words(action, session.window_of(action.window))


def in_words(action: Action, window: Window | None) -> str:
    """Describe an action; positions are relative to the window if that is known."""
    return f"{_plain(action, window)} ({action.target})" if action.target else _plain(action, window)


def _plain(action: Action, window: Window | None) -> str:
    held = "".join(f"{key_name(name)}+" for name in action.modifiers)
    match action.kind:
        case ActionKind.TEXT:
            return f"type {action.text!r}{_inside(window)}"
        case ActionKind.KEY | ActionKind.CHORD:
            return f"press {action.text}{_inside(window)}"
        case ActionKind.MOTION:
            return f"move the pointer to {_place(action.end, window)}"
        case ActionKind.WHEEL:
            turns = sum(item.kind is InputKind.BUTTON_PRESS for item in action.inputs)
            times = "" if turns == 1 else f", {turns} times"
            return f"{held}wheel {_WHEEL.get(action.button, '')} {_at(action.start, window)}{times}"
        case ActionKind.DRAG:
            button = _BUTTONS.get(action.button, f"button-{action.button}-")
            start, end = action.start, action.end
            if window is None or start is None or end is None:
                return f"{held}{button}drag from {_place(start, window)} to {_place(end, window)}"
            return f"{held}{button}drag from {_offset(start, window)} to {_place(end, window)}"
        case ActionKind.CLICK | ActionKind.DOUBLE_CLICK:
            button = _BUTTONS.get(action.button, f"button-{action.button}-")
            what = "click" if action.kind is ActionKind.CLICK else "double-click"
            return f"{held}{button}{what} {_at(action.start, window)}"


def _inside(window: Window | None) -> str:
    return "" if window is None else f' in "{window.name}"'


def _at(point: tuple[int, int] | None, window: Window | None) -> str:
    return f"{'' if point is None else 'at '}{_place(point, window)}"


def _place(point: tuple[int, int] | None, window: Window | None) -> str:
    if point is None:
        return "where the pointer is"
    if window is None:
        return f"{point[0]},{point[1]} of the screen"
    return f'{_offset(point, window)} in "{window.name}"'


def _offset(point: tuple[int, int], window: Window) -> str:
    return f"{point[0] - window.area.x_px},{point[1] - window.area.y_px}"


def key_name(key: str) -> str:
    """A key as written in a chord: ``Control_L`` is ``Ctrl``, other keys keep their names."""
    plain = key[:-2] if key.endswith(("_L", "_R")) else key
    return {"Control": "Ctrl"}.get(plain, plain)


def on_one_line(text: str) -> str:
    """A text of a program, shortened to be quoted in a description."""
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 1]}…"
