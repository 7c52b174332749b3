"""One test: a fresh program on a fresh display, the actions played, and how it ended.

Rules of this module:

* The clock decides nothing: what comes next comes when the program is idle (:mod:`replay_dd.events.x11.idle`). Pauses
  are made only at the paces that ask for them. Only where all this does not show the failure does the clock decide,
  at the pace of an impatient person, who goes on while the program is busy.
* A run is over when the program ends, when it reports an error (on standard error or in a window), when it does not
  answer any more, or when all actions are played.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from replay_dd.errors.program import NoWindowError
from replay_dd.events.model import (
    Action,
    ActionKind,
    Ending,
    EndingKind,
    Input,
    InputKind,
    Pace,
    Playback,
    Session,
    Window,
)
from replay_dd.events.naming import is_there, pointed_at, window_of
from replay_dd.events.oracle import ask_oracle
from replay_dd.events.pauses import FRAME_S, WITH_PAUSES, pause_before, program_reacts
from replay_dd.events.relocate import placed
from replay_dd.events.result import FilmFrame
from replay_dd.events.x11.accessibility.widgets import ToldWidgets, announced_bus, can_tell
from replay_dd.events.x11.answers import Answers, Question
from replay_dd.events.x11.display import PrivateDisplay, check_alive
from replay_dd.events.x11.event_loop import EventLoop
from replay_dd.events.x11.idle import IdleRule
from replay_dd.events.x11.pictures import picture_in
from replay_dd.events.x11.player import Player, XTestPlayer
from replay_dd.events.x11.program import RunningProgram
from replay_dd.events.x11.tk_send import TkSend
from replay_dd.events.x11.widgets import TkWidgets
from replay_dd.events.x11.windows import describe, pointer_position, top_windows, visible_areas

START_LIMIT_S = 30.0
HANG_LIMIT_S = 5.0
# At these paces time matters, so a timer may be running at the end; else what is played last would only pass the time.
AFTER_PAUSES_S = 1.0
_TICK_S = 0.002
# How often to look for the first window if nothing is heard of it.
_LOOK_S = 0.05
_TOLD_S = 10.0  # until the system tells how a process has ended


@dataclass(frozen=True)
class Conditions:
    """How a run is made.

    Attributes:
        pace: which pauses are made.
        settle_s: how long to wait when the first window is there and idle, for programs with splash screens and timers.
        linger_s: how long to wait after the last action for a failure that comes later.
        start_limit_s: how long the program may take to open a window.
        hang_limit_s: how long it may be busy without answering.
        patience_s: how long to wait at most for it to become idle after an action.
        player: makes the player for a display.
        player_name: its name, for the log; empty for the default.
        oracle: a shell command that looks at the end of a run that has not failed by itself: status 0 it passed, 125
            it cannot be told, anything else it failed. It finds the display in DISPLAY, a picture of the screen in
            REPLAY_DD_SCREENSHOT, what the program wrote in REPLAY_DD_OUTPUT, and its working folder in
            REPLAY_DD_FOLDER.
    """

    pace: Pace = Pace.FAST
    settle_s: float = 0.0
    linger_s: float = 0.0
    start_limit_s: float = START_LIMIT_S
    hang_limit_s: float = HANG_LIMIT_S
    patience_s: float = 1.0
    oracle: str | None = None
    player: Callable[[PrivateDisplay], Player] = field(default=lambda display: XTestPlayer(display.connection))
    player_name: str = ""

    @property
    def watched_s(self) -> float:
        """How long a program is watched after the last action: at paces with pauses at least for a moment."""
        return max(self.linger_s, AFTER_PAUSES_S if self.pace in WITH_PAUSES else 0.0)

    @property
    def playback(self) -> Playback:
        """What a log notes about them."""
        return Playback(
            self.settle_s,
            self.linger_s,
            None if self.start_limit_s == START_LIMIT_S else self.start_limit_s,
            None if self.hang_limit_s == HANG_LIMIT_S else self.hang_limit_s,
            self.player_name,
        )


@dataclass(frozen=True)
class Run:
    """What came of one run.

    Attributes:
        ending: how it ended; ``actions`` tells after how many.
        windows: the windows that were there at the end, while the program ran.
        start_s: how long the program took to be ready.
        play_s: how long the actions took, all told.
        frames: for a film, one for each action.
        opening: for a film, a picture from before the first action.
        targets: what each action was done to, if that was asked for and is known.
        elsewhere: the window that each action was done to, if that was asked for and the recorded one was not there.
        can_tell: whether that was asked for, and the toolkit tells more on a bus (:mod:`replay_dd.events.told`).
    """

    ending: Ending
    windows: tuple[Window, ...]
    start_s: float
    play_s: float
    frames: tuple[FilmFrame, ...] = ()
    opening: Path | None = None
    targets: tuple[str, ...] = ()
    elsewhere: tuple[Window | None, ...] = ()
    can_tell: bool = False


class Stage:
    """A program that is ready on a display.

    Args:
        session: names the program.
        display: a fresh display.
        conditions: how the run is made.
        want_backtrace: ask gdb about a crash.
        on_bus: let the program's toolkit tell of its widgets.

    Raises:
        NoWindowError: the program opened no window in time.
        ProgramNotFoundError: there is no such program.
        DisplayLostError: the display has gone.
    """

    def __init__(
        self,
        session: Session,
        display: PrivateDisplay,
        conditions: Conditions,
        *,
        want_backtrace: bool = False,
        on_bus: bool = False,
    ) -> None:
        self._display = display
        self._conditions = conditions
        self._impatient = conditions.pace is Pace.IMPATIENT
        self._connection = display.connection
        self._session = session
        self._pointer: tuple[int, int] | None = None
        self._connection.watch_windows()
        # Before the program starts: it may grab the server.
        self.player = conditions.player(display)
        self._bus = announced_bus(self._connection) if on_bus else None
        try:
            self.program = RunningProgram(session.program, display, want_backtrace=want_backtrace, bus=self._bus)
        except BaseException:
            self._close_bus()
            raise
        trees = [self.program.tree, *display.trees()]
        self._idle = IdleRule(self._connection, trees, self.program.over, conditions.patience_s)
        self._answers = Answers(self._connection, self.program.tree)
        tk = TkSend(self._connection)
        self._idle.ask = EventLoop(self._answers, tk).ask
        self._widgets: TkWidgets | ToldWidgets = TkWidgets(self._connection, tk, self.program.over)
        if self._bus is not None:
            self._widgets = ToldWidgets(self._connection, self._bus)
        try:
            self._wait_for_window()
            self.start_s = time.monotonic() - self.program.started
            if conditions.settle_s:
                self.program.wait_for_end(conditions.settle_s)
                self.wait_idle()
            if not self.program.over():
                self._answers.learn(self._idle, conditions.hang_limit_s, self.program.over)
        except BaseException:
            self.close()
            raise

    def _wait_for_window(self) -> None:
        until = time.monotonic() + self._conditions.start_limit_s
        look_at = time.monotonic() + _LOOK_S
        while not self.program.over():
            # A window may not look like one yet when the last news of it come.
            is_time = time.monotonic() > look_at
            if (self._connection.windows_changed() or is_time) and top_windows(self._connection):
                self.program.has_had_window = True
                self._idle.wait(self._conditions.patience_s)
                self.program.look_at_windows()
                return
            if is_time:
                look_at = time.monotonic() + _LOOK_S
            if time.monotonic() > until:
                check_alive(self._display)
                raise NoWindowError(
                    f"The program opened no window within {self._conditions.start_limit_s:g} s{self._said()}."
                )
            time.sleep(_TICK_S)

    def _said(self) -> str:
        said = self.program.output.strip().splitlines()
        return f"; it said: {said[-1][:200]}" if said else ""

    def wait_idle(self) -> bool:
        """Wait until the program has nothing to do; False where it ended, reported an error, or stays busy."""
        idle = self._idle.wait()
        if self._connection.windows_changed() and not self.program.over():
            self.program.look_at_windows()
        return idle and not self.program.over()

    def placed(self, action: Action) -> Action:
        """The action where its window stands now."""
        if self._connection.windows_changed():
            self.program.look_at_windows()
        return placed(action, self._session.window_of(action.window), self.program.windows)

    def target(self, action: Action) -> str:
        """What an action is going to be done to; empty where that is not known, or asking would keep somebody."""
        return "" if self._impatient else self._widgets.name(action)

    def elsewhere(self, action: Action) -> Window | None:
        """The window that an action is going to be done to where the recorded one is not there; else None."""
        recorded = self._session.window_of(action.window)
        if self._impatient or recorded is None or is_there(recorded, self.program.windows):
            return None
        return window_of(action, self._connection)

    def play(self, action: Action) -> None:
        """Play one action, and wait until the program is idle again."""
        pause_s = 0.0
        if self._conditions.pace in WITH_PAUSES and len(action.inputs) > 1:
            pause_s = action.duration_ms / 1000 / (len(action.inputs) - 1)
        inputs = self._without_idle_moves(action)
        last = len(inputs) - 1
        for number, item in enumerate(inputs):
            self.player.play(item)
            if pause_s and number < last:
                self.player.flush()
                self.program.wait_for_end(pause_s)
            elif number < last and not self._impatient and program_reacts(action, inputs, number):
                self.player.flush()
                self._idle.wait()
                if action.kind is ActionKind.DRAG and item.kind is InputKind.MOVE:
                    self.program.wait_for_end(FRAME_S)
                    self._idle.wait()
            if number < last and self.program.over():
                break
        self.player.flush()
        if not self._impatient:
            self.wait_until_done()

    def wait_until_done(self) -> None:
        """Wait until the program is idle again, or see that it hangs."""
        if not self.wait_idle() and not self.program.over():
            self._check_hang()

    def _without_idle_moves(self, action: Action) -> list[Input]:
        """What is to be played: a click where the pointer is already moves nothing, as with a person."""
        kept = []
        for item in action.inputs:
            if item.kind is InputKind.MOVE:
                if (item.x_px, item.y_px) == self._pointer and action.kind is not ActionKind.MOTION:
                    continue
                self._pointer = (item.x_px, item.y_px)
            kept.append(item)
        return kept

    def _check_hang(self) -> None:
        """A program that is busy all the time, never waits for anything meanwhile, and does not answer, hangs."""
        limit = self._conditions.hang_limit_s
        if Question(self._answers).stays_busy(limit, self.program.over):
            self.program.hangs(limit)

    def finish(self) -> Ending:
        """How it is at the end of the actions."""
        ending = self.program.ending()
        if ending is None and self._conditions.watched_s:
            ending = self.program.wait_for_end(self._conditions.watched_s)
            if ending is None and self._connection.windows_changed():
                ending = self.program.look_at_windows()
        if ending is None:
            limit = self._conditions.hang_limit_s
            if not Question(self._answers).wait(limit, self.program.over):
                self.program.hangs(limit)
            ending = self.program.ending()
        if ending is None and self.program.tree.top_has_ended():
            # A process that has just ended looks idle; on a busy machine it takes a while until we are told how it did.
            ending = self.program.wait_for_end(_TOLD_S)
        return ending or Ending(EndingKind.OPEN, "still running at the end", output=self.program.output[-4000:])

    def windows(self) -> tuple[Window, ...]:
        """The windows that are there now."""
        found: list[Window] = []
        for window in top_windows(self._connection):
            with contextlib.suppress(*self._connection.bad_resource):
                found.append(replace(describe(self._connection, window), number=len(found)))
        return tuple(found)

    def close(self) -> None:
        """End the program."""
        self.player.close()
        self.program.close()
        self._close_bus()

    def _close_bus(self) -> None:
        if self._bus is not None:
            self._bus.close()


def run_session(
    session: Session,
    actions: Sequence[Action],
    display: PrivateDisplay,
    conditions: Conditions,
    *,
    pictures: Path | None = None,
    want_backtrace: bool = False,
    want_targets: bool = False,
    on_bus: bool = False,
) -> Run:
    """Play actions to a fresh program.

    Args:
        session: names the program.
        actions: what to play.
        display: a fresh display; the caller closes it.
        conditions: how.
        pictures: a folder for screenshots; None for no film.
        want_backtrace: ask gdb about a crash.
        want_targets: ask the program what the actions are done to.
        on_bus: let the program's toolkit tell of its widgets.

    Raises:
        ReplayDDError: the program cannot be run on the display.
    """
    stage = Stage(session, display, conditions, want_backtrace=want_backtrace, on_bus=on_bus)
    tells = want_targets and not on_bus and can_tell(stage.program.tree.members())
    started, played = time.monotonic(), 0
    frames: list[FilmFrame] = []
    targets: list[str] = []
    elsewhere: list[Window | None] = []
    windows: tuple[Window, ...] = ()
    opening = picture_in(pictures, display.connection, "start")
    try:
        previous: Action | None = None
        for recorded in actions:
            if stage.program.over():
                break
            stage.program.wait_for_end(pause_before(previous, recorded, conditions.pace))
            if stage.program.over():
                break
            action = stage.placed(recorded)
            if want_targets:
                targets.append(stage.target(action))
                elsewhere.append(stage.elsewhere(action))
                action = replace(action, target=targets[-1] or recorded.target)
            before = picture_in(pictures, display.connection, f"{played + 1:03}-before")
            began = time.monotonic()
            window = None if pictures is None else pointed_at(action, display.connection)
            areas = () if pictures is None else visible_areas(display.connection)
            played += 1
            stage.play(action)
            if pictures is not None:
                lasted = time.monotonic() - began
                after = None if stage.program.over() else picture_in(pictures, display.connection, f"{played:03}-after")
                place = action.start or pointer_position(display.connection)
                frames.append(FilmFrame(action, window, place, before, after, lasted, areas))
            previous = action
        if conditions.pace is Pace.IMPATIENT and not stage.program.over():
            stage.wait_until_done()
        play_s = time.monotonic() - started
        ending = stage.finish()
        # A program that loses its display ends too, and with an error: that is nothing it did.
        check_alive(display)
        if conditions.oracle is not None and not ending.failed:
            ending = ask_oracle(conditions.oracle, display, ending, stage.program.copy)
            check_alive(display)
        if ending.kind is EndingKind.OPEN:
            windows = stage.windows()
    finally:
        stage.close()
    lasted_ms = int((time.monotonic() - stage.program.started) * 1000)
    ending = replace(ending, actions=played, time_ms=lasted_ms)
    return Run(ending, windows, stage.start_s, play_s, tuple(frames), opening, tuple(targets), tuple(elsewhere), tells)
