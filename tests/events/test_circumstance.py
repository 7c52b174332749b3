"""User actions as a circumstance, on a simulated program."""

from __future__ import annotations

import copy
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from replay_dd.errors.program import NotReproducedError, NoWindowError
from replay_dd.events.circumstance import UserActions
from replay_dd.events.difference import difference_of, natural_cuts
from replay_dd.events.failure_signature import of_exit, of_signal
from replay_dd.events.model import (
    Action,
    ActionKind,
    Ending,
    EndingKind,
    GuiProgram,
    Input,
    InputKind,
    Screen,
    Session,
)
from replay_dd.events.run import Conditions, Run
from replay_dd.experiment.driver import isolate_cause
from replay_dd.experiment.journal import SearchedFor, kept_in
from replay_dd.experiment.result import Isolation

ACTIONS = tuple(
    Action(ActionKind.MOTION, (Input(InputKind.MOVE, number, number),), time_ms=number) for number in range(30)
)


class SimulatedRunner:
    """A program that crashes when the last of the needed actions is done; the crash may be noticed late."""

    def __init__(self, needed: Sequence[int], late: Sequence[int]) -> None:
        self.conditions = Conditions()
        self.watched: list[float] = []
        self._needed = [ACTIONS[number] for number in needed]
        self._late = list(late)
        self.played: list[tuple[Action, ...]] = []

    def watching(self, linger_s: float) -> SimulatedRunner:
        other = copy.copy(self)
        other.conditions = Conditions(linger_s=linger_s)
        self.watched.append(linger_s)
        return other

    def run(self, actions: Sequence[Action], *, want_targets: bool = False) -> Run:
        self.played.append(tuple(actions))
        late = self._late.pop(0) if self._late else 0
        if not all(action in actions for action in self._needed):
            return Run(Ending(EndingKind.OPEN, "still running", actions=len(actions)), (), 0.0, 0.0)
        begun = min(1 + max(actions.index(action) for action in self._needed) + late, len(actions))
        targets = tuple(f"place {action.time_ms}" for action in actions[:begun]) if want_targets else ()
        return Run(Ending(EndingKind.SIGNAL, "crash", "crash", actions=begun), (), 0.0, 0.0, targets=targets)


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
    named = circumstance.named(found.failing.configuration).actions
    assert [action.target for action in named] == [f"place {number}" for number in needed]


def test_no_prefix_is_tested_that_the_whole_session_has_shown_to_pass() -> None:
    runner = SimulatedRunner((4, 9, 20), ())
    session = Session(GuiProgram(("prog",), "folder", {}, {}), Screen(640, 480), actions=ACTIONS)
    isolate_cause(UserActions(runner, difference_of(ACTIONS), session, simplify=True, algorithm="bisection"))  # type: ignore[arg-type]
    prefixes = [actions for actions in runner.played[7:] if actions == ACTIONS[: len(actions)]]
    assert [len(actions) for actions in prefixes if actions] == [20], "the one before the last is not certain"


def test_a_journal_knows_what_was_played(tmp_path: Path) -> None:
    session = Session(GuiProgram(("prog",), "folder", {}, {}), Screen(640, 480), actions=ACTIONS)
    found, played = [], []
    for _ in range(2):
        runner = SimulatedRunner((4, 9, 20), ())
        actions = UserActions(
            runner,  # type: ignore[arg-type]
            difference_of(ACTIONS),
            session,
            simplify=True,
            algorithm="bisection",
        )
        with kept_in(tmp_path / "journal", SearchedFor("events", "", {}, {})):
            found.append(isolate_cause(actions))
        played.append(runner.played)
    assert found[0].failing == found[1].failing
    assert found[0].runs == found[1].runs
    # Evidence is made anew: the whole session, to its end and to the failure, and the answer.
    assert set(played[1]) == {ACTIONS, ACTIONS[:21], tuple(ACTIONS[number] for number in (4, 9, 20))}
    assert len(set(played[0])) > 5


class TwoSites(SimulatedRunner):
    """Crashes in 75 % of the replays at one place, and otherwise at another."""

    def __init__(self, needed: Sequence[int], seed: int, *, later: int = 0) -> None:
        super().__init__(needed, ())
        self._chance = random.Random(seed)
        self._later = later

    def run(self, actions: Sequence[Action], *, want_targets: bool = False) -> Run:
        run = super().run(actions, want_targets=want_targets)
        if not run.ending.failed:
            return run
        often = self._chance.random() < 0.75
        crash = of_signal(11, "app+0x5000", (), "") if often else of_signal(6, "libx.so+0x10", (), "")
        number = run.ending.actions + (0 if often else self._later)
        if number > len(actions):
            return replace(run, ending=Ending(EndingKind.OPEN, "still running", actions=len(actions)))
        return replace(run, ending=replace(crash, actions=number))


