"""``replay-dd input --options`` and ``--environment``: which settings matter."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from replay_dd.cli.output import echo_json, echo_lines
from replay_dd.cli.progress import Progress
from replay_dd.errors.user import UsageError
from replay_dd.input.settings import isolate_settings, options_of
from replay_dd.input.target import Target
from replay_dd.report.input import settings_as_json, settings_as_text


def check_only_settings(others: list[str]) -> None:
    """Refuse options that have no effect if the input stays whole.

    Raises:
        UsageError: there are some.
    """
    if others:
        raise UsageError(f"`--options` and `--environment` leave the input whole; {others[0]} does not go with them.")


def tell_settings(
    content: bytes,
    target: Target,
    words: tuple[str, ...],
    names: str | None,
    prevents: bool,
    search: dict[str, Any],
    *,
    as_json: bool,
) -> int:
    """Isolate options and variables, and tell which; returns the exit status."""
    try:
        options = options_of([word for line in words for word in shlex.split(line)])
    except ValueError as error:
        raise UsageError(f"The options `{' '.join(words)}` cannot be read: {error}.") from error
    if not options and names is None:
        raise UsageError("There are no options in `--options`.", "For instance: `--options '-O2 -g'`.")
    progress = Progress()
    try:
        isolation = isolate_settings(
            *(content, target),
            options=options,
            variables=_variables(names, target.environment),
            prevents=prevents,
            observer=progress.observer("setting"),
            **search,
        )
    finally:
        progress.clear()
    if as_json:
        echo_json(settings_as_json(isolation))
    else:
        echo_lines(settings_as_text(isolation))
    return isolation.exit_code


def _variables(names: str | None, environment: Mapping[str, str]) -> dict[str, str]:
    if names is None:
        return {}
    if names == "all":
        return dict(environment)
    wanted = [name.strip() for name in names.split(",")]
    missing = [name for name in wanted if name not in environment]
    if missing:
        raise UsageError(f"There is no environment variable {missing[0]}.", "Export it first.")
    return {name: environment[name] for name in wanted}
