"""The command ``replay-dd``: its subcommands, and how it starts and ends."""

from __future__ import annotations

import importlib
import os
import signal
import sys
from types import FrameType
from typing import TYPE_CHECKING, NamedTuple

import click

import replay_dd
from replay_dd.cli.exit_status import reported
from replay_dd.cli.interrupts import DroppedSignals, Interrupts
from replay_dd.cli.output import echo_text
from replay_dd.cli.streams import make_streams_safe, output_error
from replay_dd.errors.user import UsageError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

PROGRAM = "replay-dd"
COMPLETION_VARIABLE = "_REPLAY_DD_COMPLETE"


class Entry(NamedTuple):
    """A subcommand: its module, which is imported on demand, and one line of help."""

    module: str
    summary: str


# By circumstance, in the order of `replay-dd --help`.
GROUPS: dict[str, dict[str, Entry]] = {
    "Any recording": {
        "record": Entry("recording_commands", "Record a run of a program."),
        "replay": Entry("recording_commands", "Run a recording again."),
        "show": Entry("recording_commands", "Show what a recording holds."),
    },
    "Thread schedules": {
        "hunt": Entry("hunt", "Vary the schedule until one run fails and one passes."),
        "schedules": Entry("recording_commands", "Isolate the thread switch that makes a run fail."),
        "verify-fix": Entry("recording_commands", "Check whether a repaired program still fails."),
        "bisect": Entry("bisect", "Find the commit that introduced a race or deadlock."),
        "minimize": Entry("recording_commands", "Reduce a failing schedule to the choices it needs."),
        "verify-test": Entry("verify_test", "Check that a test written by `--write-test` can fail."),
    },
    "GUI sessions": {
        "monkey": Entry("monkey", "Send random input to a program until it fails."),
        "events": Entry("recording_commands", "Isolate the user actions that make a program fail."),
        "doctor": Entry("doctor", "Check whether GUI sessions work on this machine."),
    },
    "Program input": {
        "input": Entry("input", "Reduce a file to the parts that make a program fail."),
        "fuzz": Entry("fuzz", "Invent inputs until a program fails on one, and reduce it."),
    },
    "Program text": {
        "code": Entry("code", "Reduce a Python program on which a tool fails."),
    },
    "Python calls": {
        "call": Entry("call", "Reduce the arguments of a call to the parts that make it fail."),
    },
    "Code changes": {
        "changes": Entry("changes", "Isolate the code change that makes a program fail."),
    },
    "Executed statements": {
        "trace": Entry("trace", "Find the executed statements that an outcome needs."),
    },
    "Web pages": {
        "web": Entry("recording_commands", "Isolate the steps of a user flow that break a page."),
    },
}
COMMANDS: dict[str, Entry] = {name: entry for group in GROUPS.values() for name, entry in group.items()}


class CommandGroup(click.Group):
    """The subcommands, each imported on demand."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context | None, cmd_name: str) -> click.Command | None:
        """The command of this name."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"replay_dd.cli.{COMMANDS[cmd_name].module}")
        command: click.Command = getattr(module, f"{cmd_name.replace('-', '_')}_command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command of a command line."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            import difflib  # only misspelt commands need it

            close = difflib.get_close_matches(name, COMMANDS, 1)
            guess = f"Did you mean `{close[0]}`? " if close else ""
            raise UsageError(f"There is no command `{name}`.", f"{guess}`{PROGRAM} --help` lists all commands.")
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete commands and options, without importing the commands."""
        from click.shell_completion import CompletionItem  # only shells need it

        found = [(name, entry.summary) for name, entry in COMMANDS.items() if name.startswith(incomplete)]
        return [CompletionItem(name, help=summary) for name, summary in found] + click.Command.shell_complete(
            self, ctx, incomplete
        )

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands in their groups, without importing them."""
        width = max(map(len, COMMANDS))
        for title, group in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), entry.summary) for name, entry in group.items()])


@click.group(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True)
@click.version_option(replay_dd.__version__, prog_name=PROGRAM)
@click.pass_context
def cli(context: click.Context) -> None:
    """Record a run, replay it exactly, and isolate why it fails."""
    if context.invoked_subcommand is None:
        echo_text(context.get_help())


def main() -> None:
    """Run the command line; exits with the status of the command."""
    arguments = sys.argv[1:]
    first = next((argument for argument in arguments if not argument.startswith("-")), "")
    make_streams_safe()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _stop)
    interrupts = Interrupts()
    interrupts.take_over()
    DroppedSignals(interrupts).take_over()
    help_of = f"{PROGRAM} {first}" if first in COMMANDS else PROGRAM
    with reported(verdict=first in ("replay", "verify-fix"), help_of=help_of):
        instruction = os.environ.get(COMPLETION_VARIABLE)
        status = _complete(instruction) if instruction else _status_of(arguments)
        sys.stdout.flush()
        sys.exit(status)


def _complete(instruction: str) -> int:
    """Complete a command line for a shell, or print the script that sets completion up."""
    # Only shells need it.
    from click.shell_completion import get_completion_class, shell_complete

    shell, _, what = instruction.partition("_")
    if get_completion_class(shell) is None or what not in ("source", "complete"):
        raise UsageError(
            f"{COMPLETION_VARIABLE} is {instruction}, which is not a shell that completion works in.",
            "Set it to bash_source, zsh_source or fish_source.",
        )
    try:
        return shell_complete(cli, {}, PROGRAM, COMPLETION_VARIABLE, instruction)
    except OSError as error:  # click writes bytes here, past our text stream
        raise output_error(error) from error


def _status_of(arguments: list[str]) -> int:
    # Not `cli.main`: it turns a broken pipe into exit status 1, which is a verdict of `replay`.
    try:
        with cli.make_context(PROGRAM, arguments) as context:
            status = cli.invoke(context)
    except click.exceptions.Exit as finished:
        return finished.exit_code
    return status if isinstance(status, int) else 0


def _stop(number: int, frame: FrameType | None) -> None:
    """End on a signal as on any other exit: programs are killed and folders removed on the way out."""
    processes = sys.modules.get("replay_dd.experiment.process")
    if processes is not None:
        processes.LIVE.kill_all()
    sys.exit(128 + number)
