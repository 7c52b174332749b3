"""The registry of recording kinds: what a file is, and what the commands can do with it.

Rules of this package:

* Each module here describes one kind in a :class:`RecordingKind` called ``KIND``. That is all a kind needs: the
  commands find it by looking through this package, and name no kind themselves.
* A command takes the options that the kinds have for it. An option that does not belong to the recording at hand is an
  error, never ignored.
* Modules here import neither what runs programs nor what plays sessions: help and shell completion read all of them.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from replay_dd.cli.command import Option
from replay_dd.errors.user import LogEmptyError, NotALogError, UsageError
from replay_dd.logfile import format_of, read_regular


@dataclass(frozen=True)
class Use:
    """What one command does with recordings of one kind.

    Attributes:
        run: called with what the command has for every kind (for ``record`` see there; otherwise the recording that
            was read, and its path) and, by keyword, with the options below; returns the exit status.
        options: the options of the command that belong to this kind.
        switch: for ``record``: the flag that chooses this kind; None for the kind recorded without any.
    """

    run: Callable[..., int | None]
    options: tuple[Option, ...] = ()
    switch: Option | None = None


@dataclass(frozen=True, eq=False)
class RecordingKind:
    """A kind of recording.

    Attributes:
        name: what one such recording is called, without an article.
        plural: what several are called.
        origin: where such files come from, in a few words.
        read: reads a file of this kind; raises a :class:`~replay_dd.errors.user.LogError`.
        write: writes a recording to a path.
        uses: what can be done with it, by command.
        format: what the first line of such a file calls the format; empty where files have no such line.
        recognizes: whether a file without such a line is of this kind.
        order: place among the kinds in help; lower numbers come first.
    """

    name: str
    plural: str
    origin: str
    read: Callable[[Path], Any]
    write: Callable[[Any, Path], None]
    uses: Mapping[str, Use] = field(default_factory=dict)
    format: str = ""
    recognizes: Callable[[Path], bool] | None = None
    order: int = 100


@functools.cache
def kinds() -> tuple[RecordingKind, ...]:
    """All kinds, in the order of help."""
    modules = [importlib.import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)]
    return tuple(sorted((module.KIND for module in modules), key=lambda kind: (kind.order, kind.name)))


def kinds_for(command: str) -> tuple[RecordingKind, ...]:
    """The kinds that a command can use."""
    return tuple(kind for kind in kinds() if command in kind.uses)


def kind_of(path: Path) -> RecordingKind | None:
    """The kind of recording that a file holds; None where it holds none, or cannot be read."""
    name = format_of(path)
    for kind in kinds():
        if name and kind.format == name:
            return kind
    for kind in kinds():
        if kind.recognizes is not None and kind.recognizes(path):
            return kind
    return None


def kind_for(command: str, path: Path) -> RecordingKind:
    """The kind of recording that a file holds, for a command that has to be able to use it.

    Raises:
        LogError: the file cannot be read, is no recording, or is one that the command cannot use.
    """
    kind = kind_of(path)
    if kind is not None and command in kind.uses:
        return kind
    hint = f"`{command}` is for {listed([f'{usable.plural} ({usable.origin})' for usable in kinds_for(command)])}."
    if kind is not None:
        raise NotALogError(f"`{command}` cannot use {path}, which is a {kind.name}.", hint)
    if not read_regular(path).strip():
        raise LogEmptyError(f"The file {path} is empty.")
    raise NotALogError(f"The file {path} is not a replay-dd log.", hint)


# -- options ---------------------------------------------------------------------------------------------------------


def options_for(command: str) -> list[Option]:
    """The options that the kinds have for a command, each once, with sections that tell which kinds they belong to.

    Raises:
        ValueError: kinds have options of the same name that cannot be one.
    """
    found: dict[str, dict[RecordingKind, Option]] = {}
    switches = []
    for kind in kinds_for(command):
        use = kind.uses[command]
        if use.switch is not None:
            switches.append(use.switch)
        for option in use.options:
            owners = found.setdefault(str(option.name), {})
            if not all(option.fits(other) for other in owners.values()):
                raise ValueError(f"{kind.plural} have another option {option.opts[-1]} for `{command}`")
            owners[kind] = option
    # Sections of the same purpose stand together, what belongs to every kind first.
    purposes = list(dict.fromkeys(next(iter(owners.values())).section for owners in found.values()))
    shared = len(kinds_for(command))
    ordered = sorted(
        found.values(),
        key=lambda owners: (purposes.index(next(iter(owners.values())).section), len(owners) != shared),
    )
    return [*switches, *(_merged(command, owners) for owners in ordered)]


def _merged(command: str, owners: Mapping[RecordingKind, Option]) -> Option:
    first = next(iter(owners.values()))
    texts = {kind.plural: option for kind, option in owners.items()}
    return first.for_help(_section(command, first.section, list(owners)), texts)


def options_of(context: click.Context, command: str, kind: RecordingKind, subject: str) -> dict[str, Any]:
    """The values of the options that a kind has for a command, by name.

    Args:
        context: of the command line.
        command: name of the command.
        kind: what it works on.
        subject: what that is, for the message: ``run.log is a schedule log``.

    Raises:
        UsageError: an option was given that belongs to other kinds only.
    """
    own = {str(option.name): option for option in kind.uses[command].options}
    for other in kinds_for(command):
        for option in other.uses[command].options:
            name = str(option.name)
            if name not in own and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
                belonging = [one for one in kinds_for(command) if name in _names(one.uses[command])]
                switches = [one.uses[command].switch for one in belonging]
                there = listed([one.opts[-1] for one in own.values()]) or "no options"
                raise UsageError(
                    f"{subject}, and `{command} {option.opts[-1]}` is for {listed([one.plural for one in belonging])} "
                    "only.",
                    "".join(f"Add `{switch.opts[-1]}`, or leave it out. " for switch in switches if switch is not None)
                    + f"For {kind.plural}, `{command}` has {there}.",
                )
    return {name: context.params[name] for name in own}


def _names(use: Use) -> list[str]:
    return [str(option.name) for option in use.options]


def _section(command: str, purpose: str, owners: Sequence[RecordingKind]) -> str:
    """The title under which help shows an option."""
    switches = [owner.uses[command].switch for owner in owners]
    given = [switch.opts[-1] for switch in switches if switch is not None]
    if len(given) == len(owners):
        return f"{purpose} (with {listed(given, 'or')})"
    if given or len(owners) == len(kinds_for(command)) or any(kind.uses[command].switch for kind in kinds_for(command)):
        return purpose
    plural = listed([owner.plural for owner in owners])
    return f"{purpose} ({plural} only)" if purpose else f"{plural[0].upper()}{plural[1:]}"


def listed(words: Iterable[str], last: str = "and") -> str:
    """Words as a sentence lists them."""
    *most, final = list(words) or [""]
    return f"{', '.join(most)} {last} {final}" if most else final
