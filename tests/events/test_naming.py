"""Names for readers: what actions are done to, and in which window."""

from __future__ import annotations

from dataclasses import replace

from replay_dd.events.describe import describe_action
from replay_dd.events.model import GuiProgram, Rectangle, Screen, Session, Window
from replay_dd.events.naming import is_there, named
from tests.x11.acts import click, key

AREA = Rectangle(10, 20, 100, 100)
MAIN, DIALOG = (Window(number, "tk", kind, kind, AREA, AREA) for number, kind in enumerate(("Main", "Dialog")))
ACTIONS = (replace(click(20, 30), window=1), replace(key("a"), window=1), replace(key("b"), window=1))
SESSION = Session(GuiProgram(("prog",), "folder"), Screen(640, 480), windows=(MAIN, DIALOG))


def test_a_window_that_was_not_there_is_replaced_by_the_one_that_was() -> None:
    told = named(SESSION, ACTIONS, ('button "OK"',), (MAIN, replace(MAIN, number=0, title="New", class_name="New")))
    assert [describe_action(action, told) for action in told.actions] == [
        'click at 10,10 in "Main" (button "OK")',
        'press a in "New"',
        'press b in "Dialog"',
    ]
    assert [window.number for window in told.windows] == [0, 1, 2]
    assert [action.inputs for action in told.actions] == [action.inputs for action in ACTIONS]


def test_a_window_with_another_title_may_be_the_recorded_one() -> None:
    assert is_there(MAIN, [DIALOG, replace(MAIN, title="*Main")])
    assert not is_there(MAIN, [DIALOG, replace(MAIN, override_redirect=True)])
