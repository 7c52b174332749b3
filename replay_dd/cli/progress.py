"""Progress on standard error: a single line that is overwritten on a terminal; nothing elsewhere."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from replay_dd.cli.output import echo, steer
from replay_dd.trust.printable import printable

if TYPE_CHECKING:
    from replay_dd.experiment.driver import Observer

_WIDEST = 118


class Progress:
    """Shows how far a search has come."""

    def __init__(self) -> None:
        # A terminal that cannot return the carriage would show every state below the one before.
        self._shows = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._width = 0

    def show(self, text: str) -> None:
        """Replace the line."""
        if self._shows:
            shown = printable(text)[:_WIDEST]
            steer("\r" + shown.ljust(self._width))
            self._width = len(shown)

    def observer(self, unit: str) -> Observer:
        """One that shows each test of a search whose deltas are such units, and each stage of it."""
        # Imported here: commands that only say something have no use for the driver.
        from replay_dd.experiment.driver import Observer
        from replay_dd.report.isolation import progress_in_words

        return Observer(lambda record: self.show(progress_in_words(record, unit)), self.show)

    def clear(self) -> None:
        """Remove the line."""
        if self._shows and self._width:
            steer("\r" + " " * self._width + "\r")
            self._width = 0


def can_draw() -> bool:
    """Whether standard output can show characters beyond ASCII."""
    return "utf" in (sys.stdout.encoding or "").lower()


def say(text: str) -> None:
    """Print a line about what is going on to standard error."""
    echo(f"replay-dd: {text}", err=True)
