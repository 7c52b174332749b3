"""Progress on standard error: a single line that is overwritten on a terminal; elsewhere a line now and then."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from replay_dd.cli.output import echo, steer
from replay_dd.trust.printable import printable

if TYPE_CHECKING:
    from replay_dd.experiment.driver import Observer
    from replay_dd.experiment.result import TestRecord

_WIDEST = 118
_LINE_EVERY_S = 10.0  # where no line can be overwritten
# Set to 0: no such lines, as for scripts that take everything on standard error for trouble.
VARIABLE = "REPLAY_DD_PROGRESS"


class Progress:
    """Shows how far a search has come.

    Args:
        clock: the time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began_s = self._last_s = clock()
        # A terminal that cannot return the carriage would show every state below the one before.
        self._shows = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._prints = os.environ.get(VARIABLE) != "0"
        self._width = 0

    def show(self, text: str) -> None:
        """Replace the line; where that is impossible, print one if the last is long enough ago."""
        if self._shows:
            shown = printable(text)[:_WIDEST]
            steer("\r" + shown.ljust(self._width))
            self._width = len(shown)
        elif self._prints and self._clock() - self._last_s >= _LINE_EVERY_S:
            self._last_s = self._clock()
            say(text)

    def pace(self, done: int, left: int | None, at_least: bool = False) -> str:
        """How fast it goes and what is to come, in words.

        Args:
            done: how many runs or tests were made.
            left: how many are expected to come; None if that is unknown.
            at_least: whether these may be more; otherwise they may be fewer.
        """
        seconds = self._clock() - self._began_s
        if seconds <= 0 or done <= 0:
            return ""
        rate = done / seconds
        told = f"{rate:.1f} a second" if rate >= 0.1 else f"{rate * 60:.1f} a minute"
        if left is not None:
            told += f", {'at least' if at_least else 'up to'} {left:,} more ({_duration(left / rate)})"
        return told

    def observer(self, unit: str, *, halves: bool = False) -> Observer:
        """One that shows each test of a search, and each stage of it.

        Args:
            unit: what the deltas are.
            halves: whether the search mostly halves what is left, as isolation does; otherwise, how many tests it takes
                depends on how many deltas are needed, which nobody knows before the end.
        """
        # Imported here: commands that only say something have no use for the driver.
        from replay_dd.experiment.driver import Observer
        from replay_dd.report.isolation import progress_in_words

        def on_test(record: TestRecord) -> None:
            left = record.deltas_left
            expected = math.ceil(math.log2(left)) if halves and left > 0 else None
            self.show(f"{progress_in_words(record, unit)}; {self.pace(record.number, expected, at_least=True)}")

        return Observer(on_test, self.show, self.note)

    def note(self, text: str) -> None:
        """Tell something that stays to be seen."""
        self.clear()
        say(text)

    def clear(self) -> None:
        """Remove the line."""
        if self._shows and self._width:
            steer("\r" + " " * self._width + "\r")
            self._width = 0


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def can_draw() -> bool:
    """Whether standard output can show characters beyond ASCII."""
    return "utf" in (sys.stdout.encoding or "").lower()


def say(text: str) -> None:
    """Print a line about what is going on to standard error."""
    echo(f"replay-dd: {text}", err=True)
