"""Colors for the text of an answer: a layer over the text, which is complete without them.

Rules of this module:

* Without its colors, each line is what is printed where there are none: not on a terminal, on a dumb one, and with
  ``NO_COLOR`` set (no-color.org).
* Lines are made harmless before they are colored, so no color comes from a program or a log.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable

import click

from replay_dd.cli.output import echo, wants_color
from replay_dd.trust.printable import printable

_COLORS = ("cyan", "magenta", "green", "blue")
_VERDICT = re.compile(r"(RACE|DEADLOCK|HANG)\b|The run FAILS|It FAILS|The run PASSES|It PASSES")
_THREAD = re.compile(r"\b(thread) (\d+(?:\.\d+)*)")
_LABEL = re.compile(r"[a-z]+(?= {2,})")


def echo_highlighted(lines: Iterable[str]) -> None:
    """Print lines, in color if standard output is a terminal that has colors."""
    steer = getattr(sys.stdout, "steer", None)
    if steer is None or not wants_color(sys.stdout.isatty()):
        for line in lines:
            echo(line)
        return
    colors: dict[str, str] = {}
    for line in lines:
        steer(f"{highlighted(printable(line, keep=chr(9)), colors)}\n")


def highlighted(line: str, colors: dict[str, str]) -> str:
    """A line with colors.

    Args:
        line: the line, harmless.
        colors: those of the threads so far; it grows.
    """
    if _VERDICT.match(line):
        return click.style(line, bold=True)
    if line.lstrip().startswith("-- "):
        return click.style(line, fg="yellow")
    label = _LABEL.match(line)
    if label is not None:
        return click.style(label[0], bold=True) + _threads(line[label.end() :], colors)
    return _threads(line, colors)


def _threads(text: str, colors: dict[str, str]) -> str:
    def colored(found: re.Match[str]) -> str:
        color = colors.setdefault(found[2], _COLORS[len(colors) % len(_COLORS)])
        return click.style(found[0], fg=color)

    return _THREAD.sub(colored, text)
