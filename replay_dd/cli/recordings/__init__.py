"""The registry of recording kinds: what a file holds, and what each command does with it.

Rules of this package:

* Each module here registers one kind: a :class:`RecordingKind` called ``KIND``. Nothing else is needed: commands
  discover the modules of this package, and never name a kind themselves.
* A command has the options that the kinds register for it. An option that does not belong to the recording at hand is
  a usage error, never ignored.
* Modules here import nothing that runs programs or plays sessions, because help and shell completion import all of
  them; see :class:`~replay_dd.cli.command.OnDemand`.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import click
from click.core import ParameterSource

from replay_dd.cli.command import Option
from replay_dd.errors.user import LogEmptyError, NotALogError, UsageError
from replay_dd.logfile import format_of, read_regular


class Use(NamedTuple):
    """What one command does with recordings of one kind.

    Attributes:
        run: does it and returns the exit status. Called with the recording and its path, and with the options below by
            keyword; ``schedules`` puts the passing recording before the failing one, and ``record`` passes the output
            path, the program's command, and ``verify``.
        options: the options of the command that belong to this kind.
        runs: whether it runs what the recording says; or the name of the option with which it does.
        recordings: the names of options that take another recording of this kind; it is passed in their place.
        switch: for ``record``, the flag that selects this kind; None for the kind that needs no flag.
    """

    run: Callable[..., int | None]
    options: tuple[Option, ...] = ()
    runs: bool | str = True
    recordings: tuple[str, ...] = ()
    switch: Option | None = None

    def runs_with(self, options: Mapping[str, Any]) -> bool:
        """Whether it runs what the recording says, given these options."""
        return self.runs if isinstance(self.runs, bool) else options[self.runs] not in (None, False)


@dataclass(frozen=True, eq=False)
class RecordingKind:
    """A kind of recording.

    Attributes:
        name: what one such recording is called; reads well after "a".
        plural: what several are called.
        origin: where such files come from, such as "written by `record`".
        parse: makes a recording of the bytes of a file, whose path it gets for its messages; raises a
            :class:`~replay_dd.errors.user.LogError`.
        stranger: says what a recording that was not made here would do, and takes from it what nobody can agree to;
            called with the recording and its path, returns a :class:`~replay_dd.cli.strangers.Stranger`. Without it,
            users are asked about each such recording.
        write: writes a recording to a path.
        uses: what the commands do with it, by command.
        format: the format that the first line of such a file names; empty if such files have no header.
        recognizes: whether a file without a header is of this kind.
        order: position among the kinds in help; lower numbers come first.
    """

    name: str
    plural: str
    origin: str
    parse: Callable[[bytes, Path], Any]
    write: Callable[[Any, Path], None]
    uses: Mapping[str, Use] = field(default_factory=dict)
    format: str = ""
    recognizes: Callable[[Path], bool] | None = None
    stranger: Callable[[Any, Path], Any] | None = None
    order: int = 100

    def data_of(self, path: Path) -> bytes:
        """What is in a file; raises a :class:`~replay_dd.errors.user.LogError`."""
        return read_regular(path)

    def read(self, path: Path) -> Any:
        """The recording in a file; raises a :class:`~replay_dd.errors.user.LogError`."""
        return self.parse(self.data_of(path), path)


@functools.cache
def kinds() -> tuple[RecordingKind, ...]:
    """All kinds, in the order in which help lists them."""
    modules = [importlib.import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)]
    return tuple(sorted((module.KIND for module in modules), key=lambda kind: (kind.order, kind.name)))


def kinds_for(command: str) -> tuple[RecordingKind, ...]:
    """The kinds that a command works on."""
    return tuple(kind for kind in kinds() if command in kind.uses)


def kind_of(path: Path) -> RecordingKind | None:
    """The kind of recording that a file holds; None if it is not a recording, or cannot be read."""
    name = format_of(path)
    for kind in kinds():
        if name and kind.format == name:
            return kind
    for kind in kinds():
        if kind.recognizes is not None and kind.recognizes(path):
            return kind
    return None


def kind_for(command: str, path: Path) -> RecordingKind:
    """The kind of recording that a file holds, if the command works on it.

    Raises:
        LogError: the file cannot be read, is not a recording, or is of a kind that the command does not work on.
    """
    kind = kind_of(path)
    if kind is not None and command in kind.uses:
        return kind
    hint = f"`{command}` is for {listed([f'{usable.plural} ({usable.origin})' for usable in kinds_for(command)])}."
    if kind is not None:
        others = listed([f"`{other}`" for other in sorted(kind.uses)], "or")
        raise NotALogError(f"`{command}` cannot use {path}, which is a {kind.name}.", f"{hint} Use {others} instead.")
    if not read_regular(path).strip():
        raise LogEmptyError(f"The file {path} is empty.", f"Record it again: {hint}")
    raise NotALogError(f"The file {path} is not a replay-dd log.", hint)


# -- options ---------------------------------------------------------------------------------------------------------


def options_for(command: str) -> list[Option]:
    """The options that the kinds register for a command, each once; section titles say which kinds they belong to.

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
    # Sections with the same purpose stay together; options for all kinds come first.
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
    """The values of the options that belong to a kind, by name.

    Args:
        context: the parsed command line.
        command: name of the command.
        kind: the kind of the recording at hand.
        subject: the same in words, to begin the message with: "run.log is a schedule log".

    Raises:
        UsageError: an option was given that belongs only to other kinds.
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
    """Words as a list in a sentence: "a, b and c"."""
    *most, final = list(words) or [""]
    return f"{', '.join(most)} {last} {final}" if most else final
