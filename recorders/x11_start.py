"""How a recording with windows begins."""

from __future__ import annotations

from typing import NamedTuple

from replay_dd.events.model import Session
from replay_dd.events.x11.display import Display
from replay_dd.events.x11.program import RunningProgram
from replay_dd.events.x11.stream import InputStream


class Started(NamedTuple):
    """A program that has been started, and what is done to it."""

    stream: InputStream
    program: RunningProgram

    @classmethod
    def of(cls, head: Session, display: Display) -> Started:
        """Listen, then start the program."""
        display.connection.watch_windows()
        stream = InputStream(display.connection)
        try:
            return cls(stream, RunningProgram(head.program, display))
        except BaseException:
            stream.close()
            raise

    def close(self) -> None:
        """Stop listening, and end the program."""
        self.stream.close()
        self.program.close()
