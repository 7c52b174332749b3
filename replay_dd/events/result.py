"""What an isolation of a session finds: the minimal session, the course of the search, and a film of the replay.

Everything here is plain, frozen data, for reports to draw.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from replay_dd.events.model import Action, Ending, Rectangle, Session, Window
from replay_dd.experiment.result import Isolation

if TYPE_CHECKING:
    from replay_dd.events.run import Run


@dataclass(frozen=True)
class FilmFrame:
    """One action of a replay, as it was seen.

    Attributes:
        action: what was done.
        window: the window that it was done to, as it was at that moment; None for the background or not known.
        pointer: where the pointer was when it began.
        before: a screenshot (PNG) just before the action; None where there is none.
        after: a screenshot after it, with the program idle again; None where the program had ended.
        seconds: how long it took until the program was idle.
        areas: where windows were just before the action, menus included, frames of the window manager not.
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
        frames: one for each action that was begun, in order.
        start: a screenshot before the first action; None where there is none.
        ending: how the replay ended.
    """

    frames: tuple[FilmFrame, ...]
    start: Path | None
    ending: Ending


@dataclass(frozen=True)
class ComparedAction:
    """An action of a passing and a failing session that are nearly the same.

    Attributes:
        action: what is done.
        place: its place, counted from 0, in the failing session given; where only the passing one has it, in that one.
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
        original: the session given.
        original_actions: its actions.
        minimal: the failing session that is left; its ``actions`` are set.
        needed: which of the original actions are left, counted from 0; with a passing session, those that only the
            failing one has.
        ending: the failure.
        passing: with ``--passing``, the passing session that is nearest to the failing one; else None.
        compared: with ``--passing``, the actions of both, side by side.
        film: a replay of the minimal session with screenshots; None where none was wanted or possible.
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

    @property
    def differing(self) -> tuple[ComparedAction, ...]:
        """With ``--passing``, the actions that only one of the two sessions has."""
        return tuple(item for item in self.compared if item.in_passing != item.in_failing)

    @property
    def reproduced(self) -> bool:
        """Whether the minimal session failed in any of its fresh replays; True where there was none."""
        return self.isolation.verified or not self.isolation.proof.made
