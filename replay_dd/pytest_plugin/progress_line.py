"""Shows, at the end of the line that pytest is writing to a terminal, how far a hunt has come.

Rules of this module:

* The process that hunts draws: pytest's own waits, and must stay as the tests have left it.
* What is drawn leaves no trace: it fits into the line, the cursor goes back to where it was, and it is wiped out before
  pytest goes on. Where that cannot be known, nothing is drawn: in CI, in a file, with ``--quiet``, or with
  ``--capture=no``, as tests may write to the same line.
"""

from __future__ import annotations

import os
import threading
from time import monotonic, sleep
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pytest

NOWHERE = -1
_STDOUT = 1
_NAME = "replay-dd: "
_WIPE = "\x1b[K"  # from the cursor to the end of the line
_TICK_S = 1.0
_CI = ("CI", "BUILD_NUMBER")  # by these, pytest knows it, too


def terminal_for_progress(config: pytest.Config, environment: Mapping[str, str]) -> int:
    """A descriptor of the terminal to draw at, to be closed; :data:`NOWHERE` if there is none, or nobody wants that.

    Args:
        config: of this run of pytest.
        environment: its environment.
    """
    wanted = (
        config.get_verbosity() >= 0
        and config.getoption("capture", "no") != "no"
        and environment.get("TERM", "dumb") != "dumb"
        and environment.get("REPLAY_DD_PROGRESS") != "0"
        and not any(environment.get(name) for name in _CI)
    )
    return os.dup(_STDOUT) if wanted and os.isatty(_STDOUT) else NOWHERE


def room_of(config: pytest.Config) -> int:
    """How many columns are left in the line that pytest is writing; 0 if it writes in a way of its own."""
    from _pytest.terminal import TerminalReporter

    reporter = config.pluginmanager.getplugin("terminalreporter")
    if type(reporter) is not TerminalReporter:
        return 0
    reporter.flush()
    writer = config.get_terminal_writer()
    return writer.fullwidth - writer.width_of_current_line % writer.fullwidth - 1


class ProgressLine:
    """What is drawn; between :meth:`begin` and :meth:`end` only.

    Args:
        descriptor: of the terminal; :data:`NOWHERE` to draw nothing.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._room = 0
        self._began_s = 0.0
        self._words = ""
        self._drawing = threading.Lock()
        if descriptor != NOWHERE:
            threading.Thread(target=self._keep_time, daemon=True).start()

    def begin(self, room: int) -> None:
        """Something begins that may take long.

        Args:
            room: how many columns there are.
        """
        self._room, self._words = room, ""
        self._began_s = monotonic()

    def show(self, words: str) -> None:
        """Say how far it has come; what does not fit is not said."""
        with self._drawing:
            self._words = words
            self._draw()

    def show_time(self) -> None:
        """Say the same, and how long it has taken by now."""
        with self._drawing:
            if self._words:
                self._draw()

    def end(self) -> None:
        """Wipe it out."""
        with self._drawing:
            if self._words and self._room:
                self._write(_WIPE)
            self._room, self._words = 0, ""

    def _draw(self) -> None:
        text = f"{self._words}, {monotonic() - self._began_s:.0f} s"
        fitting = [one for one in (f" {_NAME}{text}", f" {text}") if len(one) <= self._room]
        if fitting:
            self._write(f"{fitting[0]}{_WIPE}\x1b[{len(fitting[0])}D")

    def _write(self, text: str) -> None:
        try:
            os.write(self._descriptor, text.encode())
        except OSError:  # the terminal is gone, the hunt goes on
            self._descriptor, self._room = NOWHERE, 0

    def _keep_time(self) -> None:
        while self._descriptor != NOWHERE:
            sleep(_TICK_S)
            self.show_time()
