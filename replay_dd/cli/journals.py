"""``--journal``: which search a journal belongs to, and what is told of it."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from replay_dd.cli.options import OUTPUT
from replay_dd.cli.output import echo

if TYPE_CHECKING:
    from replay_dd.experiment.journal import SearchedFor

# What may differ when a search goes on: none of this decides what a run shows.
_FREE = frozenset({"jobs", "max_tests", "runs", "time_budget", "no_fork", "yes"})

_BETWEEN_WORDS = re.compile(r"[\s;|&()<>='\"`]+")
_MODULE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


@contextlib.contextmanager
def journal_of(context: click.Context) -> Iterator[None]:
    """Keep the runs of a command in its journal, if it was given one.

    Args:
        context: the parsed command line; the option is taken out of it.

    Raises:
        JournalError, LogError, OutputError: the journal cannot be used.
    """
    path: Path | None = context.params.pop("journal", None)
    if path is None:
        yield
        return
    from replay_dd.experiment.journal import kept_in  # most commands are run without one

    with kept_in(path, _search(context)) as journal:
        try:
            yield
        finally:
            known = "1 run was" if journal.recalled == 1 else f"{journal.recalled:,} runs were"
            echo(f"{path}: {known} known, {journal.added:,} added.", err=True)


def _search(context: click.Context) -> SearchedFor:
    from replay_dd.experiment.journal import SearchedFor, digests_of

    options = {}
    for parameter in context.command.params:
        name = str(parameter.name)
        if name not in context.params or name in _FREE or getattr(parameter, "section", "") == OUTPUT:
            continue
        shown = f"`{parameter.opts[-1]}`" if isinstance(parameter, click.Option) else parameter.human_readable_name
        options[shown] = _texts(context.params[name])
    declared = {str(parameter.name) for parameter in context.command.params}
    for name in sorted(context.params.keys() - declared):  # what a command has parsed itself, such as a program
        options[name] = _texts(context.params[name])
    named = {name for texts in options.values() for text in texts for name in _named(text)}
    return SearchedFor(
        str(context.command.name), os.getcwd(), {k: v for k, v in options.items() if v}, digests_of(named)
    )


def _named(text: str) -> Iterator[str]:
    """What may be names of files in an argument: itself, words of a shell's commands, and modules of the folder."""
    for word in {text, *_BETWEEN_WORDS.split(text)}:
        yield word
        module = word.partition(":")[0]
        if _MODULE.fullmatch(module):
            path = module.replace(".", "/")
            yield from (f"{path}.py", f"{path}/__init__.py", f"{path}/__main__.py")


def _texts(value: Any) -> tuple[str, ...]:
    if value is None or value is False:
        return ()
    if value is True:
        return ("given",)
    return tuple(str(one) for one in value) if isinstance(value, tuple | list) else (str(value),)
