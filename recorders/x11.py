"""The recorder of sessions with windows: a person, a program, and what the person does to it."""

from __future__ import annotations

import contextlib
import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from recorders.x11_aims import KEYS, Aims
from recorders.x11_end import responds
from recorders.x11_gone import GoneWindows
from recorders.x11_start import Started
from recorders.x11_verify import Verification, verify_session
from replay_dd.errors.machine import DisplayLostError
from replay_dd.events.actions import actions_of
from replay_dd.events.log import SessionWriter
from replay_dd.events.model import (
    Ending,
    EndingKind,
    Event,
    GuiProgram,
    InputKind,
    Screen,
    Session,
    Window,
    WindowChange,
)
from replay_dd.events.run import HANG_LIMIT_S, START_LIMIT_S, Conditions
from replay_dd.events.x11.answers import Answers
from replay_dd.events.x11.display import (
    BorrowedDisplay,
    Display,
    PrivateDisplay,
    choose_window_manager,
)
from replay_dd.events.x11.idle import PATIENCE_S, IdleRule
from replay_dd.events.x11.keys import Keyboard, is_character, keyboard_of
from replay_dd.events.x11.program import RunningProgram
from replay_dd.events.x11.stream import KeyboardChange, News, RawEvent, WindowShown
from replay_dd.events.x11.windows import (
    area_of,
    describe,
    name_of_window_manager,
    numbered,
    owner_of,
    top_windows,
)

_TICK_S = 0.02
_MODIFIERS = ("Shift", "Lock", "Control", "Mod1", "Mod2", "Mod3", "Mod4", "Mod5")
_SHIFT, _LOCK, _CONTROL, _ALT, _LEVEL_THREE = 1, 2, 4, 8, 128
_LAYOUT_SHIFT = 13  # in the state of an event (XKB protocol, "Compatibility Grab State")
_MASK = "x"


OnReady = Callable[[str, Path | None], None]


@dataclass(frozen=True)
class Recording:
    """A recorded session, and what its replays said.

    Attributes:
        session: the session.
        differences: what was not the same in the replay, in words; empty where all was.
        unknown_keys: the key codes that were pressed but make no symbol, so that they cannot be replayed.
        interrupted: whether Ctrl-C ended the replay; the log is whole.
    """

    session: Session
    differences: tuple[str, ...]
    unknown_keys: tuple[int, ...] = ()
    interrupted: bool = False


