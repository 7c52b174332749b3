"""Whether a program that is always busy (a game, an animation) has done what an action made it do.

Rules of this module:

* Such a program is never idle, but comes back to its event loop again and again, and takes its events in their order.
  So it is asked something there. A second question follows the answer to the first one: SDL answers when it collects
  events, and what it collects is handled after that, so only the second answer comes when all of it is done.
"""

from __future__ import annotations

from collections.abc import Callable

# How often a program is asked, one question after the other.
TURNS = 2

IsAnswered = Callable[[], bool]


class Turns:
    """So many questions, each of them asked when the one before it is answered.

    Args:
        ask: asks one, as :meth:`~replay_dd.events.x11.event_loop.EventLoop.ask` does.

    Attributes:
        known: whether there is somebody who would answer.
    """

    def __init__(self, ask: Callable[[], IsAnswered | None]) -> None:
        self._ask = ask
        self._left = TURNS
        self._is_answered = ask()
        self.known = self._is_answered is not None

    def are_over(self) -> bool:
        """Whether all questions are answered."""
        while self._left and self._is_answered is not None and self._is_answered():
            self._left -= 1
            if self._left:
                self._is_answered = self._ask()
        return not self._left
