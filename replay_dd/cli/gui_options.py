"""Options that the commands for sessions with windows share, and what they turn into."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

import click

from replay_dd.errors.user import UsageError
from replay_dd.events.model import Pace, Screen
from replay_dd.events.trial import HANG_LIMIT_S, START_LIMIT_S, Conditions
from replay_dd.events.x11.players import PLAYERS, player_named

Command = TypeVar("Command", bound=Callable[..., Any])

_SIZE = re.compile(r"^(\d{2,5})x(\d{2,5})(?:x(8|15|16|24|30|32))?$")


def stage_options(command: Command) -> Command:
    """``--screen``, ``--wm``: what a private display is like."""
    for option in (
        click.option("--wm", metavar="NAME", help="Window manager, or `none`. [default: the first one installed]"),
        click.option("--screen", metavar="WxH", default="1024x768", show_default=True, help="Size of the screen."),
    ):
        command = option(command)
    return command


def play_options(command: Command) -> Command:
    """``--player``, ``--settle``, ``--start-limit``, ``--hang-limit``: how a program is played to."""
    for option in (
        click.option(
            "--hang-limit",
            metavar="S",
            type=click.FloatRange(min=0.1),
            default=HANG_LIMIT_S,
            show_default=True,
            help="A program that is busy so long without answering hangs.",
        ),
        click.option(
            "--start-limit",
            metavar="S",
            type=click.FloatRange(min=0.1),
            default=START_LIMIT_S,
            show_default=True,
            help="Seconds the program may take to open a window.",
        ),
        click.option(
            "--settle",
            metavar="S",
            type=click.FloatRange(min=0),
            help="Seconds to wait when the window is there (splash screens); of a user flow, at its end.",
        ),
        click.option(
            "--player", type=click.Choice(PLAYERS), default=PLAYERS[0], show_default=True, help="What plays the inputs."
        ),
    ):
        command = option(command)
    return command


def pace_option(command: Command) -> Command:
    """``--pace``."""
    return click.option(
        "--pace",
        type=click.Choice([pace.value for pace in Pace]),
        help="Which pauses to make. [default: as the log says]",
    )(command)


def screen_of(text: str) -> Screen:
    """The screen that ``--screen`` names.

    Raises:
        UsageError: it names none.
    """
    found = _SIZE.match(text)
    if found is None:
        raise UsageError(f"The screen {text!r} is no size.", "Give width and height in pixels: `--screen 1024x768`.")
    return Screen(int(found[1]), int(found[2]), int(found[3] or 24))


def conditions_of(
    player: str, settle: float | None, start_limit: float, hang_limit: float, pace: Pace = Pace.FAST
) -> Conditions:
    """How runs are made.

    Raises:
        SoftwareMissingError: the player cannot be used.
    """
    return Conditions(
        pace=pace,
        settle_s=settle or 0.0,
        start_limit_s=start_limit,
        hang_limit_s=hang_limit,
        player=player_named(player),
    )
