"""The command ``replay-dd``."""

from __future__ import annotations

import importlib
import importlib.util
import io
import os
import signal
import sys
from pathlib import Path
from types import FrameType

import click

import replay_dd
from replay_dd.cli.errors import reported
from replay_dd.errors.machine import PackageShadowedError
from replay_dd.experiment.process import LIVE, no_leftovers

# Each command with its module, which is loaded when the command is wanted: what it does not need costs it nothing.
COMMANDS = {
    "record": "record",
    "hunt": "hunt",
    "replay": "replay",
    "show": "replay",
    "schedules": "schedules",
    "minimize": "schedules",
    "events": "events",
    "monkey": "events",
    "doctor": "doctor",
    "web": "web",
}


class CommandsOnDemand(click.Group):
    """A group of commands that are loaded one by one."""

    def list_commands(self, context: click.Context) -> list[str]:
        """The names of all commands, in the order of use."""
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """The command of this name."""
        if name not in COMMANDS:
            return None
        command: click.Command = getattr(importlib.import_module(f"replay_dd.cli.{COMMANDS[name]}"), f"{name}_command")
        return command


@click.group(
    cls=CommandsOnDemand, context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True
)
@click.version_option(replay_dd.__version__, prog_name="replay-dd")
@click.pass_context
def cli(context: click.Context) -> None:
    """Record a run, replay it exactly, and isolate why it fails."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def main() -> None:
    """Run the command line; exits with the status of the command."""
    arguments = sys.argv[1:]
    first = next((argument for argument in arguments if not argument.startswith("-")), "")
    _make_streams_safe()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _stop)
    with reported(verdict=first == "replay"), no_leftovers():
        check_recorders()
        sys.exit(_status_of(arguments))


def _status_of(arguments: list[str]) -> int:
    # Not `cli.main`: that turns a broken pipe into exit status 1, which is a verdict of `replay`.
    try:
        with cli.make_context("replay-dd", arguments) as context:
            status = cli.invoke(context)
    except click.exceptions.Exit as finished:
        return finished.exit_code
    return status if isinstance(status, int) else 0


def _make_streams_safe() -> None:
    """Standard streams that are closed, or cannot take every character, must not end a command."""
    for name in ("stdin", "stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            # The descriptor stays taken for as long as we run: the next file opened must not get it.
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w"))  # noqa: SIM115  as said
        elif name != "stdin" and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _stop(number: int, frame: FrameType | None) -> None:
    """End by a signal in order: programs are killed and folders removed on the way out."""
    LIVE.kill_all()
    sys.exit(128 + number)


def check_recorders() -> None:
    """Check that the package ``recorders`` is our own: other projects use that name too.

    Raises:
        PackageShadowedError: another file of that name comes first.
    """
    found = importlib.util.find_spec("recorders")
    origin = found.origin if found is not None else None
    expected = Path(replay_dd.__file__).resolve().parent.parent / "recorders" / "__init__.py"
    if origin is None or Path(origin).resolve() != expected:
        raise PackageShadowedError(f"replay-dd needs its own package `recorders`, but {origin} stands before it.")
