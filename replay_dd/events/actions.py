"""Groups raw events into what a person did: clicks, drags, typed text, chords, and pointer motions.

Rules of this module:

* A *gesture* lasts from the first button press until no button is held, or is a single key. It includes the modifiers
  and other keys that were held: played alone, it presses and releases them itself.
* People press the next key before they release the last one; keys are ordered by their presses.
* Every action is well formed (:mod:`replay_dd.events.wellformed`), whatever the events are.
* The order of presses is preserved: the presses of all actions, in sequence, are those of the events.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from replay_dd.events.describe import key_name
from replay_dd.events.model import Action, ActionKind, Event, Input, InputKind, Session
from replay_dd.events.paths import farthest_px, simplified
from replay_dd.events.wellformed import completed, is_press

DRAG_PX = 4.0
TOGETHER_MS = 500  # the longest pause between clicks, or wheel turns, that belong together (Windows, Tk: 500 ms)
TEXT_PAUSE_MS = 1000
LONGEST_TEXT = 40
REST_MS = 300  # a pointer that rests this long has arrived
WHEEL = (4, 5, 6, 7)
MODIFIERS = frozenset(
    f"{name}_{side}" for name in ("Shift", "Control", "Alt", "Meta", "Super", "Hyper") for side in "LR"
) | {"ISO_Level3_Shift", "Mode_switch", "ISO_Level5_Shift"}
# Modifiers that select among the characters of a key, so that text typed with them is still text.
_TYPING = ("Shift_L", "Shift_R", "ISO_Level3_Shift", "Mode_switch")


def actions_of(session: Session) -> tuple[Action, ...]:
    """The actions of a session, with what they were done to where that is known."""
    actions = session.actions or actions_from(session.events)
    known = {(target.time_ms, target.kind): target.text for target in session.targets}
    return tuple(
        replace(action, target=action.target or known.get((action.time_ms, action.kind), "")) for action in actions
    )


def actions_from(events: Sequence[Event]) -> tuple[Action, ...]:
    """Group raw events, in chronological order, into actions."""
    return tuple(_joined(_gestures(events)))


@dataclass
class _Gesture:
    """Pressed buttons, and what happens in the meantime."""

    first: Event
    inputs: list[Input]
    held: tuple[str, ...]
    path: list[tuple[int, int]] = field(default_factory=list)
    buttons: set[int] = field(default_factory=set)
    last_ms: int = 0


def _gestures(events: Sequence[Event]) -> Iterator[Action]:
    held: dict[str, Event] = {}
    used: set[str] = set()
    motion: list[Event] = []
    gesture: _Gesture | None = None
    for event in events:
        if gesture is None and event.kind is InputKind.MOVE:
            if motion and event.time_ms - motion[-1].time_ms > REST_MS:
                yield _motion(motion)
                motion = []
            motion.append(event)
            continue
        if motion and event.kind is not InputKind.KEY_RELEASE:
            yield _motion(motion)
            motion = []
        if event.kind in (InputKind.KEY_PRESS, InputKind.KEY_RELEASE):
            pressed = event.kind is InputKind.KEY_PRESS
            alone = not pressed and event.key in held and event.key in MODIFIERS and event.key not in used
            if gesture is not None:
                gesture.inputs.append(Input(event.kind, key=event.key))
                used.add(event.key)
            elif pressed and event.key not in MODIFIERS:
                modifiers = tuple(key for key in held if key in MODIFIERS)
                used.update(modifiers)
                yield _key(event, modifiers)
            elif alone:
                yield _key(held[event.key], ())
            if pressed:
                held.setdefault(event.key, event)
            else:
                held.pop(event.key, None)
                used.discard(event.key)
        elif event.kind is InputKind.BUTTON_PRESS:
            if gesture is None:
                gesture = _begun(event, tuple(held))
                used.update(held)
            gesture.inputs.append(Input(event.kind, button=event.button))
            gesture.buttons.add(event.button)
            gesture.last_ms = event.time_ms
        elif gesture is not None:
            gesture.last_ms = event.time_ms
            if event.kind is InputKind.MOVE:
                gesture.inputs.append(Input(event.kind, event.x_px, event.y_px))
                gesture.path.append((event.x_px, event.y_px))
            elif event.button in gesture.buttons:
                gesture.inputs.append(Input(event.kind, button=event.button))
                gesture.buttons.discard(event.button)
                if not gesture.buttons:
                    yield _pointer_action(gesture)
                    gesture = None
    if gesture is not None:
        yield _pointer_action(gesture)
    elif motion:
        yield _motion(motion)
    # Modifiers pressed last and never released: the program may have ended at that moment.
    for key, event in held.items():
        if gesture is None and key in MODIFIERS and key not in used:
            yield _key(event, ())


def _begun(event: Event, held: tuple[str, ...]) -> _Gesture:
    presses = [Input(InputKind.KEY_PRESS, key=key) for key in held]
    start = Input(InputKind.MOVE, event.x_px, event.y_px)
    return _Gesture(event, [*presses, start], held, [(event.x_px, event.y_px)])


def _motion(events: Sequence[Event]) -> Action:
    path = simplified([(event.x_px, event.y_px) for event in events])
    return Action(
        ActionKind.MOTION,
        tuple(Input(InputKind.MOVE, x, y) for x, y in path),
        events[0].time_ms,
        events[-1].time_ms - events[0].time_ms,
        events[-1].window,
    )


def _key(event: Event, modifiers: tuple[str, ...]) -> Action:
    inputs = [Input(InputKind.KEY_PRESS, key=key) for key in modifiers]
    inputs += [Input(InputKind.KEY_PRESS, key=event.key), Input(InputKind.KEY_RELEASE, key=event.key)]
    text = text_of(event.symbol)
    if text and all(key in _TYPING for key in modifiers):
        kind = ActionKind.TEXT
    elif modifiers and not all(key in ("Shift_L", "Shift_R") and event.symbol != event.key for key in modifiers):
        kind, text = ActionKind.CHORD, "+".join([*(key_name(key) for key in modifiers), event.key])
    else:
        kind, text = ActionKind.KEY, event.symbol or event.key
    return Action(kind, completed(inputs), event.time_ms, 0, event.window, text)


def text_of(symbol: str) -> str:
    """The character that a key symbol types; empty for symbols that type none, or are named keys (Return)."""
    if len(symbol) == 1:
        return symbol
    if _UNICODE_SYMBOL.fullmatch(symbol):
        character = chr(int(symbol, 16) - _FIRST_UNICODE)
        return character if character.isprintable() else ""
    return _CHARACTERS.get(symbol, "")


def _pointer_action(gesture: _Gesture) -> Action:
    first = gesture.first
    modifiers = tuple(key for key in gesture.held if key in MODIFIERS)
    if first.button in WHEEL:
        kind = ActionKind.WHEEL
    elif farthest_px(gesture.path) > DRAG_PX:
        kind = ActionKind.DRAG
    else:
        kind = ActionKind.CLICK
    inputs = _with_simple_paths(gesture.inputs, keep_moves=kind is ActionKind.DRAG)
    duration = max(gesture.last_ms - first.time_ms, 0)
    return Action(kind, completed(inputs), first.time_ms, duration, first.window, "", modifiers)


def _with_simple_paths(inputs: Sequence[Input], *, keep_moves: bool) -> list[Input]:
    """Simplify the moves between two other inputs; jitter during a click is not a drag."""
    kept: list[Input] = []
    path: list[tuple[int, int]] = []
    last: tuple[int, int] | None = None
    moved = False

    def flush() -> None:
        nonlocal last
        if path:
            points = simplified(([last] if last is not None else []) + path)
            kept.extend(Input(InputKind.MOVE, x, y) for x, y in (points[1:] if last is not None else points))
            last = path[-1]
            path.clear()

    for item in inputs:
        if item.kind is InputKind.MOVE:
            if keep_moves or not moved:
                path.append((item.x_px, item.y_px))
                moved = True
        else:
            flush()
            kept.append(item)
    flush()
    return kept


def _joined(gestures: Iterator[Action]) -> Iterator[Action]:
    """Join what belongs together: characters into text, clicks into double-clicks, and wheel turns."""
    current: Action | None = None
    waiting: Action | None = None  # pointer jitter that may be part of a double-click
    for action in gestures:
        if current is None:
            current = action
            continue
        joined = _join(current, action, waiting)
        if joined is not None:
            current, waiting = joined, None
        elif waiting is None and action.kind is ActionKind.MOTION and _is_jitter(current, action):
            waiting = action
        else:
            yield current
            if waiting is not None:
                yield waiting
            current, waiting = action, None
    if current is not None:
        yield current
    if waiting is not None:
        yield waiting


def _join(one: Action, other: Action, between: Action | None) -> Action | None:
    pause = other.time_ms - one.time_ms - one.duration_ms
    if one.kind is ActionKind.TEXT and other.kind is ActionKind.TEXT:
        fits = between is None and pause <= TEXT_PAUSE_MS and one.window == other.window
        if not fits or len(one.text) >= LONGEST_TEXT:
            return None
        return _both(one, other, ActionKind.TEXT, one.text + other.text)
    clicks = (ActionKind.CLICK, ActionKind.DOUBLE_CLICK)
    if pause > TOGETHER_MS or one.button != other.button or one.modifiers != other.modifiers:
        return None
    if one.start is None or other.start is None or farthest_px([one.start, other.start]) > DRAG_PX:
        return None
    if one.kind in clicks and other.kind is ActionKind.CLICK:
        return _both(one, other, ActionKind.DOUBLE_CLICK, "")
    if one.kind is ActionKind.WHEEL and other.kind is ActionKind.WHEEL:
        return _both(one, other, ActionKind.WHEEL, "")
    return None


def _both(one: Action, other: Action, kind: ActionKind, text: str) -> Action:
    inputs = one.inputs + other.inputs
    if kind is not ActionKind.TEXT:
        # At the same place: toolkits recognize double-clicks by that.
        start = one.start
        inputs = one.inputs + tuple(item for item in other.inputs if item.kind is not InputKind.MOVE)
        assert start is not None
    end = other.time_ms + other.duration_ms
    return replace(one, kind=kind, inputs=inputs, duration_ms=end - one.time_ms, text=text)


def _is_jitter(one: Action, motion: Action) -> bool:
    if one.kind not in (ActionKind.CLICK, ActionKind.WHEEL, ActionKind.DOUBLE_CLICK) or one.start is None:
        return False
    return farthest_px([one.start, *((item.x_px, item.y_px) for item in motion.inputs)]) <= DRAG_PX


def presses(inputs: Sequence[Input]) -> list[str | int]:
    """What is pressed, in order: buttons by number, keys by symbol."""
    return [item.button or item.key for item in inputs if is_press(item)]


_NAMES = (
    "space exclam quotedbl numbersign dollar percent ampersand apostrophe parenleft parenright asterisk plus comma "
    "minus period slash colon semicolon less equal greater question at bracketleft backslash bracketright asciicircum "
    "underscore grave braceleft bar braceright asciitilde EuroSign"
)
# In the order of ISO 8859-1, from 0xA1 on (X Window System Protocol, appendix A).
_LATIN_1_NAMES = (
    "exclamdown cent sterling currency yen brokenbar section diaeresis copyright ordfeminine guillemotleft notsign "
    "hyphen registered macron degree plusminus twosuperior threesuperior acute mu paragraph periodcentered cedilla "
    "onesuperior masculine guillemotright onequarter onehalf threequarters questiondown Agrave Aacute Acircumflex "
    "Atilde Adiaeresis Aring AE Ccedilla Egrave Eacute Ecircumflex Ediaeresis Igrave Iacute Icircumflex Idiaeresis ETH "
    "Ntilde Ograve Oacute Ocircumflex Otilde Odiaeresis multiply Ooblique Ugrave Uacute Ucircumflex Udiaeresis Yacute "
    "THORN ssharp agrave aacute acircumflex atilde adiaeresis aring ae ccedilla egrave eacute ecircumflex ediaeresis "
    "igrave iacute icircumflex idiaeresis eth ntilde ograve oacute ocircumflex otilde odiaeresis division oslash "
    "ugrave uacute ucircumflex udiaeresis yacute thorn ydiaeresis"
)
_CHARACTERS = dict(zip(_NAMES.split(), " !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~€", strict=True)) | {
    name: chr(code) for code, name in enumerate(_LATIN_1_NAMES.split(), 0xA1)
}
_FIRST_UNICODE = 0x01000000
# Symbols of characters that have none of their own (X Window System Protocol, appendix A).
_UNICODE_SYMBOL = re.compile(r"0x10[0-9a-f]{5}|0x110[0-9a-f]{4}")
SYMBOLS = {character: symbol for symbol, character in _CHARACTERS.items()}
"""The key symbols of characters that are not their own key symbol."""
