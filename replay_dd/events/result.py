"""What an isolation of a session finds: the minimal session, the course of the search, and a film of the replay.

Everything here is plain, frozen data, for reports to draw.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from replay_dd.events.model import Action, Ending, Session, Window


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
    """

    action: Action
    window: Window | None
    pointer: tuple[int, int]
    before: Path | None
    after: Path | None
    seconds: float


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
class SearchStep:
    """One test of the search: for the picture of its course.

    Attributes:
        number: from 1.
        actions: how many actions were played.
        outcome: ``"PASS"``, ``"FAIL"`` or ``"UNRESOLVED"``.
        actions_left: the size of the best result after it.
        text: how the run ended, in words; empty where it was answered without a run.
    """

    number: int
    actions: int
    outcome: str
    actions_left: int
    text: str = ""


@dataclass(frozen=True)
class MinimizedSession:
    """The result of an isolation.

    Attributes:
        original: the session given.
        original_actions: its actions.
        minimal: the failing session that is left; its ``actions`` are set.
        needed: which of the original actions are left, counted from 0; with a passing session, those that make the
            difference.
        passing: with ``--passing``, the passing session that is nearest to the failing one; else None.
        ending: the failure.
        tests: runs that the search needed.
        tests_requested: outcomes that the algorithm asked for.
        seconds: real time of the whole isolation.
        rate_before: how many of how many replays of the whole session failed like this.
        rate_after: the same for the minimal session.
        steps: the course of the search.
        complete: whether the search came to its end.
        interrupted: whether Ctrl-C stopped it.
        film: a replay of the minimal session with screenshots; None where none was wanted or possible.
    """

    original: Session
    original_actions: tuple[Action, ...]
    minimal: Session
    needed: tuple[int, ...]
    ending: Ending
    tests: int
    tests_requested: int
    seconds: float
    rate_before: tuple[int, int]
    rate_after: tuple[int, int]
    steps: tuple[SearchStep, ...] = ()
    complete: bool = True
    interrupted: bool = False
    passing: Session | None = None
    film: Film | None = None
