"""The commands that work on recordings.

What they do with each kind of recording, and their options, come from the registry (:mod:`replay_dd.cli.recordings`).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from replay_dd.cli.command import LAST_SECTION, Command, Option, command
from replay_dd.cli.options import LOG, OUTPUT, journal_option, log_option, program_argument
from replay_dd.cli.recordings import kind_for, kinds_for, listed, options_for, options_of
from replay_dd.cli.strangers import admit
from replay_dd.errors.user import UsageError


class _RecordingCommand(Command):
    """A command on a recording, which names the program that it runs."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Tell whoever names a program what to use instead."""
        if "--" in args[1:-1]:
            raise UsageError(
                f"`{self.name}` takes a recording, which names the program that it runs; nothing comes after `--`.",
                "To record a program: `replay-dd record -- COMMAND`. To reduce its input: `replay-dd input FILE -- "
                "COMMAND`.",
            )
        return super().parse_args(ctx, args)


def _on_one_log(
    name: str, metavar: str = "LOG", *, more: tuple[Option, ...] = ()
) -> Callable[[Callable[..., int | None]], Command]:
    """Declare a command that takes one recording, and more options than its kind has."""
    argument = click.Argument(["log"], type=LOG, metavar=metavar)
    return command(name, argument, *options_for(name), *more, _yes_option(), kind=_RecordingCommand)


def _yes_option() -> Option:
    return Option(
        "--yes",
        section=LAST_SECTION,
        is_flag=True,
        help="Do not ask before running what a recording made elsewhere says.",
    )


def _use_one_log(name: str, log: Path, *, yes: bool) -> int | None:
    kind = kind_for(name, log)
    options = options_of(click.get_current_context(), name, kind, f"{log} is a {kind.name}")
    use = kind.uses[name]
    if not use.runs_with(options):
        return use.run(kind.read(log), log, **options)
    more = [option for option in use.recordings if options[option] is not None]
    paths = [log, *(options[option] for option in more)]
    recording, *others = admit([kind] * len(paths), paths, agreed=yes)
    return use.run(recording, log, **{**options, **dict(zip(more, others, strict=True))})


@_on_one_log("replay")
def replay_command(log: Path, yes: bool, **options: Any) -> int | None:
    """Run a recording again: under its thread schedule, with its user actions, or as a user flow in a browser.

    If the program has changed since, thread switches are relocated by their source lines.

    Exit status, as `git bisect run` takes it:
      0    the program passed
      1    it failed as recorded
      125  cannot tell: it ended differently, or the replay diverged
      128 and above: no verdict
    """
    return _use_one_log("replay", log, yes=yes)


@_on_one_log("show")
def show_command(log: Path, yes: bool, **options: Any) -> int | None:
    """Show what a recording holds: thread switches drawn as lanes, user actions, or the steps of a user flow."""
    return _use_one_log("show", log, yes=yes)


@_on_one_log("minimize", more=(journal_option(),))
def minimize_command(log: Path, yes: bool, **options: Any) -> int | None:
    """Reduce a failing schedule to the choices it needs (ddmin against the default schedule)."""
    return _use_one_log("minimize", log, yes=yes)


@_on_one_log("events", more=(journal_option(),))
def events_command(log: Path, yes: bool, **options: Any) -> int | None:
    """Isolate the user actions that make a program fail.

    LOG is a GUI session, or a user flow: then this is the same as `replay-dd web`.

    Exit status:
      0  isolated
      3  the recording does not fail
      4  the failure or the answer is not reproducible
    """
    return _use_one_log("events", log, yes=yes)


@_on_one_log("web", "FLOW", more=(journal_option(),))
def web_command(log: Path, yes: bool, **options: Any) -> int | None:
    """Isolate the steps of a user flow that break a page.

    FLOW is exported as JSON by the Recorder of Chrome DevTools. It is played in a headless Chromium.

    Exit status:
      0  isolated
      3  the flow does not fail
      4  the failure or the answer is not reproducible
    """
    return _use_one_log("web", log, yes=yes)


@command(
    "schedules",
    click.Argument(["passing"], type=LOG, metavar="PASS"),
    click.Argument(["failing"], type=LOG, metavar="FAIL"),
    *options_for("schedules"),
    journal_option(),
    _yes_option(),
)
def schedules_command(passing: Path, failing: Path, yes: bool, **options: Any) -> int | None:
    """Isolate the thread switch that makes a run fail.

    PASS is the log of a run that passed, FAIL the log of one that failed.

    Exit status:
      0  isolated
      4  not reproducible
    """
    kind, other = kind_for("schedules", passing), kind_for("schedules", failing)
    own = options_of(click.get_current_context(), "schedules", kind, f"{passing} is a {kind.name}")
    logs = admit([kind, other], [passing, failing], agreed=yes)
    return kind.uses["schedules"].run(*logs, failing, **own)


@command(
    "verify-fix",
    click.Argument(["log"], type=LOG, metavar="LOG"),
    *options_for("verify-fix"),
    _yes_option(),
    click.Argument(["command"], nargs=-1, type=click.UNPROCESSED, metavar="[-- CMD...]"),
)
def verify_fix_command(log: Path, yes: bool, command: tuple[str, ...], **options: Any) -> int | None:
    """Check whether a repaired program still fails.

    LOG is the log of a run that failed before the repair. Its schedule is followed in the program as it is now, then
    schedules near it, then some that are hunted. CMD replaces the recorded command.

    Exit status, as `git bisect run` takes it:
      0    repaired: none of these schedules failed
      1    it still fails, or fails otherwise; the log of such a run is written
      125  cannot tell
      128 and above: no verdict
    """
    kind = kind_for("verify-fix", log)
    own = options_of(click.get_current_context(), "verify-fix", kind, f"{log} is a {kind.name}")
    (recording,) = admit([kind], [log], agreed=yes)
    return kind.uses["verify-fix"].run(recording, log, command=command, **own)


@command(
    "record",
    log_option(),
    Option("--no-verify", section=OUTPUT, is_flag=True, help="Do not replay the log once to check it."),
    *options_for("record"),
    program_argument(),
)
def record_command(output: Path, no_verify: bool, command: tuple[str, ...], **options: Any) -> int | None:
    """Record a run of a program: its thread schedule or, with --gui, what is done to it."""
    flags = {kind: kind.uses["record"].switch for kind in kinds_for("record")}
    chosen = [kind for kind, flag in flags.items() if flag is not None and options[str(flag.name)]]
    if len(chosen) > 1:
        raise UsageError(f"One recording is made at a time, not {listed([kind.name for kind in chosen])}.")
    (kind,) = chosen or [kind for kind, flag in flags.items() if flag is None]
    own = options_of(click.get_current_context(), "record", kind, f"This records a {kind.name}")
    return kind.uses["record"].run(output, command, verify=not no_verify, **own)
