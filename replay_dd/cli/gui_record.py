"""``replay-dd record --gui``."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from replay_dd.cli.gui_options import screen_of, stage_options
from replay_dd.cli.progress import say
from replay_dd.cli.recorders import recorder_named
from replay_dd.events.actions import actions_of
from replay_dd.events.target import describe_gui_program

Command = TypeVar("Command", bound=Callable[..., Any])


def gui_record_options(command: Command) -> Command:
    """``--gui`` and the options that go with it."""
    for option in (
        stage_options,
        click.option("--no-text", is_flag=True, help="With --gui: write `x` for each character that is typed."),
        click.option(
            "--display", metavar="NAME", help="With --gui: the display, or `new` for a private one. [default: $DISPLAY]"
        ),
        click.option("--gui", is_flag=True, help="Record what a person does to a program with windows (X11)."),
    ):
        command = option(command)
    return command


def record_gui(
    output: Path,
    command: tuple[str, ...],
    display: str | None,
    *,
    no_text: bool,
    screen: str,
    wm: str | None,
    verify: bool,
) -> None:
    """Record a session, until the program ends or Ctrl-C is pressed."""
    program = describe_gui_program(command)

    def on_ready(name: str, authority: Path | None) -> None:
        say(f"recording; the session ends with the program, or with Ctrl-C (display {name})")
        if authority is not None:
            cookie = shlex.quote(str(authority))
            say(f"look at it: `x11vnc -display {name} -auth {cookie} -localhost`, then a VNC viewer; or from a script:")
            say(f"  DISPLAY={name} XAUTHORITY={cookie} xdotool mousemove 100 100 click 1")

    made = recorder_named("x11").record(
        program,
        output,
        display=display,
        screen=screen_of(screen),
        window_manager=wm,
        mask_text=no_text,
        verify=verify,
        on_ready=on_ready,
    )
    session = made.session
    say(f"recorded in {output}: {len(session.events)} events, {len(actions_of(session))} actions")
    say(f"ending: {session.ending.text}")
    if session.verified:
        say(f"played again on a private display at the pace `{session.pace.value}`: the same windows, the same end")
    for difference in made.differences:
        say(f"warning: played again, it was not the same: {difference}")
