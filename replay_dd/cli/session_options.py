"""Options that the commands for GUI sessions share.

:mod:`replay_dd.cli.session_playback` evaluates them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from replay_dd.cli.command import OneOf, Option, Seconds

DEFAULT_SCREEN = "1024x768"
PLAYBACK = "Playback"
DISPLAY = "Display"
FOLDERS = "Folders"
FAILURE = "Failure"


def _players() -> Sequence[str]:
    from replay_dd.events.x11.players import PLAYERS

    return PLAYERS


def _paces() -> Sequence[str]:
    from replay_dd.events.model import Pace

    return [pace.value for pace in Pace]


def _start_limit_s() -> str:
    from replay_dd.events.run import START_LIMIT_S

    return f"{START_LIMIT_S:g}"


def _hang_limit_s() -> str:
    from replay_dd.events.run import HANG_LIMIT_S

    return f"{HANG_LIMIT_S:g}"


def stage_options(section: str) -> tuple[Option, ...]:
    """``--screen``, ``--wm``: what a private display is like."""
    return (
        Option(
            "--screen",
            section=section,
            metavar="WxH",
            shown_default=lambda: DEFAULT_SCREEN,
            help="Size of a private display in pixels.",
        ),
        Option(
            "--wm",
            section=section,
            metavar="NAME",
            help="Window manager, or `none`.",
            shown_default="the first one installed",
        ),
    )


def play_options(section: str) -> tuple[Option, ...]:
    """``--player``, ``--settle``, ``--start-limit``, ``--hang-limit``: how input is played back."""
    return (
        Option(
            "--player",
            section=section,
            type=OneOf(_players),
            shown_default=lambda: _players()[0],
            help="What sends the input.",
        ),
        settle_option(section, "Wait this long once the first window is open, for a splash screen.", "0"),
        Option(
            "--start-limit",
            section=section,
            metavar="SECONDS",
            type=Seconds(min=0.1),
            shown_default=_start_limit_s,
            help="How long the program may take to open a window.",
        ),
        Option(
            "--hang-limit",
            section=section,
            metavar="SECONDS",
            type=Seconds(min=0.1),
            shown_default=_hang_limit_s,
            help="How long the program may be busy without responding before it counts as hung.",
        ),
    )


def settle_option(section: str, help_text: str, default: str) -> Option:
    """``--settle``."""
    return Option(
        "--settle",
        section=section,
        metavar="SECONDS",
        type=Seconds(min=0),
        shown_default=default,
        help=help_text,
    )


def folder_options(section: str) -> tuple[Option, ...]:
    """``--here``, ``--home``: where the program works."""
    return (
        Option(
            "--here",
            section=section,
            is_flag=True,
            help="Let the program work in the working folder itself, and change it, instead of a fresh copy per run.",
        ),
        Option(
            "--home",
            section=section,
            metavar="DIR",
            type=click.Path(path_type=Path, file_okay=False),
            help="Copy this folder as HOME for each run.",
            shown_default="an empty HOME",
        ),
    )


def exact_site_option(section: str) -> Option:
    """``--exact-site``."""
    return Option(
        "--exact-site",
        section=section,
        is_flag=True,
        help="Treat crashes at neighbouring places in the program as different failures.",
    )


def oracle_option(section: str) -> Option:
    """``--oracle``."""
    return Option(
        "--oracle",
        section=section,
        metavar="CMD",
        help="Shell command that judges each run at its end: 0 pass, 125 cannot tell, anything else fail.",
    )


def replay_options(section: str) -> tuple[Option, ...]:
    """``--pace``, ``--wm``: ways to deviate from the recording."""
    return (
        Option("--pace", section=section, type=OneOf(_paces), help="Pauses to make.", shown_default="as the log says"),
        Option(
            "--wm", section=section, metavar="NAME", help="Another window manager than the recorded one, or `none`."
        ),
    )
