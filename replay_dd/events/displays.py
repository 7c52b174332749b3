"""A supply of fresh private displays: while one test runs, the displays for the next ones are prepared."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self

from replay_dd.events.model import Screen
from replay_dd.events.x11.display import PrivateDisplay
from replay_dd.experiment.waiting import result_of


class DisplaySupply:
    """Prepares displays in advance.

    Args:
        screen: the screen of all displays.
        window_manager: the window manager of all displays; empty for none.
        ahead: how many to keep ready.
    """

    def __init__(self, screen: Screen, window_manager: str, ahead: int = 1) -> None:
        self._screen = screen
        self._window_manager = window_manager
        self._ahead = ahead
        self._makers = ThreadPoolExecutor(ahead + 1, "replay-dd-display")
        self._made: deque[Future[PrivateDisplay]] = deque()
        self._ending: deque[Future[None]] = deque()
        self._closed = False

    def take(self) -> PrivateDisplay:
        """A fresh display; the caller closes it.

        Raises:
            ReplayDDError: displays cannot be made here.
        """
        self._fill(1)
        display = result_of(self._made.popleft())
        self._fill(self._ahead)
        if display.alive:
            return display
        display.close()  # it died while waiting
        return PrivateDisplay(self._screen, self._window_manager)

    def give_back(self, display: PrivateDisplay) -> None:
        """Close a used display in the background."""
        self._ending.append(self._makers.submit(display.close))
        while self._ending and self._ending[0].done():
            self._ending.popleft().result()

    def _fill(self, wanted: int) -> None:
        while not self._closed and len(self._made) < wanted:
            self._made.append(self._makers.submit(PrivateDisplay, self._screen, self._window_manager))

    def close(self) -> None:
        """Close the displays that were not taken."""
        self._closed = True
        for future in self._made:
            if not future.cancel() and future.exception() is None:
                future.result().close()
        self._made.clear()
        self._makers.shutdown(wait=True)
        while self._ending:
            self._ending.popleft().result()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
