"""A command line for a circumstance of the user's own: progress, report, ``--json`` and exit status."""

from __future__ import annotations

import sys
from typing import Any, NoReturn

import click

from replay_dd.circumstance import Circumstance
from replay_dd.cli.command import Command, Option
from replay_dd.cli.exit_status import reported
from replay_dd.cli.options import SEARCH, budget_options, json_option
from replay_dd.cli.output import echo_json, echo_lines
from replay_dd.cli.progress import Progress
from replay_dd.cli.streams import make_streams_safe
from replay_dd.experiment.driver import isolate_cause
from replay_dd.experiment.process import no_leftovers
from replay_dd.report.isolation import isolation_as_json, isolation_as_text


def main_for(circumstance: Circumstance[Any], arguments: list[str] | None = None) -> NoReturn:
    """Isolate the cause of a failure as a command: call this as the last thing in a script.

    The script then takes ``--jobs``, ``--max-tests``, ``--time-budget`` and ``--json``, shows progress on a terminal,
    prints the answer, and exits with the statuses of the commands of replay-dd.

    Args:
        circumstance: what is searched.
        arguments: the command line; the script's own where none is given.
    """
    make_streams_safe()
    command = Command(
        sys.argv[0],
        params=[
            # One at a time, unless the user knows that runs do not disturb each other.
            Option(
                "--jobs",
                section=SEARCH,
                metavar="N",
                type=click.IntRange(min=1),
                default=1,
                shown_default="1",
                help="Make up to N runs at the same time.",
            ),
            *budget_options(),
            json_option(),
        ],
        callback=lambda **options: _isolate(circumstance, **options),
        help=f"Find which {circumstance.delta}s make the {circumstance.subject} fail.",
    )
    with reported(verdict=False):
        try:
            with command.make_context(sys.argv[0], list(sys.argv[1:] if arguments is None else arguments)) as context:
                status = command.invoke(context)
        except click.exceptions.Exit as finished:
            status = finished.exit_code
        sys.stdout.flush()
        sys.exit(status)


def _isolate(
    circumstance: Circumstance[Any], *, jobs: int, max_tests: int | None, time_budget: float | None, as_json: bool
) -> int:
    progress = Progress()
    with no_leftovers():
        try:
            isolation = isolate_cause(
                circumstance,
                jobs=jobs,
                max_tests=max_tests,
                time_limit_s=time_budget,
                observer=progress.observer(circumstance.delta),
            )
        finally:
            progress.clear()
    if as_json:
        echo_json(isolation_as_json(isolation))
    else:
        echo_lines(isolation_as_text(isolation))
    return isolation.exit_code