class X11Recorder:
    """Records a session on the user's display, or on a private one."""

    name = "x11"

    def record(
        self,
        program: GuiProgram,
        output: Path,
        *,
        display: str | None = None,
        screen: Screen | None = None,
        window_manager: str | None = None,
        mask_text: bool = False,
        verify: bool = True,
        conditions: Conditions | None = None,
        limit_s: float | None = None,
        on_ready: OnReady | None = None,
    ) -> Recording:
        """Run a program and record what is done to it, until it ends or Ctrl-C is pressed.

        Args:
            program: what to run.
            output: the log; it is written as the session goes on.
            display: the display's name; None for the one that DISPLAY names; ``"new"`` for a private one.
            screen: of a private display.
            window_manager: of a private display, and for replays.
            mask_text: replace typed text.
            verify: play the session at once on a private display.
            conditions: how it is played.
            limit_s: end the recording so many seconds after the program can be used; None for no limit.
            on_ready: told the display's name, and for a private one the file with its cookie (XAUTHORITY), when the
                program can be used.

        Raises:
            ReplayDDError: the display cannot be used, or the log not be written.
        """
        conditions = conditions or Conditions()
        manager = choose_window_manager(window_manager)
        head = Session(program, screen or Screen(1024, 768), manager, masked=mask_text)
        where: Display
        if display == "new":
            where = PrivateDisplay(head.screen, manager)
        else:
            where = BorrowedDisplay(display)
        with where:
            if isinstance(where, BorrowedDisplay):
                named = name_of_window_manager(where.connection)
                size = Screen(*where.connection.size, where.connection.screen.root_depth, keyboard_of(where.connection))
                head = replace(head, screen=size, window_manager=window_manager or named or manager)
            with contextlib.ExitStack() as stack:
                with _ended_by_signals() as ended:
                    # Before the log is made anew: a program that cannot be started must not cost the old one.
                    start = Started.of(head, where)
                    try:
                        writer = stack.enter_context(SessionWriter(output, head))
                    except BaseException:
                        start.close()
                        raise
                    live = _Live(head, where, writer, ended, start)
                    session = live.record(on_ready, limit_s)
                if session.ending is not None:
                    writer.end(session.ending)
                found, verified, interrupted = Verification(conditions.pace, conditions.playback), None, False
                if verify and session.windows:
                    try:
                        found = verify_session(session, conditions)
                        verified = not found.differences
                    except KeyboardInterrupt:
                        interrupted = True
                writer.targets(found.targets)
                writer.verdict(found.pace, verified, found.playback)
        session = replace(session, pace=found.pace, verified=verified, playback=found.playback, targets=found.targets)
        return Recording(session, found.differences, tuple(sorted(live.unknown_keys)), interrupted)


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[threading.Event]:
    """Have Ctrl-C, SIGTERM and SIGHUP end a recording: a script that starts one with ``&`` has no other way.

    The first signal is only noted: an exception in the middle of a request would leave python-xlib waiting for ever.
    """
    ended = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield ended
        return

    def stop(number: int, frame: object) -> None:
        if ended.is_set():
            raise KeyboardInterrupt
        ended.set()

    numbers = [signal.SIGTERM, signal.SIGHUP]
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # as in the background of a shell
        numbers.append(signal.SIGINT)
    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield ended
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Live:
    """A session that goes on."""

    def __init__(
        self, head: Session, display: Display, writer: SessionWriter, ended: threading.Event, start: Started
    ) -> None:
        self._stream, self._program = start
        self._ended = ended
        self._head = head
        self._display = display
        self._connection = display.connection
        self._writer = writer
        self._keyboard = Keyboard(self._connection)
        self._windows: list[Window] = []
        self._events: list[Event] = []
        self._changes: list[WindowChange] = []
        self._there: dict[int, int] = {}
        self._ever: dict[int, int] = {}
        self._gone = GoneWindows(self._program, display, ended)
        accept = self._is_ours if isinstance(display, BorrowedDisplay) else None
        self._aims = Aims(self._connection, self._gone, accept, self._number, self._stream.clock_ms, self._receiver_of)
        self._held: set[int] = set()
        self._pressed: dict[int, str] = {}
        self._answers: Answers | None = None
        self._keyboard_known = False
        self.unknown_keys: set[int] = set()

    def record(self, on_ready: OnReady | None, limit_s: float | None) -> Session:
        until = math.inf if limit_s is None else time.monotonic() + START_LIMIT_S + limit_s
        stream, program = self._stream, self._program
        start_ms = stream.first_ms
        interrupted = False
        try:
            while not (program.over() or self._ended.is_set()) and time.monotonic() < until:
                taken = stream.taken(_TICK_S)
                for raw in taken:
                    self._take(raw, start_ms)
                self._look_at_keyboard()
                if self._connection.windows_changed():
                    self._aims.windows_changed()
                    self._look_at_windows(program)
                    if self._there and self._answers is None:
                        self._answers = self._learn_answers(program)
                        until = math.inf if limit_s is None else time.monotonic() + limit_s
                        if on_ready is not None:
                            on_ready(self._display.name, self._display.authority)
                elif not taken:
                    self._aims.rest()
        except KeyboardInterrupt:
            interrupted = True
        finally:
            stream.close()
            for raw in stream.taken(0.01):
                with contextlib.suppress(KeyboardInterrupt):
                    self._take(raw, start_ms)
            ending = program.ending()
            if ending is None or interrupted or self._ended.is_set():
                ending = self._end_of_a_running(program)
                with contextlib.suppress(DisplayLostError):
                    self._look_at_windows(program)
                    self._look_at_names()
            program.close()
        now_ms = self._elapsed_ms()
        ending = replace(ending, time_ms=now_ms)
        session = replace(
            self._head,
            windows=tuple(self._windows),
            events=tuple(self._events),
            changes=tuple(self._changes),
            ending=ending,
        )
        return replace(session, ending=replace(ending, actions=len(actions_of(session))))

    def _learn_answers(self, program: RunningProgram) -> Answers:
        """See how the program answers, as long as nobody has done anything to it."""
        answers = Answers(self._connection, program.tree, self._own_windows)
        idle = IdleRule(self._connection, [program.tree, *self._display.trees()], program.over)
        if idle.wait():
            answers.learn(idle, PATIENCE_S, program.over)
        return answers

    def _own_windows(self) -> list[Any]:
        return [window for window in top_windows(self._connection) if self._is_ours(window)]

    def _end_of_a_running(self, program: RunningProgram) -> Ending:
        """How it is when the person has had enough: perhaps because it does not answer any more."""
        with contextlib.suppress(KeyboardInterrupt, DisplayLostError):
            answers = self._answers or Answers(self._connection, program.tree, self._own_windows)
            if not responds(program, answers, self._display, HANG_LIMIT_S):
                return program.hangs(HANG_LIMIT_S)
        return Ending(EndingKind.OPEN, "still running at the end", output=program.output[-4000:])

    def _elapsed_ms(self) -> int:
        return int((time.monotonic() - self._program.started) * 1000)

    def _look_at_keyboard(self) -> None:
        """Read the keyboard anew where it changed in another way than the stream tells (another layout)."""
        if self._connection.keyboard_changed() and not self._keyboard_known:
            self._keyboard = Keyboard(self._connection)
        self._keyboard_known = False

    def _take(self, raw: News, start_ms: int) -> None:
        if isinstance(raw, WindowShown):
            return  # to have one look at once; all that counts of it is seen then
        if isinstance(raw, KeyboardChange):
            self._keyboard.learn(raw.first, raw.rows)
            self._keyboard_known = True
            return
        window = self._aims.window_of(raw)
        is_release = raw.kind in (InputKind.KEY_RELEASE, InputKind.BUTTON_RELEASE)
        if window is None and isinstance(self._display, BorrowedDisplay) and raw.detail not in self._held:
            return  # it belongs to another program
        is_key = raw.kind in KEYS
        key, symbol = self._symbols(raw) if is_key else ("", "")
        if raw.kind is InputKind.KEY_PRESS:
            self._pressed[raw.detail] = key
        elif is_key:
            key = self._pressed.pop(raw.detail, key)  # it may make another symbol by now
        if is_key and not key:
            self.unknown_keys.add(raw.detail)
            return
        if is_release:
            self._held.discard(raw.detail)
        elif raw.kind is not InputKind.MOVE:
            self._held.add(raw.detail)
        modifiers = tuple(name for bit, name in enumerate(_MODIFIERS) if raw.state >> bit & 1)
        is_button = raw.kind in (InputKind.BUTTON_PRESS, InputKind.BUTTON_RELEASE)
        event = Event(
            kind=raw.kind,
            time_ms=(raw.server_ms - start_ms) % (1 << 32),
            x_px=raw.x_px,
            y_px=raw.y_px,
            button=raw.detail if is_button else 0,
            key=key,
            symbol=symbol,
            modifiers=modifiers,
            window=window,
        )
        self._events.append(event)
        self._writer.event(event)

    def _symbols(self, raw: RawEvent) -> tuple[str, str]:
        """The key symbol of a key alone, and with the modifiers that are held."""
        # Columns of the core protocol: two levels of the first layout, two of the second, then the third and fourth.
        layout = 2 if raw.state >> _LAYOUT_SHIFT & 3 == 1 else 0
        alone = self._keyboard.symbol_at(raw.detail, layout)
        shifted = bool(raw.state & _SHIFT) != (bool(raw.state & _LOCK) and len(alone) == 1 and alone.isalpha())
        level = layout + (4 if raw.state & _LEVEL_THREE else 0) + (1 if shifted else 0)
        symbol = self._keyboard.symbol_at(raw.detail, level)
        if self._head.masked and is_character(symbol) and not raw.state & (_CONTROL | _ALT):
            return _MASK, _MASK
        return alone, symbol

    def _is_ours(self, window: Any) -> bool:
        owner = owner_of(self._connection, window)
        return owner is None or owner in self._program.tree.members()

    def _receiver_of(self, raw: RawEvent) -> Window | None:
        """The window of the program that the server gave a press to, as it is now, or was when it was there."""
        if not any(window in self._ever for window in raw.receiver):
            self._look_at_windows(self._program)
        window = next((window for window in raw.receiver if window in self._ever), None)
        if window is None:
            return None
        resource = self._connection.display.create_resource_object("window", window)
        with contextlib.suppress(*self._connection.bad_resource):
            return describe(self._connection, resource)
        return self._windows[self._ever[window]]

    def _number(self, window: Window) -> int:
        before = len(self._windows)
        number = numbered(window, self._windows)
        if len(self._windows) > before:
            self._writer.window(self._windows[number])
        return number

    def _look_at_windows(self, program: RunningProgram) -> None:
        """Note which windows appeared and went."""
        now_ms = self._elapsed_ms()
        there: dict[int, int] = {}
        for window in top_windows(self._connection):
            with contextlib.suppress(*self._connection.bad_resource):
                if isinstance(self._display, BorrowedDisplay) and not self._is_ours(window):
                    continue
                program.has_had_window = True
                if window.id in self._there:
                    there[window.id] = self._there[window.id]
                else:
                    there[window.id] = self._number(describe(self._connection, window))
                    self._change(WindowChange(now_ms, there[window.id], True))
                self._gone.note(there[window.id], area_of(self._connection, window))
        for gone in self._there.keys() - there.keys():
            self._change(WindowChange(now_ms, self._there[gone], False))
        self._there = there
        self._ever.update(there)
        program.look_at_windows()

    def _look_at_names(self) -> None:
        """Note which windows have other titles by now: an editor's tell whether its text is saved."""
        now_ms = self._elapsed_ms()
        for window in top_windows(self._connection):
            number = self._there.get(window.id)
            if number is not None:
                with contextlib.suppress(*self._connection.bad_resource):
                    seen = describe(self._connection, window)
                    if seen.title != self._windows[number].title:
                        self._change(WindowChange(now_ms, number, False))
                        self._there[window.id] = self._number(seen)
                        self._change(WindowChange(now_ms, self._there[window.id], True))

    def _change(self, change: WindowChange) -> None:
        self._changes.append(change)
        self._writer.change(change)
