"""The result of isolating a session: the minimal session, the search, and a film of the replay.

Everything here is plain, frozen data for reports.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from replay_dd.errors import EXIT_INTERRUPTED
from replay_dd.events.model import Action, Ending, Rectangle, Session, Window
from replay_dd.experiment.result import Isolation

if TYPE_CHECKING:
    from replay_dd.events.run import Run


@dataclass(frozen=True)
class FilmFrame:
    """One action of a filmed replay.

    Attributes:
        action: the action as played.
        window: its target window at that moment; None for the background, or if unknown.
        pointer: where the pointer was when it began.
        before: a screenshot (PNG) just before the action; None if there is none.
        after: a screenshot after it, with the program idle again; None if the program had ended.
        seconds: how long it took until the program was idle.
        areas: the areas of windows just before the action, including menus but not window frames.
    """

    action: Action
    window: Window | None
    pointer: tuple[int, int]
    before: Path | None
    after: Path | None
    seconds: float
    areas: tuple[Rectangle, ...] = ()


@dataclass(frozen=True)
class Film:
    """A replay with screenshots.

    Attributes:
        frames: one for each action begun, in order.
        start: a screenshot before the first action; None if there is none.
        ending: how the replay ended.
    """

    frames: tuple[FilmFrame, ...]
    start: Path | None
    ending: Ending


@dataclass(frozen=True)
class ComparedAction:
    """An action in the side-by-side comparison of a passing and a failing session.

    Attributes:
        action: the action.
        place: its number, from 0, in the original failing session; if only the passing one has it, in that one.
        in_passing: whether the passing session has it.
        in_failing: whether the failing session has it.
    """

    action: Action
    place: int
    in_passing: bool
    in_failing: bool


@dataclass(frozen=True)
class SessionIsolation:
    """What makes a session fail.

    Attributes:
        isolation: the driver's result.
        original: the original session.
        original_actions: its actions.
        minimal: the minimal failing session; its ``actions`` are set.
        needed: the numbers of the remaining original actions, from 0; with a passing session, those that only the
            failing one has.
        ending: the failure.
        passing: with ``--passing``, the passing session closest to the failing one; else None.
        compared: with ``--passing``, the actions of both, side by side.
        film: a replay of the minimal session with screenshots; None if not requested or not possible.
        film_interrupted: whether Ctrl-C ended the film; the answer had been found.
    """

    isolation: Isolation[Run]
    original: Session
    original_actions: tuple[Action, ...]
    minimal: Session
    needed: tuple[int, ...]
    ending: Ending
    passing: Session | None = None
    compared: tuple[ComparedAction, ...] = ()
    film: Film | None = None
    film_interrupted: bool = False

    @property
    def exit_code(self) -> int:
        """The exit status for this result."""
        return EXIT_INTERRUPTED if self.film_interrupted else self.isolation.exit_code

    @property
    def differing(self) -> tuple[ComparedAction, ...]:
        """With ``--passing``, the actions that only one of the two sessions has."""
        return tuple(item for item in self.compared if item.in_passing != item.in_failing)

    @property
    def reproduced(self) -> bool:
        """Whether fresh replays confirmed the minimal session; True if there were none."""
        return self.isolation.verified or not self.isolation.proof.made
