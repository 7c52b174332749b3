"""``--journal``: which search a journal belongs to, and what is told of it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from replay_dd.cli.options import OUTPUT

if TYPE_CHECKING:
    from replay_dd.experiment.journal import SearchedFor

# What may differ when a search goes on: none of this decides what a run shows.
_FREE = frozenset({"jobs", "max_tests", "time_budget", "no_fork", "yes"})


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
            click.echo(f"{path}: {known} known, {journal.added:,} added.", err=True)


def _search(context: click.Context) -> SearchedFor:
    from replay_dd.experiment.journal import SearchedFor
    from replay_dd.files import digest_of_regular
    from replay_dd.logfile import LARGEST_LOG_BYTES

    options = {}
    for parameter in context.command.params:
        name = str(parameter.name)
        if name not in context.params or name in _FREE or getattr(parameter, "section", "") == OUTPUT:
            continue
        shown = f"`{parameter.opts[-1]}`" if isinstance(parameter, click.Option) else parameter.human_readable_name
        options[shown] = _texts(context.params[name])
    words = {word for texts in options.values() for word in texts}
    digests = {word: digest_of_regular(Path(word), LARGEST_LOG_BYTES) for word in words}
    files = {word: digest for word, digest in sorted(digests.items()) if digest is not None}
    return SearchedFor(str(context.command.name), os.getcwd(), {k: v for k, v in options.items() if v}, files)


def _texts(value: Any) -> tuple[str, ...]:
    if value is None or value is False:
        return ()
    if value is True:
        return ("given",)
    return tuple(str(one) for one in value) if isinstance(value, tuple | list) else (str(value),)
