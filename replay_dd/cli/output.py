"""What commands print: the one way to a terminal.

Rules of this module:

* Whatever is printed may stem from a stranger's log or from the program under test. :func:`echo` prints one line, so
  that such text cannot pass itself off as another line, and nothing that a terminal obeys.
* The streams themselves (:mod:`replay_dd.cli.streams`) escape control characters once more, for what is printed by
  others, such as tracebacks.
* Other modules of this package do not call ``click.echo`` or ``print`` (a test looks).
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from typing import Any

import click

from replay_dd.trust.printable import printable


def echo(line: str = "", *, err: bool = False) -> None:
    """Print one line."""
    click.echo(printable(line, keep="\t"), err=err)


def echo_lines(lines: Iterable[str], *, err: bool = False) -> None:
    """Print lines."""
    for line in lines:
        echo(line, err=err)


def echo_text(text: str, *, err: bool = False) -> None:
    """Print a text of several lines: help, or what a program has written."""
    click.echo(printable(text, keep="\t\n"), nl=not text.endswith("\n"), err=err)


def steer(text: str) -> None:
    """Write something of our own to standard error that a terminal obeys, such as a carriage return."""
    steering = getattr(sys.stderr, "steer", sys.stderr.write)  # in a script that uses the library, it is Python's own
    steering(text)
    sys.stderr.flush()


def red(text: str) -> None:
    """Write the beginning of a line to standard error; in red, if that may be."""
    if wants_color(sys.stderr.isatty()):
        steer(click.style(text, fg="red", bold=True))
    else:
        click.echo(text, nl=False, err=True)


def wants_color(is_terminal: bool) -> bool:
    """Whether to use colors: on a capable terminal, unless ``NO_COLOR`` is set (no-color.org)."""
    return is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def echo_json(value: Any) -> None:
    """Print one JSON object."""
    click.echo(json.dumps(value, indent=2))
