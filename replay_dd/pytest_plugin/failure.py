"""A failure that pytest did not see itself, in the form in which it shows its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Crash:
    """Where a failure is, for summaries.

    Attributes:
        path: the file.
        lineno: the line, counted from 1.
        message: what failed, in one line.
    """

    path: str
    lineno: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.lineno}: {self.message}"  # with `--tb=line`


@dataclass(frozen=True)
class ToldFailure:
    """What stands below the heading of a failed test.

    Attributes:
        text: all of it.
        reprcrash: the same for summaries.
    """

    text: str
    reprcrash: Crash

    def __str__(self) -> str:
        return self.text

    def toterminal(self, terminal: Any) -> None:
        """Write it, as pytest asks."""
        for line in self.text.splitlines():
            terminal.line(line)
