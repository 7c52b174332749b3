"""Recordings that were not made here: what they would do is told, and the user is asked.

Rules of this module:

* A recording is known if its bytes were written here (:mod:`replay_dd.trust.known_logs`). Then nothing is asked.
* Of any other one, all that decides what is run is told first, and the user must agree: on a terminal, by ``--yes``, or
  by a variable, for automatic runs of recordings that are checked in.
* What is run then is the *tamed* recording: without the variables by which it could have other code loaded, and with
  none but a well-known window manager. Nobody can agree to what the eye does not see: of many variables, and of long
  ones, it gets only those that were told in whole.
* A file is read once: what was known or told is what is run.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit

import click

from replay_dd.cli.output import echo, echo_lines
from replay_dd.errors.user import LogUnfinishedError, StrangersRecordingError
from replay_dd.logfile import is_held
from replay_dd.trust.known_logs import digest_of, is_known
from replay_dd.trust.variables import refused_variables, without_dangers

if TYPE_CHECKING:
    from replay_dd.cli.recordings import RecordingKind
    from replay_dd.events.model import Session
    from replay_dd.schedules.model import Log
    from replay_dd.web.flow import Flow

AGREED_VARIABLE = "REPLAY_DD_YES"
_LONGEST_VALUE = 200
_MOST_VARIABLES = 100
_MOST_REFUSED = 20  # that are told
_HARMLESS_SCHEMES = frozenset({"http", "https", "about", "data"})


class Stranger(NamedTuple):
    """A recording that was not made here.

    Attributes:
        told: what it would do, line by line; empty if it does nothing that needs agreement.
        tamed: the recording to use if the user agrees.
    """

    told: tuple[str, ...]
    tamed: Any


def admit(kinds: Sequence[RecordingKind], paths: Sequence[Path], *, agreed: bool) -> list[Any]:
    """Read the recordings that a command is going to run; ask about those that were not made here.

    Args:
        kinds: their kinds.
        paths: their files.
        agreed: whether the user has agreed on the command line.

    Raises:
        LogError: one cannot be read, or is still being written.
        StrangersRecordingError: the user does not agree, or cannot be asked.
    """
    admitted = []
    asked: dict[tuple[str, ...], Path] = {}
    for kind, path in zip(kinds, paths, strict=True):
        data = kind.data_of(path)
        recording = kind.parse(data, path)
        if not is_known(digest_of(data)):
            if is_held(path):
                raise LogUnfinishedError(f"The log {path} is still being recorded.")
            stranger = _nothing_known(recording, kind) if kind.stranger is None else kind.stranger(recording, path)
            recording = stranger.tamed
            if stranger.told:
                asked.setdefault(stranger.told, path)
        admitted.append(recording)
    if not (agreed or os.environ.get(AGREED_VARIABLE) == "1"):
        for told, path in asked.items():
            _ask(path, told)
    return admitted


def _nothing_known(recording: Any, kind: RecordingKind) -> Stranger:
    return Stranger((f"whatever this {kind.name} says",), recording)


def _ask(path: Path, told: Sequence[str]) -> None:
    why = f"{path} was not made here, or was changed since."
    echo(f"replay-dd: {why} It would run:", err=True)
    echo_lines((f"  {line}" for line in told), err=True)
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise StrangersRecordingError(why)
    if not click.confirm("Run it?", err=True):
        raise StrangersRecordingError(why, "Nothing was run.")


def strange_log(log: Log, path: Path) -> Stranger:
    """What a schedule log would do."""
    from replay_dd.schedules.running.environment import kept

    program, settings = log.program, log.settings
    told = [
        *_program_in_words(program.command, program.directory, program.environment),
        *([f"in a copy    of {_shown(program.directory)}"] if program.fresh_copy else []),
        *([f"imports      {_shown(', '.join(settings.preload))}"] if settings.preload else []),
    ]
    # What is kept of our own environment is written to other logs: no secrets.
    ours, _ = kept(os.environ)
    tamed = replace(program, environment=without_dangers(_tellable(program.environment), ours))
    return Stranger(tuple(told), replace(log, program=tamed))


def strange_session(session: Session, path: Path) -> Stranger:
    """What a GUI session would do."""
    from replay_dd.events.x11.display import WINDOW_MANAGERS, choose_window_manager

    program = session.program
    told = [
        *_program_in_words(program.command, program.directory, program.environment),
        *(["             itself, not in a copy"] if program.here else []),
        *([f"as its home  a copy of {_shown(program.home)}"] if program.home else []),
        "input        all that `replay-dd show` lists",
    ]
    # A session names the program that manages its windows: that could be any program.
    name = session.window_manager
    manager = name if name in ("", *WINDOW_MANAGERS) else choose_window_manager(None)
    # What is not said, GUI programs get from here.
    tamed = replace(program, environment=without_dangers(_tellable(program.environment), {}))
    return Stranger(tuple(told), replace(session, program=tamed, window_manager=manager))


def strange_flow(flow: Flow, path: Path) -> Stranger:
    """What a user flow would do besides visiting web pages, which is nothing that needs agreement."""
    urls = [str(step.data["url"]) for step in flow.steps if step.type == "navigate"]
    return Stranger(tuple(f"address      {_shown(url)}" for url in urls if not _is_harmless(url, path)), flow)


def _is_harmless(url: str, flow: Path) -> bool:
    """Whether an address is of the Web, or of a file that came with the flow."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return False
    if parts.scheme != "file":
        return parts.scheme in _HARMLESS_SCHEMES
    path = unquote(parts.path)
    # Browsers take a backslash for a slash, and what does not begin with one for absolute as well.
    if parts.netloc not in ("", "localhost") or not path.startswith("/") or "\\" in path or "\0" in path:
        return False
    return Path(path).resolve().is_relative_to(flow.resolve().parent)


def _program_in_words(command: Sequence[str], directory: str, environment: Mapping[str, str]) -> Iterator[str]:
    yield f"command      {_shown(shlex.join(command), longest=None)}"
    yield f"in folder    {_shown(directory, longest=None)}"
    tellable = _tellable(environment)
    for name, value in _changed(tellable).items():
        yield f"{'with':<12} {name}={shlex.quote(value)}"
    untold = {name: value for name, value in environment.items() if name not in tellable}
    refused = {**refused_variables(environment, os.environ), **untold}
    for name, value in sorted(refused.items())[:_MOST_REFUSED]:
        yield f"{'without':<12} {_shown(f'{name}={shlex.quote(value)}')}"
    if len(refused) > _MOST_REFUSED:
        yield f"{'without':<12} {len(refused) - _MOST_REFUSED:,} more variables"


def _changed(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that a recording may set, and that are not the same here."""
    safe = without_dangers(environment, {})
    return {name: value for name, value in safe.items() if os.environ.get(name) != value}


def _tellable(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables of a recording without those that cannot be told in whole."""
    changed = _changed(environment)
    told = [name for name, value in changed.items() if len(value) <= _LONGEST_VALUE][:_MOST_VARIABLES]
    untold = changed.keys() - told
    return {name: value for name, value in environment.items() if name not in untold}


def _shown(text: str, longest: int | None = _LONGEST_VALUE) -> str:
    return text if longest is None or len(text) <= longest else f"{text[:longest]}..."
