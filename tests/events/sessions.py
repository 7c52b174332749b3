"""Sessions for the tests of this room, made up and drawn by hypothesis."""

from __future__ import annotations

from hypothesis import strategies as st

from replay_dd.events.model import (
    Action,
    ActionKind,
    Ending,
    EndingKind,
    Event,
    GuiProgram,
    Input,
    InputKind,
    Pace,
    Rectangle,
    Screen,
    Session,
    Window,
    WindowChange,
)

TEXTS = st.text(max_size=12)
ARGUMENTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
VARIABLES = st.text(st.characters(exclude_characters="\0=", exclude_categories=["Cs"]), min_size=1, max_size=12)
SMALL = st.integers(-5, 3000)
TIMES = st.integers(0, 3000)
RECTANGLES = st.builds(Rectangle, SMALL, SMALL, st.integers(1, 2000), st.integers(1, 2000))
PROGRAMS = st.builds(
    GuiProgram,
    command=st.lists(ARGUMENTS, min_size=1, max_size=3).map(tuple),
    directory=ARGUMENTS,
    environment=st.dictionaries(VARIABLES, ARGUMENTS, max_size=2),
    files=st.dictionaries(ARGUMENTS, TEXTS, max_size=2),
)
INPUTS = st.builds(Input, st.sampled_from(InputKind), SMALL, SMALL, st.integers(0, 9), TEXTS)
ENDINGS = st.builds(
    Ending,
    kind=st.sampled_from(EndingKind),
    text=TEXTS,
    signature=TEXTS,
    status=st.none() | st.integers(0, 255),
    signal=st.none() | st.integers(1, 64),
    frames=st.lists(TEXTS, max_size=3).map(tuple),
    actions=st.integers(0, 99),
    output=TEXTS,
)


@st.composite
def sessions(draw: st.DrawFn) -> Session:
    count = draw(st.integers(0, 3))
    windows = tuple(
        Window(
            *(number, draw(TEXTS), draw(TEXTS), draw(TEXTS), draw(RECTANGLES), draw(RECTANGLES)),
            tuple(draw(st.lists(st.integers(0, 9), max_size=3))),
            draw(st.booleans()),
        )
        for number in range(count)
    )
    number = st.none() | st.integers(0, count - 1) if count else st.none()
    names = st.lists(TEXTS, max_size=2).map(tuple)
    event = st.builds(
        *(Event, st.sampled_from(InputKind), TIMES, SMALL, SMALL, st.integers(0, 9), TEXTS, TEXTS, names, number)
    )
    action = st.builds(
        *(Action, st.sampled_from(ActionKind), st.lists(INPUTS, max_size=4).map(tuple)),
        *(TIMES, TIMES, number, TEXTS, names),
    )
    change = st.builds(WindowChange, TIMES, st.integers(0, max(count - 1, 0)), st.booleans())
    with_events = draw(st.booleans())
    return Session(
        program=draw(PROGRAMS),
        screen=draw(st.builds(Screen, st.integers(1, 4000), st.integers(1, 4000), st.integers(1, 32))),
        window_manager=draw(TEXTS),
        recorder=draw(TEXTS),
        windows=windows,
        events=tuple(sorted(draw(st.lists(event, max_size=5)), key=lambda item: item.time_ms)) if with_events else (),
        actions=() if with_events else tuple(draw(st.lists(action, max_size=4))),
        changes=tuple(sorted(draw(st.lists(change, max_size=2)), key=lambda item: item.time_ms)) if count else (),
        ending=draw(st.none() | ENDINGS),
        masked=draw(st.booleans()),
        seed=draw(st.none() | st.integers(0, 2**64 - 1)),
        pace=draw(st.sampled_from(Pace)),
        verified=draw(st.none() | st.booleans()),
    )
