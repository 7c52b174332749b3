"""Players: they do the inputs of actions on a display.

A player does one elementary input at a time and knows nothing of actions, idle programs or pauses.
"""

from __future__ import annotations

from typing import Protocol

from replay_dd.events.model import Input, InputKind
from replay_dd.events.x11.connection import (
    BUTTON_PRESS,
    BUTTON_RELEASE,
    KEY_PRESS,
    KEY_RELEASE,
    MOTION_NOTIFY,
    Connection,
)
from replay_dd.events.x11.keys import Keyboard


class Player(Protocol):
    """Does inputs on a display."""

    def play(self, item: Input) -> None:
        """Do one input; it may be sent to the display later."""

    def flush(self) -> None:
        """Send what was not sent yet, and wait until the display has it."""

    def close(self) -> None:
        """Let go of whatever it needs."""


class XTestPlayer:
    """The extension XTEST: input that programs cannot tell from a person's.

    Args:
        connection: to the display.

    Raises:
        ExtensionMissingError: the display has no XTEST.
    """

    def __init__(self, connection: Connection) -> None:
        connection.use_xtest()
        self._connection = connection
        self._keyboard = Keyboard(connection)

    def play(self, item: Input) -> None:
        """Do one input.

        Raises:
            NoSuchKeyError: no key can make the symbol.
        """
        match item.kind:
            case InputKind.MOVE:
                self._connection.fake(MOTION_NOTIFY, 0, item.x_px, item.y_px)
            case InputKind.BUTTON_PRESS:
                self._connection.fake(BUTTON_PRESS, item.button)
            case InputKind.BUTTON_RELEASE:
                self._connection.fake(BUTTON_RELEASE, item.button)
            case InputKind.KEY_PRESS | InputKind.KEY_RELEASE:
                key = self._keyboard.key_for(item.key)
                self._connection.fake(KEY_PRESS if item.kind is InputKind.KEY_PRESS else KEY_RELEASE, key)

    def flush(self) -> None:
        """Wait until the server has taken all."""
        self._connection.sync()

    def close(self) -> None:
        """Nothing: the connection is the display's."""
