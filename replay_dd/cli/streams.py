"""The standard streams: nothing that is written to them is obeyed by a terminal, and none ends with a traceback.

Rules of this module:

* Streams that are closed, full, or limited to some characters must not end a command with a traceback.
* What a terminal would obey is escaped, whoever writes it. What is our own, such as colors, goes through ``steer``.
"""

from __future__ import annotations

import io
import os
import sys
from typing import TextIO

from replay_dd.errors.user import OutputError
from replay_dd.trust.printable import printable

_KEPT = "\n\t"


class _StandardOutput(io.TextIOWrapper):
    """Standard output; a failed write becomes an error with a message."""

    def write(self, text: str, /) -> int:
        return self.steer(printable(text, keep=_KEPT))

    def steer(self, text: str) -> int:
        """Write what a terminal obeys."""
        try:
            return super().write(text)
        except OSError as error:
            raise output_error(error) from error

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            raise output_error(error) from error


class _StandardError(io.TextIOWrapper):
    """Standard error; if it cannot be written, messages are dropped and the exit status has to do."""

    def write(self, text: str, /) -> int:
        return self.steer(printable(text, keep=_KEPT))

    def steer(self, text: str) -> int:
        """Write what a terminal obeys."""
        try:
            return super().write(text)
        except OSError:
            _abandon(self)
            return len(text)

    def flush(self) -> None:
        try:
            super().flush()
        except OSError:
            _abandon(self)


def make_streams_safe() -> None:
    """Replace the standard streams of this process with safe ones."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            # Keep the descriptor taken: the next file opened must not get it.
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w"))  # noqa: SIM115  as said
    for name, kind in (("stdout", _StandardOutput), ("stderr", _StandardError)):
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):
            encoding, lines, through = stream.encoding, stream.line_buffering, stream.write_through
            safe = kind(stream.detach(), encoding, "backslashreplace", None, lines, through)
            setattr(sys, name, safe)


def output_error(error: OSError) -> Exception:
    """The error to raise for a failed write to standard output; a reader that is gone (``| head``) is not a failure."""
    if isinstance(error, BrokenPipeError):
        return error
    return OutputError(
        f"Standard output cannot be written: {error.strerror or error}.", "Free some space, or redirect it elsewhere."
    )


def give_up_unwritten() -> None:
    """Drop buffered output that cannot be written.

    Otherwise Python tries again at exit, complains, and changes the exit status.
    """
    try:
        sys.stdout.flush()
    except (OSError, OutputError):
        _abandon(sys.stdout)


def _abandon(stream: TextIO) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
