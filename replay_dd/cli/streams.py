"""Standard streams that must not end a command in a traceback: closed, full, or unable to take every character."""

from __future__ import annotations

import io
import os
import sys
from typing import TextIO

from replay_dd.errors.user import OutputError


class _StandardOutput(io.TextIOWrapper):
    """Standard output; where it cannot be written, that is told in words."""

    def write(self, text: str, /) -> int:
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
    """Standard error; where it cannot be written, the exit status alone has to tell."""

    def write(self, text: str, /) -> int:
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
    """Replace the standard streams of this process by such that keep a command going, or end it in words."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            # The descriptor stays taken for as long as we run: the next file opened must not get it.
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w"))  # noqa: SIM115  as said
    for name, kind in (("stdout", _StandardOutput), ("stderr", _StandardError)):
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):
            encoding, lines, through = stream.encoding, stream.line_buffering, stream.write_through
            safe = kind(stream.detach(), encoding, "backslashreplace", None, lines, through)
            setattr(sys, name, safe)


def output_error(error: OSError) -> Exception:
    """What a failed write to standard output becomes; a reader that has gone (``| head``) is no failure."""
    if isinstance(error, BrokenPipeError):
        return error
    return OutputError(
        f"Standard output cannot be written: {error.strerror or error}.", "Make room, or send it somewhere else."
    )


def give_up_unwritten() -> None:
    """Drop what is left for standard output if it cannot be written.

    Python would try once more at exit, complain, and change the exit status.
    """
    try:
        sys.stdout.flush()
    except (OSError, OutputError):
        _abandon(sys.stdout)


def _abandon(stream: TextIO) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