def isolated(runner: SimulatedRunner, *, exact_site: bool = False) -> tuple[UserActions, Isolation[Run]]:
    session = Session(GuiProgram(("prog",), "folder", {}, {}), Screen(640, 480), actions=ACTIONS)
    circumstance = UserActions(
        runner,  # type: ignore[arg-type]
        difference_of(ACTIONS),
        session,
        simplify=True,
        algorithm="bisection",
        exact_site=exact_site,
    )
    return circumstance, isolate_cause(circumstance)


@pytest.mark.parametrize("seed", range(7))
def test_two_crash_sites_at_one_action_are_one_failure(seed: int) -> None:
    circumstance, found = isolated(TwoSites((4, 9, 20), seed))
    assert tuple(circumstance.difference.places(found.failing.configuration)) == (4, 9, 20)
    assert found.failing.run is not None
    signatures = {found.failing.run.ending.signature, circumstance.wanted.signature, *circumstance.wanted.neighbours}
    assert signatures == {"signal SIGSEGV in app+0x5000", "signal SIGABRT in libx.so+0x10"}
    assert found.baseline.rate.steady
    assert found.verified


@pytest.mark.parametrize(("exact_site", "later"), [(True, 0), (False, 5)])
def test_otherwise_the_more_frequent_one_is_the_failure(exact_site: bool, later: int) -> None:
    for seed in range(5):
        circumstance, found = isolated(TwoSites((4, 9, 20), seed, later=later), exact_site=exact_site)
        assert circumstance.wanted.signature == "signal SIGSEGV in app+0x5000"
        assert circumstance.wanted.neighbours == ()
        assert not found.baseline.rate.steady
        assert tuple(circumstance.difference.places(found.failing.configuration)) == (4, 9, 20)


def test_another_crash_than_the_recorded_one_is_not_looked_for() -> None:
    session = Session(
        *(GuiProgram(("prog",), "folder", {}, {}), Screen(640, 480)),
        actions=ACTIONS,
        ending=Ending(EndingKind.EXCEPTION, "KeyError", "exception KeyError"),
    )
    runner = TwoSites((4,), 1)
    with pytest.raises(NotReproducedError, match="KeyError was recorded"):
        isolate_cause(
            UserActions(runner, difference_of(ACTIONS), session, simplify=True, algorithm="bisection")  # type: ignore[arg-type]
        )


@pytest.mark.parametrize("recorded_actions", [3, 0])
def test_a_program_that_cannot_be_used_is_not_tried_again_and_again(recorded_actions: int) -> None:
    class Broken(SimulatedRunner):
        def run(self, actions: Sequence[Action], *, want_targets: bool = False) -> Run:
            self.played.append(tuple(actions))
            return Run(of_exit(2, "no settings\n"), (), 0.0, 0.0)

    crash = replace(of_signal(11, "app+0x10", (), ""), actions=recorded_actions)
    session = Session(GuiProgram(("prog",), "folder", {}, {}), Screen(640, 480), actions=ACTIONS, ending=crash)
    runner = Broken((4,), ())
    circumstance = UserActions(runner, difference_of(ACTIONS), session, simplify=True, algorithm="bisection")  # type: ignore[arg-type]
    if recorded_actions:
        with pytest.raises(NoWindowError, match=r"before anything .* exit status 2 \(no settings\)"):
            isolate_cause(circumstance)
        assert len(runner.played) == 2
    else:
        with pytest.raises(NotReproducedError):
            isolate_cause(circumstance)


def test_sessions_are_cut_where_something_new_begins() -> None:
    windows = [0] * 5 + [1] * 3 + [0] * 6 + [None] + [0] * 3
    times = [100 * number + (3000 if number > 11 else 0) for number in range(len(windows))]
    actions = [
        replace(ACTIONS[number], window=window, time_ms=time)
        for number, (window, time) in enumerate(zip(windows, times, strict=True))
    ]
    # The action that opens the dialog, the one after it, the pause, and around the background.
    assert natural_cuts(actions) == [4, 8, 12, 13, 15]
    assert difference_of(actions).cuts == (4, 8, 12, 13, 15)
    assert natural_cuts([]) == []
