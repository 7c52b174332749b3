"""User flows of the Chrome DevTools Recorder at the command line: play, show and minimise them.

The functions stand behind the commands for recordings of any kind, which find out by the file what it is.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from replay_dd.cli.errors import EXIT_CANNOT_TELL
from replay_dd.cli.progress import Progress
from replay_dd.errors.user import UsageError
from replay_dd.report.flow import flow_as_text, minimum_as_json, minimum_as_text
from replay_dd.web.browser import WebBrowser, require_playwright
from replay_dd.web.flow import ALGORITHMS, read_flow, write_flow

Command = TypeVar("Command", bound=Callable[..., Any])

_SETTLE_S = 0.3
FILE = click.Path(path_type=Path, dir_okay=False)


def checked_text(text: str | None) -> str | None:
    """A regular expression that is one.

    Raises:
        UsageError: it is none.
    """
    if text is not None:
        try:
            re.compile(text)
        except re.error as error:
            raise UsageError(f"The text `{text}` is no regular expression: {error}.") from error
    return text


def flow_options(command: Command) -> Command:
    """``--text``, ``--browser``: what only user flows need to know."""
    for option in (
        click.option(
            "--browser", metavar="FILE", type=FILE, help="The Chromium for a user flow. [default: on the PATH]"
        ),
        click.option("--text", metavar="REGEX", help="A user flow fails where this text shows on a page."),
    ):
        command = option(command)
    return command


@click.command("web")
@click.argument("flow", type=FILE)
@flow_options
@click.option(
    "--settle",
    "settle_s",
    metavar="S",
    type=click.FloatRange(min=0),
    default=_SETTLE_S,
    show_default=True,
    help="Seconds to watch the page after the last step.",
)
@click.option(
    "--algorithm",
    type=click.Choice(ALGORITHMS),
    default=ALGORITHMS[0],
    show_default=True,
    help="How to search: one needed step after the other, or ddmin.",
)
@click.option("-o", "--output", metavar="FLOW", type=FILE, help="Where to write it. [default: FLOW-minimal.json]")
@click.option("--strip", metavar="HTML", type=FILE, help="Write a film strip of the minimal flow to this file.")
@click.option("--json", "as_json", is_flag=True, help="Answer with one JSON object.")
@click.option("--max-tests", metavar="N", type=click.IntRange(min=1), help="Stop after N tests with the best so far.")
@click.option(
    "--search-limit",
    "search_limit_s",
    metavar="S",
    type=click.FloatRange(min=0, min_open=True),
    help="Stop after S seconds with the best so far.",
)
def web_command(flow: Path, **options: Any) -> int:
    """Find the few steps of a user flow that make a web page fail.

    FLOW is a recording of the Recorder in Chrome DevTools, exported as JSON. Exit status: 0 minimised, 3 it does not
    fail, 4 not reproducible.
    """
    return minimize_flow(flow, **options)


def settle_of_flow(settle_s: float | None) -> float:
    """The seconds to watch a page after the last step, where the user may have said none."""
    return _SETTLE_S if settle_s is None else settle_s


def show_flow(path: Path) -> None:
    """Print the steps of a flow in words."""
    for line in flow_as_text(read_flow(path)):
        click.echo(line)


def replay_flow(path: Path, *, browser: Path | None, text: str | None, settle_s: float) -> int:
    """Play a flow once; returns the exit status: 0 it passed, 1 it failed, 125 a step could not be done."""
    flow = read_flow(path)
    require_playwright()
    from replay_dd.web.circumstance import failure_of
    from replay_dd.web.player import Limits, play

    with WebBrowser(browser) as running:
        playback = play(flow, running, limits=Limits(settle_s=settle_s), text=checked_text(text))
    failure = failure_of(playback, text)
    for number, why in playback.left_out:
        click.echo(f"left out: step {number + 1}: {why}")
    if failure is None:
        click.echo("outcome: no failure")
        return EXIT_CANNOT_TELL if playback.left_out else 0
    click.echo(f"outcome: {failure.summary}")
    click.echo(f"seen after step {failure.step + 1}")
    return 1


def minimize_flow(
    path: Path,
    *,
    output: Path | None,
    strip: Path | None,
    browser: Path | None,
    text: str | None,
    max_tests: int | None,
    as_json: bool,
    settle_s: float,
    algorithm: str,
    search_limit_s: float | None = None,
) -> int:
    """Minimise a flow and print the answer; returns the exit status."""
    flow = read_flow(path)
    checked_text(text)
    require_playwright()
    from replay_dd.report.flow_strip import write_flow_strip
    from replay_dd.web.minimize import default_output, minimize

    progress = Progress()
    with WebBrowser(browser) as running:
        try:
            found = minimize(
                flow,
                running,
                text=text,
                settle_s=settle_s,
                algorithm=algorithm,
                max_tests=max_tests,
                search_limit_s=search_limit_s,
                observer=progress.observer("step"),
            )
        finally:
            progress.clear()
        target = output or default_output(path)
        write_flow(found.flow, target)
        if strip is not None:
            write_flow_strip(found, running, strip, text=text)
    if as_json:
        click.echo(json.dumps(minimum_as_json(found, target, strip), indent=2))
    else:
        for line in minimum_as_text(found, target, strip):
            click.echo(line)
    sys.stdout.flush()
    return found.isolation.exit_code
