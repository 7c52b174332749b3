"""The log file of a session: JSON Lines, versioned, written as the session goes on.

Rules of this module:

* The first line names the format and its version; it never changes its shape.
* Every line is flushed to the file when it happens. A recorder or a program that crashes loses nothing: a log without
  its last line is a log of a session whose end is not known, and a half line at its end is left out.
* There is no checksum, since such a log may be edited by hand (leave out events, change a text). Instead, every line is
  checked when it is read.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import io
import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from replay_dd.errors.user import LogCutOffError, LogEditedError, LogEmptyError
from replay_dd.events.model import (
    Action,
    Ending,
    Event,
    GuiProgram,
    Input,
    Pace,
    Playback,
    Screen,
    Session,
    Target,
    Window,
    WindowChange,
)
from replay_dd.files import PRIVATE, unwritable, write_whole
from replay_dd.json_codec import from_plain, to_plain
from replay_dd.json_text import parse_object
from replay_dd.logfile import check_header, hold, read_regular
from replay_dd.schema import MOST_ITEMS, shown
from replay_dd.trust.known_logs import digest_of, remember

FORMAT = "replay-dd event log"
VERSION = 1

_SMALLEST_COORDINATE, _LARGEST_COORDINATE = -32_768, 32_767  # of X: 16 bits
_LARGEST_EXTENT = 65_535
_LARGEST_SCREEN_PX = 2**27  # of which an X server allocates four bytes each
_LONGEST_WAIT_S = 24 * 3600
_LONGEST_MS = 2**32  # the server's clock, which begins again after that


@dataclasses.dataclass(frozen=True)
class _Recording:
    """The line that tells how the session was made."""

    recorder: str = "x11"
    window_manager: str = ""
    masked: bool = False
    seed: int | None = None


@dataclasses.dataclass(frozen=True)
class _Verdict:
    """The last line: what is known when the session is over."""

    pace: Pace = Pace.FAST
    verified: bool | None = None


class SessionWriter:
    """Writes a session while it goes on.

    Args:
        path: the file; it is made anew.
        session: the head of the session (program, screen, recorder ...); what it holds already is written, too.

    Raises:
        OutputError: the file cannot be written.
    """

    def __init__(self, path: Path, session: Session) -> None:
        self._path = path
        self._place = path.absolute()  # the program may remove the folder that we are in
        self._digest = hashlib.sha256()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, PRIVATE)
            self._file: IO[bytes] = os.fdopen(descriptor, "w+b")
            hold(self._file)
        except OSError as error:
            raise unwritable(path, error.strerror or str(error)) from error
        self._head(session)

    def _head(self, session: Session) -> None:
        recording = _Recording(session.recorder, session.window_manager, session.masked, session.seed)
        self._line({"format": FORMAT, "version": VERSION})
        self._line({"program": to_plain(session.program)})
        self._line({"screen": to_plain(session.screen)})
        self._line({"recording": to_plain(recording)})
        for window in session.windows:
            self.window(window)
        happened: list[Event | WindowChange] = [*session.events, *session.changes]
        for item in sorted(happened, key=lambda item: item.time_ms):
            if isinstance(item, Event):
                self.event(item)
            else:
                self.change(item)
        for action in session.actions:
            self.action(action)
        self.targets(session.targets)

    def window(self, window: Window) -> None:
        """A window that later lines name."""
        self._line({"window": to_plain(window)})

    def event(self, event: Event) -> None:
        """A raw event."""
        self._line({"event": to_plain(event)})

    def action(self, action: Action) -> None:
        """An action."""
        self._line({"action": to_plain(action)})

    def change(self, change: WindowChange) -> None:
        """A window appeared or went."""
        self._line({"change": to_plain(change)})

    def targets(self, targets: Iterable[Target]) -> None:
        """What actions were done to."""
        for target in targets:
            self._line({"target": to_plain(target)})

    def end(self, ending: Ending) -> None:
        """How the session ended. What is learned later (by a replay) can still follow."""
        self._line({"end": to_plain(ending)})

    def verdict(self, pace: Pace, verified: bool | None, playback: Playback | None = None) -> None:
        """What a replay of the session said, and how it was played, if not as usual."""
        if playback is not None and playback != Playback():
            self._line({"playback": to_plain(playback)})
        self._line({"verdict": to_plain(_Verdict(pace, verified))})

    def close(self) -> None:
        """Close the file; it is known as made here from now on.

        Raises:
            OutputError: the program has removed it, and it cannot be written again.
        """
        if self._file.closed:
            return
        with contextlib.suppress(OSError), self._file:
            if os.fstat(self._file.fileno()).st_nlink == 0:
                self._file.seek(0)
                write_whole(self._place, self._file.read(), mode=PRIVATE)
        remember(self._digest.hexdigest())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _line(self, line: dict[str, Any]) -> None:
        data = (json.dumps(line, ensure_ascii=False) + "\n").encode("utf-8", "surrogatepass")
        self._digest.update(data)
        try:
            self._file.write(data)
            self._file.flush()
        except OSError as error:
            raise unwritable(self._path, error.strerror or str(error)) from error


class _Text(SessionWriter):
    """Writes a session into memory."""

    def __init__(self, session: Session) -> None:
        self._digest = hashlib.sha256()
        self._file = io.BytesIO()
        self._head(session)

    @property
    def data(self) -> bytes:
        """What was written."""
        assert isinstance(self._file, io.BytesIO)
        return self._file.getvalue()


def write_session(session: Session, path: Path) -> None:
    """Write a whole session, or nothing.

    Raises:
        OutputError: the file cannot be written.
    """
    writer = _Text(session)
    if session.ending is not None:
        writer.end(session.ending)
    writer.verdict(session.pace, session.verified, session.playback)
    write_whole(path, writer.data, mode=PRIVATE)
    remember(digest_of(writer.data))


def read_session(path: Path) -> Session:
    """Read a session.

    Raises:
        LogError: one of its kinds, for a file that is not a log of a version that is known here.
    """
    return parse_session(read_regular(path), path)


def parse_session(data: bytes, path: Path) -> Session:
    """The session that these bytes are.

    Args:
        data: all that is in the file.
        path: the file, for errors.

    Raises:
        LogError: as for :func:`read_session`.
    """
    if not data.strip():
        raise LogEmptyError(f"The log {path} is empty.")
    first, _, rest = data.partition(b"\n")
    check_header(first, path, FORMAT, VERSION)
    lines = rest.split(b"\n")
    # What follows the last newline was being written when the recorder ended.
    return _session_from(lines[:-1], path)


def _session_from(lines: list[bytes], path: Path) -> Session:
    heads: dict[str, Any] = {}
    lists: dict[str, list[Any]] = {"window": [], "event": [], "action": [], "change": [], "target": []}
    kinds = {"window": Window, "event": Event, "action": Action, "change": WindowChange, "target": Target}
    singles = {
        "program": GuiProgram,
        "screen": Screen,
        "recording": _Recording,
        "end": Ending,
        "playback": Playback,
        "verdict": _Verdict,
    }
    for number, line in enumerate(lines, 2):
        try:
            found = parse_object(line)
            if len(found) != 1:
                raise ValueError(f"it has {len(found)} keys instead of one")
            ((key, value),) = found.items()
            if key in kinds:
                lists[key].append(from_plain(kinds[key], value, key))
            elif key in singles:
                heads[key] = from_plain(singles[key], value, key)
            else:
                raise ValueError(f"there are no lines of the kind {shown(key)}")
        except ValueError as error:
            raise LogEditedError(f"Line {number} of the log {path} cannot be understood: {error}.") from error
    missing = [key for key in ("program", "screen", "recording") if key not in heads]
    if missing:
        raise LogCutOffError(f"The log {path} is cut off: the line `{missing[0]}` is missing.")
    recording, verdict = heads["recording"], heads.get("verdict", _Verdict())
    session = Session(
        program=heads["program"],
        screen=heads["screen"],
        window_manager=recording.window_manager,
        recorder=recording.recorder,
        windows=tuple(lists["window"]),
        events=tuple(lists["event"]),
        actions=tuple(lists["action"]),
        changes=tuple(lists["change"]),
        targets=tuple(lists["target"]),
        ending=heads.get("end"),
        masked=recording.masked,
        seed=recording.seed,
        pace=verdict.pace,
        verified=verdict.verified,
        playback=heads.get("playback", Playback()),
    )
    _check_sense(session, path)
    return session


def _check_sense(session: Session, path: Path) -> None:
    """Check what no single line shows, and what cannot have happened.

    Raises:
        LogEditedError: something is named that is not there, the log mixes events and actions, or a number is absurd.
    """
    if not session.program.command:
        raise LogEditedError(f"The log {path} names no program.")
    if session.screen.width_px < 1 or session.screen.height_px < 1:
        raise LogEditedError(f"The log {path} has a screen without any pixels.")
    if session.events and session.actions:
        raise LogEditedError(f"The log {path} holds both raw events and actions; it may hold only one of them.")
    if [window.number for window in session.windows] != list(range(len(session.windows))):
        raise LogEditedError(f"The windows of the log {path} are not numbered from 0.")
    items: list[Event | Action | WindowChange] = [*session.events, *session.actions, *session.changes]
    named = [item.window for item in items]
    for number in named:
        if number is not None and not 0 <= number < len(session.windows):
            raise LogEditedError(f"The log {path} names the window {number}, which it does not describe.")
    _check_numbers(session, path)


def _check_numbers(session: Session, path: Path) -> None:
    def check(what: str, number: float, low: int, high: int) -> None:
        if not low <= number <= high:
            raise LogEditedError(f"The log {path} has {what} of {number:,}; it must be from {low:,} to {high:,}.")

    check("a screen width", session.screen.width_px, 1, _LARGEST_COORDINATE)
    check("a screen height", session.screen.height_px, 1, _LARGEST_COORDINATE)
    check("a screen depth", session.screen.depth_bits, 1, 64)
    check("a screen area", session.screen.width_px * session.screen.height_px, 1, _LARGEST_SCREEN_PX)
    for time_ms in (*(one.time_ms for one in session.changes), *(one.time_ms for one in session.targets)):
        check("a time", time_ms, 0, _LONGEST_MS)
    for event in session.events:
        check("a time", event.time_ms, 0, _LONGEST_MS)
        _check_input(event, check)
    for action in session.actions:
        check("a time", action.time_ms, 0, _LONGEST_MS)
        check("a duration", action.duration_ms, 0, _LONGEST_MS)
        for one in action.inputs:
            _check_input(one, check)
    for window in session.windows:
        for area in (window.area, window.part):
            for number in (area.x_px, area.y_px, area.width_px, area.height_px):
                check("a window position or size", number, _SMALLEST_COORDINATE, _LARGEST_EXTENT)
    played = session.playback
    for limit_s in (played.settle_s, played.linger_s, played.start_limit_s or 0.0, played.hang_limit_s or 0.0):
        check("a time in seconds", limit_s, 0, _LONGEST_WAIT_S)
    if session.ending is not None:
        check("a number of actions", session.ending.actions, 0, MOST_ITEMS)
        check("a time", session.ending.time_ms, 0, _LONGEST_MS)


def _check_input(one: Event | Input, check: Callable[[str, float, int, int], None]) -> None:
    check("a position", one.x_px, _SMALLEST_COORDINATE, _LARGEST_COORDINATE)
    check("a position", one.y_px, _SMALLEST_COORDINATE, _LARGEST_COORDINATE)
    check("a button", one.button, 0, 255)
