"""Exit statuses, and errors turned into one message with a hint."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

import click

from replay_dd.cli.output import echo, echo_text, red
from replay_dd.cli.streams import give_up_unwritten
from replay_dd.errors import EXIT_BUG, EXIT_INTERRUPTED, EXIT_USAGE, ReplayDDError
from replay_dd.errors.user import InterruptedCommandError, UsageError

# `git bisect run` takes every exit status up to 127, except 125, as a verdict; errors of `replay` go above.
NO_VERDICT = 128
EXIT_CANNOT_TELL = 125


@contextlib.contextmanager
def reported(*, verdict: bool, help_of: str = "") -> Iterator[None]:
    """Turn whatever is raised inside into a message and an exit status.

    Args:
        help_of: the command line whose `--help` is named where a usage error has no hint of its own.
        verdict: whether statuses below 128 are verdicts for ``git bisect run``, so that errors need higher ones.
    """
    base = NO_VERDICT if verdict else 0
    try:
        yield
    except ReplayDDError as error:
        _tell_with_help(error, help_of)
        sys.exit(_status_of(error, base))
    except click.ClickException as error:
        usage = error.ctx.get_usage() if isinstance(error, click.UsageError) and error.ctx else ""
        if usage:
            echo_text(usage, err=True)
        _tell_with_help(UsageError(error.format_message()), help_of)
        sys.exit(EXIT_USAGE + base)
    except (KeyboardInterrupt, click.Abort):
        tell(InterruptedCommandError("Interrupted."))
        sys.exit(EXIT_INTERRUPTED)
    except BrokenPipeError:
        sys.exit(base)  # the reader of our output is gone (`| head`)
    except Exception as error:
        if isinstance(error, FileNotFoundError) and not _has_a_working_directory():
            hint = "Change to one that does, as with `cd ..`."
            gone = UsageError("The working directory does not exist any more.", hint)
            tell(gone)
            sys.exit(_status_of(gone, base))
        from replay_dd.errors.machine import NoRoomError  # only now: no other end needs them
        from replay_dd.experiment.room import NO_ROOM

        if isinstance(error, OSError) and error.errno in NO_ROOM:
            # Results have an error of their own: this was a temporary file.
            full = NoRoomError(f"There is no room for {error.filename or 'a temporary file'}: {error.strerror}.")
            tell(full)
            sys.exit(_status_of(full, base))
        import traceback

        traceback.print_exc()
        echo("replay-dd: this is a bug in replay-dd; please report it with the lines above.", err=True)
        sys.exit(EXIT_BUG + base)
    finally:
        give_up_unwritten()


def _has_a_working_directory() -> bool:
    try:
        os.getcwd()
    except FileNotFoundError:
        return False
    return True


def _tell_with_help(error: ReplayDDError, help_of: str) -> None:
    if help_of and error.hint == UsageError.default_hint:
        error.hint = f"See `{help_of} --help`."
    tell(error)


def tell(error: ReplayDDError) -> None:
    """Print an error and its hint on standard error."""
    red("replay-dd: error:")
    echo(f" {error.message} [{error.slug}]", err=True)
    if error.hint:
        echo(f"  hint: {error.hint}", err=True)


def _status_of(error: ReplayDDError, base: int) -> int:
    return error.exit_code if error.exit_code >= NO_VERDICT else error.exit_code + base
