"""User actions as a circumstance, on a simulated program."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from replay_dd.events.circumstance import UserActions
from replay_dd.events.difference import difference_of
from replay_dd.events.model import Action, ActionKind, Ending, EndingKind, GuiProgram, Input, InputKind, Screen, Session
from replay_dd.events.run import Run
from replay_dd.experiment.driver import isolate_cause

ACTIONS = tuple(
    Action(ActionKind.MOTION, (Input(InputKind.MOVE, number, number),), time_ms=number) for number in range(30)
)


class SimulatedRunner:
    """A program that crashes when the last of the needed actions is done; the crash may be noticed late."""

    def __init__(self, needed: Sequence[int], late: Sequence[int]) -> None:
        self.conditions: Any = SimpleNamespace(linger_s=0.0)
        self._needed = [ACTIONS[number] for number in needed]
        self._late = list(late)
        self.played: list[tuple[Action, ...]] = []

    def run(self, actions: Sequence[Action]) -> Run:
        self.played.append(tuple(actions))
        late = self._late.pop(0) if self._late else 0
        if not all(action in actions for action in self._needed):
            return Run(Ending(EndingKind.OPEN, "still running", actions=len(actions)), (), 0.0, 0.0)
        begun = min(1 + max(actions.index(action) for action in self._needed) + late, len(actions))
        return Run(Ending(EndingKind.SIGNAL, "crash", "crash", actions=begun), (), 0.0, 0.0)


@pytest.mark.parametrize("late", [(), (1, 1), (0, 1), (1, 0), (1, 1, 1, 1, 1, 1)])
@pytest.mark.parametrize("needed", [(4, 9, 20), (20,), (0, 28), (29,), (0,)])
def test_a_crash_that_is_noticed_one_action_late_changes_nothing(
    needed: tuple[int, ...], late: tuple[int, ...]
) -> None:
    runner = SimulatedRunner(needed, late)
    session = Session(GuiProgram(("prog",), "folder", {}, {}), Screen(640, 480), actions=ACTIONS)
    circumstance = UserActions(
        runner,  # type: ignore[arg-type]
        difference_of(ACTIONS),
        session,
        simplify=True,
        algorithm="bisection",
    )
    found = isolate_cause(circumstance)
    assert tuple(circumstance.difference.places(found.failing.configuration)) == needed
    assert found.verified
    assert () not in runner.played, "a program that was not touched is known not to fail"


def test_no_prefix_is_tested_that_the_whole_session_has_shown_to_pass() -> None:
    runner = SimulatedRunner((4, 9, 20), ())
    session = Session(GuiProgram(("prog",), "folder", {}, {}), Screen(640, 480), actions=ACTIONS)
    isolate_cause(UserActions(runner, difference_of(ACTIONS), session, simplify=True, algorithm="bisection"))  # type: ignore[arg-type]
    prefixes = [actions for actions in runner.played[6:] if actions == ACTIONS[: len(actions)]]
    assert [len(actions) for actions in prefixes if actions] == [20], "the one before the last is not certain"
