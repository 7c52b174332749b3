"""How commands and options are declared, and how ``--help`` lays them out.

Rules of this module:

* Options are objects, not decorators, so that a command can be put together from the options of several recording kinds
  (:mod:`replay_dd.cli.recordings`).
* Each option names the section of ``--help`` that it appears in; sections keep the order of their first option.
* Declaring an option imports nothing but click. Choices and defaults that live in the modules that do the work are
  looked up when they are wanted: ``replay-dd --help`` and shell completion must answer at once.
"""

from __future__ import annotations

import copy
import importlib
import inspect
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from replay_dd.durations import seconds_of
from replay_dd.errors.user import UsageError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    StringType = click.ParamType[str]  # generic for type checkers; old releases of click do not let it be subscripted
else:
    StringType = click.ParamType

LAST_SECTION = "General"


@dataclass(frozen=True)
class OnDemand:
    """A function that is imported when it is first called.

    Attributes:
        module: full name of its module.
        name: its name in that module.
    """

    module: str
    name: str

    def load(self) -> Callable[..., Any]:
        """The function itself."""
        function: Callable[..., Any] = getattr(importlib.import_module(self.module), self.name)
        return function

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Call it."""
        return self.load()(*arguments, **options)


class OneOf(StringType):
    """One of a few words, which are looked up on demand.

    Args:
        words: returns them.
    """

    name = "choice"

    def __init__(self, words: Callable[[], Sequence[str]]) -> None:
        self._words = words

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """The words as help shows them."""
        return f"[{'|'.join(self._words())}]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Check a value from the command line."""
        words = self._words()
        if value not in words:
            self.fail(f"{value!r} is not one of {', '.join(words)}.", param, ctx)
        return str(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Complete a word."""
        from click.shell_completion import CompletionItem  # only shells need it

        return [CompletionItem(word) for word in self._words() if word.startswith(incomplete)]


class Option(click.Option):
    """An option with its place in ``--help``.

    Args:
        names: as typed, such as ``-o`` and ``--output``.
        section: title of the section that it appears in.
        help: what it does.
        shown_default: the default as help shows it, or what returns that; for defaults that the code below chooses.
        old_name: what it was called before. It still works, with a note, and is shown nowhere.
        attributes: what :class:`click.Option` takes besides.
    """

    def __init__(
        self,
        *names: str,
        section: str,
        help: str,
        shown_default: str | Callable[[], object] = "",
        old_name: str = "",
        **attributes: Any,
    ) -> None:
        super().__init__(list(names), help=help, **attributes)
        self.section = section
        self.texts: dict[str, Option] = {}
        self._shown_default = shown_default
        self._old_name = old_name

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Let a command line have the old name, too; its value is kept under that, which tells it apart."""
        super().add_to_parser(parser, ctx)
        if self._old_name:
            parser.add_option(obj=self, opts=[self._old_name], dest=self._old_name, action="store", nargs=self.nargs)

    def handle_parse_result(
        self, ctx: click.Context, opts: Mapping[str, Any], args: list[str]
    ) -> tuple[Any, list[str]]:
        """Take the value from the command line; one given under both names is that of the new one."""
        if self._old_name in opts:
            opts = {str(self.name): opts[self._old_name], **opts}
            if not ctx.resilient_parsing:
                from replay_dd.cli.output import echo  # completion says nothing

                echo(
                    f"`{self._old_name}` is now called `{self.opts[-1]}`; use that, as the old name will go.", err=True
                )
        return super().handle_parse_result(ctx, opts, args)

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The option as help shows it: its names, and its text with the default."""
        record = super().get_help_record(ctx)
        if record is None:
            return None
        if self.texts:
            records = {subject: option.get_help_record(ctx) or record for subject, option in self.texts.items()}
            return record[0], " ".join(
                f"For {subject}: {text[:1].lower()}{text[1:]}" for subject, (_, text) in records.items()
            )
        default = self._shown_default if isinstance(self._shown_default, str) else self._shown_default()
        if default == "":
            return record
        text, mark, extra = record[1].rpartition("  [")  # what click adds: the range of a number
        return record[0], f"{text}  [default: {default}; {extra}" if mark else f"{extra}  [default: {default}]"

    def fits(self, other: Option) -> bool:
        """Whether the two can share one name on a command line, whatever their help says."""
        mine, theirs = (
            (one.opts, one.name, one.is_flag, one.multiple, one.metavar, one.default) for one in (self, other)
        )
        return mine == theirs

    def for_help(self, section: str, texts: dict[str, Option]) -> Option:
        """A copy for help.

        Args:
            section: where it appears.
            texts: the options that share its name, by what they are for; where their texts differ, help shows each.
        """
        other = copy.copy(self)
        other.section = section
        different = {(option.help, option._shown_default) for option in texts.values()}
        other.texts = texts if len(different) > 1 else {}
        return other


class Seconds(click.FloatRange):
    """A time: a number of seconds, or one with a unit, such as ``10ms``, ``90s``, ``10m`` or ``2h``.

    Neither ``nan``, which no comparison refuses, nor an infinite one, which nothing would end.
    """

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Convert a word of the command line."""
        if isinstance(value, str):
            try:
                value = seconds_of(value)
            except ValueError:
                self.fail(f"{value!r} is not a time, such as 90, 10ms, 90s, 10m or 2h.", param, ctx)
        seconds = float(super().convert(value, param, ctx))
        if not math.isfinite(seconds):
            self.fail(f"{value} is not a number of seconds.", param, ctx)
        return seconds


class Output(click.Path):
    """The path of what a command writes: a file, or a folder. It is checked before the command runs.

    Args:
        folder: it is a folder.
        or_printed: a file, or ``-`` for standard output.
        either: a file or a folder, as other options say; the command itself tells if it is the wrong one.
    """

    def __init__(self, *, folder: bool = False, or_printed: bool = False, either: bool = False) -> None:
        super().__init__(path_type=Path, file_okay=not folder, dir_okay=folder or either)
        self._folder = folder
        self._or_printed = or_printed

    def check(self, path: Path) -> None:
        """Check that it can be written.

        Raises:
            OutputError: it cannot.
        """
        from replay_dd.files import check_writable  # help and completion write nothing

        if self._or_printed and str(path) == "-":
            return
        if str(path) == "-":
            raise UsageError("`-` names no file: standard output is for the answer.", "Give the name of a file.")
        check_writable(path / "any" if self._folder or (self.dir_okay and os.path.isdir(path)) else path)


class Command(click.Command):
    """A command whose help shows its options by what they are for."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options by section; those without one come last."""
        sections: dict[str, list[tuple[str, str]]] = {}
        options = [parameter for parameter in self.get_params(ctx) if isinstance(parameter, click.Option)]
        for option in sorted(options, key=lambda option: not isinstance(option, Option)):
            record = option.get_help_record(ctx)
            if record is not None:
                section = option.section if isinstance(option, Option) else LAST_SECTION
                sections.setdefault(section, []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, and end whatever its programs leave running."""
        # Imported here: neither help nor completion starts a program.
        from replay_dd.cli.journals import journal_of
        from replay_dd.cli.recorders import check_recorders
        from replay_dd.experiment.process import no_leftovers

        with no_leftovers():
            check_recorders()
            self._check_outputs(ctx)
            with journal_of(ctx):
                return super().invoke(ctx)

    def _check_outputs(self, ctx: click.Context) -> None:
        """Tell at once what could not be written after a long search."""
        found: dict[Path, str] = {}
        for parameter in self.params:
            path = ctx.params.get(str(parameter.name))
            if path is None or not isinstance(parameter.type, Output):
                continue
            parameter.type.check(path)
            other = found.setdefault(path.resolve(), parameter.opts[-1])
            if other != parameter.opts[-1]:
                raise UsageError(
                    f"`{other}` and `{parameter.opts[-1]}` both name {path}, but only one can be written there.",
                    "Name two files.",
                )


def command(
    name: str, *parameters: click.Parameter, kind: type[Command] = Command
) -> Callable[[Callable[..., int | None]], Command]:
    """Declare a command: the decorated function runs it, and its docstring is the help.

    Args:
        name: of the command.
        parameters: its arguments and options, in the order of the help.
        kind: what it is made as.
    """

    def declare(run: Callable[..., int | None]) -> Command:
        return kind(name, params=list(parameters), callback=run, help=_help_of(run))

    return declare


def _help_of(run: Callable[..., object]) -> str:
    """A docstring as help; paragraphs with indented lines are tables, which click must not wrap."""
    paragraphs = inspect.cleandoc(run.__doc__ or "").split("\n\n")
    return "\n\n".join(f"\b\n{text}" if "\n  " in text else text for text in paragraphs)
