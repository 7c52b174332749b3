"""How a command ends: its exit status, and one message with a hint for everything that can go wrong."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from collections.abc import Iterator
from typing import TextIO

import click

from replay_dd.errors import EXIT_BUG, EXIT_INTERRUPTED, EXIT_USAGE, ReplayDDError
from replay_dd.errors.user import InterruptedCommandError, OutputError, UsageError

# `git bisect run` takes every exit status up to 127 except 125 for a verdict, so `replay` reports its errors above.
NO_VERDICT = 128
EXIT_CANNOT_TELL = 125


@contextlib.contextmanager
def reported(*, verdict: bool) -> Iterator[None]:
    """Turn whatever is raised inside into a message and an exit status.

    Args:
        verdict: the command's statuses below 128 are verdicts for ``git bisect run``; errors go above.
    """
    base = NO_VERDICT if verdict else 0
    try:
        yield
    except ReplayDDError as error:
        tell(error)
        sys.exit(_status_of(error, base))
    except click.ClickException as error:
        usage = error.ctx.get_usage() if isinstance(error, click.UsageError) and error.ctx else ""
        if usage:
            _tell_line(usage)
        tell(UsageError(error.format_message()))
        sys.exit(EXIT_USAGE + base)
    except (KeyboardInterrupt, click.Abort):
        tell(InterruptedCommandError("Interrupted."))
        sys.exit(EXIT_INTERRUPTED)
    except BrokenPipeError:
        # Whoever read our output has gone (`| head`).
        _abandon(sys.stdout)
        sys.exit(base)
    except Exception as error:
        if isinstance(error, OSError) and _is_broken(sys.stdout):
            _abandon(sys.stdout)
            unwritable = OutputError(
                f"Standard output cannot be written: {error.strerror or error}.",
                "Make room, or send the output somewhere else.",
            )
            tell(unwritable)
            sys.exit(_status_of(unwritable, base))
        with _unheard_on_broken_stderr():
            traceback.print_exc()
            sys.stderr.flush()
        _tell_line("replay-dd: this is a bug in replay-dd; please report it with the lines above.")
        sys.exit(EXIT_BUG + base)


def tell(error: ReplayDDError) -> None:
    """Print an error and its hint on standard error."""
    head = click.style("replay-dd: error:", fg="red", bold=True)
    _tell_line(f"{head} {error.message} [{error.slug}]", color=wants_color(sys.stderr.isatty()))
    if error.hint:
        _tell_line(f"  hint: {error.hint}")


def wants_color(is_terminal: bool) -> bool:
    """Whether to use colors: on a terminal that has them, unless ``NO_COLOR`` is set (no-color.org)."""
    return is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _status_of(error: ReplayDDError, base: int) -> int:
    return error.exit_code if error.exit_code >= NO_VERDICT else error.exit_code + base


def _tell_line(text: str, *, color: bool | None = None) -> None:
    with _unheard_on_broken_stderr():
        click.echo(text, err=True, color=color)


@contextlib.contextmanager
def _unheard_on_broken_stderr() -> Iterator[None]:
    """Where standard error cannot be written, the exit status alone has to tell."""
    try:
        yield
    except OSError:
        _abandon(sys.stderr)


def _is_broken(stream: TextIO) -> bool:
    """Whether what waits to be written still cannot be written."""
    try:
        stream.flush()
    except OSError:
        return True
    return False


def _abandon(stream: TextIO) -> None:
    """Lead a stream nowhere: Python would complain once more when it flushes at exit, and change the status."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
