"""The monkey recorder: random sessions on private displays."""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from replay_dd.errors.program import NoWindowError
from replay_dd.events.failure_signature import outcome_of
from replay_dd.events.log import SessionWriter
from replay_dd.events.model import Action, Ending, Rectangle, Session, Target, Window
from replay_dd.events.monkey import next_action
from replay_dd.events.naming import targets_of
from replay_dd.events.run import Conditions, Stage, run_session
from replay_dd.events.told import replayed_on_bus, told_targets
from replay_dd.events.x11.display import PrivateDisplay
from replay_dd.events.x11.windows import area_of, describe, numbered, top_windows
from replay_dd.outcome import Outcome

_DEEPEST = 8
_VIEWABLE = 2


@dataclass(frozen=True)
class MonkeyRun:
    """One random session.

    Attributes:
        session: what was done, and how it ended.
        seconds: how long it took.
    """

    session: Session
    seconds: float


class MonkeyRecorder:
    """Sends random input to a program, and records it."""

    name = "monkey"

    def record(
        self,
        session: Session,
        output: Path,
        *,
        seed: int,
        actions: int,
        conditions: Conditions | None = None,
        verify: bool = True,
        on_action: Callable[[int, Action], None] | None = None,
    ) -> MonkeyRun:
        """Make one random session.

        Args:
            session: provides the program, the screen and the window manager.
            output: the log; it is written during the session.
            seed: the random seed.
            actions: the number of actions, unless the program ends earlier.
            conditions: how to run the program.
            verify: if the session fails, replay it to see whether it fails again.
            on_action: called before each action with its number, from 1.

        Raises:
            ReplayDDError: the program cannot be run, or the log cannot be written.
        """
        conditions = conditions or Conditions()
        started = time.monotonic()
        head = replace(session, recorder="monkey", seed=seed)
        with SessionWriter(output, head) as writer:
            with PrivateDisplay(head.screen, head.window_manager) as display:
                done, ending, windows = _play(head, display, conditions, seed, actions, writer, on_action)
            writer.end(ending)
            verified = None
            targets: tuple[Target, ...] = ()
            if verify and ending.failed:
                with PrivateDisplay(head.screen, head.window_manager) as display:
                    again = run_session(head, done, display, conditions, want_targets=True)
                verified = outcome_of(again.ending, ending) is Outcome.FAIL
                if verified:
                    on_bus = partial(replayed_on_bus, head, done, conditions, head.window_manager)
                    targets = targets_of(done, told_targets(again, on_bus))
                writer.targets(targets)
            writer.verdict(conditions.pace, verified, conditions.playback)
        made = replace(
            head,
            actions=tuple(done),
            windows=tuple(windows),
            targets=targets,
            ending=ending,
            verified=verified,
            pace=conditions.pace,
            playback=conditions.playback,
        )
        return MonkeyRun(made, time.monotonic() - started)


def _play(
    session: Session,
    display: PrivateDisplay,
    conditions: Conditions,
    seed: int,
    count: int,
    writer: SessionWriter,
    on_action: Callable[[int, Action], None] | None,
) -> tuple[list[Action], Ending, list[Window]]:
    chance = random.Random(seed)
    known: list[Window] = []
    done: list[Action] = []
    stage = Stage(session, display, conditions)
    try:
        while len(done) < count and not stage.program.over():
            action = next_action(chance, _windows(display, chance, known, writer), session.screen)
            now_ms = int((time.monotonic() - stage.program.started) * 1000)
            action = replace(action, time_ms=now_ms)
            if on_action is not None:
                on_action(len(done) + 1, action)
            writer.action(action)
            done.append(action)
            stage.play(action)
        ending = stage.finish()
    finally:
        stage.close()
    if not (done or stage.program.has_had_window or ending.failed):
        raise NoWindowError(
            f"The program opened no window, and {ending.text}.",
            "Check that it is a GUI program, and that it does not hand over to one that runs already.",
        )
    lasted_ms = int((time.monotonic() - stage.program.started) * 1000)
    return done, replace(ending, actions=len(done), time_ms=lasted_ms), known


def _windows(
    display: PrivateDisplay, chance: random.Random, known: list[Window], writer: SessionWriter
) -> list[Window]:
    """The current windows, each with a part to aim at."""
    found = []
    for window in top_windows(display.connection):
        with contextlib.suppress(*display.connection.bad_resource):
            seen = describe(display.connection, window)
            before = len(known)
            number = numbered(seen, known)
            if len(known) > before:
                writer.window(known[number])
            part = _some_part(display, window, chance)
            found.append(replace(seen, number=number, part=part))
    return found


def _some_part(display: PrivateDisplay, window: Any, chance: random.Random) -> Rectangle:
    """A random child window to aim at, usually the innermost: that is where people click."""
    connection = display.connection
    with connection.watched():
        for _ in range(_DEEPEST):
            children = [child for child in window.query_tree().children if _is_visible(child)]
            if not children or chance.random() < 0.1:
                break
            window = chance.choice(children)
        return area_of(connection, window)


def _is_visible(window: Any) -> bool:
    geometry = window.get_geometry()
    return bool(window.get_attributes().map_state == _VIEWABLE and geometry.width > 2 and geometry.height > 2)
