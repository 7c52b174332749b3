"""Whether a program answers: a program that waits for a lock for ever sleeps like one that has nothing to do.

Rules of this module:

* A window that announces ``_NET_WM_PING`` (Extended Window Manager Hints 1.5, "Window Manager Protocols") is asked: GTK
  and FOX answer from their event loops. One answer is enough: a process may wait for the dialogue of another one.
* Where no window announces it, a program hangs if each of its threads waits for a lock, without a time: nobody is left
  who could take an event.
* Asked at the end of a run, and when a program does not become idle: never in between, where it would cost time.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from typing import Any

from replay_dd.events.x11.connection import Connection
from replay_dd.events.x11.processes import ProcessTree
from replay_dd.events.x11.windows import top_windows

_TICK_S = 0.002


class Question:
    """A question to the windows of a program whether it answers; asked when it is made.

    Args:
        connection: to the display; it must watch windows.
        tree: the program's processes.
        windows: the program's windows (python-xlib's); None for all on the display.
    """

    def __init__(self, connection: Connection, tree: ProcessTree, windows: Sequence[Any] | None = None) -> None:
        self._connection = connection
        self._tree = tree
        self._number = connection.next_question()
        self.asked = False
        for window in top_windows(connection) if windows is None else windows:
            with connection.watched(), contextlib.suppress(*connection.bad_resource):
                self.asked = connection.ask(window, self._number) or self.asked
        connection.sync()

    def is_answered(self) -> bool:
        """Whether it has been answered; where nobody was asked, whether somebody could take an event."""
        if not self.asked:
            return not self._tree.is_stuck()
        self._connection.take_news()
        return self._number in self._connection.answers

    def wait(self, limit_s: float, over: Callable[[], bool]) -> bool:
        """Wait for the answer; False where there is none until the limit. True, too, when the program is over."""
        until = time.monotonic() + limit_s
        while not (over() or self.is_answered()):
            if time.monotonic() > until:
                return False
            time.sleep(_TICK_S)
        return True
