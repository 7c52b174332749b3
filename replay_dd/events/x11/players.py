"""The players by their names."""

from __future__ import annotations

from collections.abc import Callable

from replay_dd.events.x11.display import PrivateDisplay
from replay_dd.events.x11.player import Player, XTestPlayer
from replay_dd.events.x11.player_pyautogui import PyAutoGuiPlayer, check_pyautogui

PLAYERS = ("xtest", "pyautogui")


def player_named(name: str) -> Callable[[PrivateDisplay], Player]:
    """What makes a player for a display.

    Raises:
        SoftwareMissingError: it cannot be used here.
    """
    if name == "pyautogui":
        check_pyautogui()
        return lambda display: PyAutoGuiPlayer(display.name, display.environment)
    return lambda display: XTestPlayer(display.connection)
