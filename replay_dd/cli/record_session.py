"""``replay-dd record --gui``: record what is done to a program."""

from __future__ import annotations

import shlex
from pathlib import Path

from replay_dd.cli.output import echo_json
from replay_dd.cli.program_under_test import check_script
from replay_dd.cli.progress import say
from replay_dd.cli.recorders import recorder_named
from replay_dd.cli.session_playback import say_where, screen_of
from replay_dd.errors import EXIT_INTERRUPTED
from replay_dd.errors.program import NoWindowError
from replay_dd.errors.user import UsageError
from replay_dd.events.actions import actions_of
from replay_dd.events.failure_signature import told_with_output
from replay_dd.events.target import describe_gui_program
from replay_dd.report.events import session_as_json
from replay_dd.report.isolation import counted
from replay_dd.report.runs import recording_as_json

_PRIVATE = "new"


def record_session(
    output: Path,
    command: tuple[str, ...],
    *,
    verify: bool,
    display: str | None,
    screen: str | None,
    wm: str | None,
    no_text: bool,
    for_s: float | None,
    here: bool,
    home: Path | None,
    as_json: bool,
) -> int:
    """Record a session until the program ends or Ctrl-C is pressed; returns the exit status.

    Raises:
        UsageError: the options contradict each other.
        ReplayDDError: the display cannot be used, or the log cannot be written.
    """
    if screen is not None and display != _PRIVATE:
        raise UsageError(
            "`--screen` is the size of a private display; this records on a display that has its own.",
            "Add `--display new`, or leave `--screen` out.",
        )
    check_script(command)
    program = describe_gui_program(command, here=here, home=home)
    say_where(program)

    def on_ready(name: str, authority: Path | None) -> None:
        ends = (
            "with the program or with Ctrl-C"
            if for_s is None
            else f"with the program, with Ctrl-C, or after {for_s:g} s"
        )
        say(f"recording; the session ends {ends} (display {name})")
        if authority is not None:
            cookie = shlex.quote(str(authority))
            say(f"to see it: `x11vnc -display {name} -auth {cookie} -localhost` and a VNC viewer; from a script:")
            say(f"  DISPLAY={name} XAUTHORITY={cookie} xdotool mousemove 100 100 click 1")

    made = recorder_named("x11").record(
        program,
        output,
        display=display,
        screen=screen_of(screen),
        window_manager=wm,
        mask_text=no_text,
        verify=verify,
        limit_s=for_s,
        on_ready=on_ready,
    )
    session = made.session
    if as_json:
        echo_json(recording_as_json("GUI session", output, session_as_json(session)))
    size = f"{counted(len(session.events), 'event')}, {counted(len(actions_of(session)), 'action')}"
    say(f"recorded in {shlex.quote(str(output))}: {size}")
    # A program that was used may have written anything; one that was not says why.
    said = session.ending.failed or not session.windows
    say(f"ending: {told_with_output(session.ending) if said else session.ending.text}")
    if not session.windows:
        raise NoWindowError(
            "The program opened no window that could be recorded.",
            "Check that it is a GUI program, and that it does not hand over to one that runs already.",
        )
    if session.verified:
        say(f"verified on a private display at the pace `{session.pace.value}`: same windows, same ending")
    if made.unknown_keys:
        codes = ", ".join(map(str, made.unknown_keys))
        say(f"warning: keys without a symbol on this keyboard are not in the log (key codes {codes})")
    for difference in made.differences:
        say(f"warning: the replay differed: {difference}")
    if made.interrupted:
        say("warning: the replay that checks it was interrupted; the log is whole")
        return EXIT_INTERRUPTED
    return 0
