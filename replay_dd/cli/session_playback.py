"""Screens and playback conditions from the options of GUI sessions."""

from __future__ import annotations

import re
from pathlib import Path

from replay_dd.cli.progress import say
from replay_dd.cli.session_options import DEFAULT_SCREEN
from replay_dd.errors.user import UsageError
from replay_dd.events.model import GuiProgram, Pace, Playback, Screen
from replay_dd.events.run import HANG_LIMIT_S, START_LIMIT_S, Conditions
from replay_dd.events.surroundings import differences, surroundings
from replay_dd.events.x11.players import PLAYERS, player_named
from replay_dd.experiment.working_copy import size_of_copy

_LARGEST_PX = 32_767  # positions are signed numbers of 16 bits
_SIZE = re.compile(r"^(\d{2,5})x(\d{2,5})(?:x(8|15|16|24|30|32))?$")


def screen_of(text: str | None) -> Screen:
    """The screen that ``--screen`` names.

    Raises:
        UsageError: it names none.
    """
    found = _SIZE.match(text or DEFAULT_SCREEN)
    if found is None:
        raise UsageError(
            f"{text!r} is not a screen size.", "Give width and height in pixels, such as `--screen 1024x768`."
        )
    if max(int(found[1]), int(found[2])) > _LARGEST_PX:
        raise UsageError(f"The screen {text} is too large.", f"X has no more than {_LARGEST_PX} pixels in a row.")
    return Screen(int(found[1]), int(found[2]), int(found[3] or 24))


def say_where(program: GuiProgram) -> None:
    """Say whether a program works in its folder itself or in copies of it."""
    if program.here:
        say(f"the program works in {program.directory} itself: what it changes there stays changed")
    else:
        say(f"the program works in a copy of {program.directory}: what it changes there is lost (`--here` keeps it)")
        taken = size_of_copy(Path(program.directory))
        if taken.is_slow:
            say(
                f"warning: each run copies {taken.files:,} files of {taken.size >> 20:,} MB, most of it in "
                f"{taken.largest or 'no file'}, which takes time: move what the program does not need, or use `--here`"
            )


def say_what_differs(program: GuiProgram) -> None:
    """Say what a recording depended on and this machine does not have, or has otherwise."""
    for told in differences(program.surroundings, surroundings() if program.surroundings else {}):
        say(f"warning: {told}; windows may look different, and a failure may not show")


def conditions_of(
    player: str | None = None,
    settle: float | None = None,
    start_limit: float | None = None,
    hang_limit: float | None = None,
    pace: Pace = Pace.FAST,
    recorded: Playback | None = None,
) -> Conditions:
    """The conditions of playback; None stands for what the log says, and that for a default.

    Raises:
        SoftwareMissingError: the player cannot be used.
    """
    recorded = recorded or Playback()
    player = player or recorded.player
    start_limit = recorded.start_limit_s if start_limit is None else start_limit
    hang_limit = recorded.hang_limit_s if hang_limit is None else hang_limit
    return Conditions(
        pace=pace,
        settle_s=recorded.settle_s if settle is None else settle,
        linger_s=recorded.linger_s,
        start_limit_s=START_LIMIT_S if start_limit is None else start_limit,
        hang_limit_s=HANG_LIMIT_S if hang_limit is None else hang_limit,
        player=player_named(player or PLAYERS[0]),
        player_name=player,
    )
