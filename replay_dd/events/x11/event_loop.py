"""Questions to a program that its event loop answers.

Rules of this module:

* Asked are windows that announce answers to a ping (``_NET_WM_PING``) and have not once failed to give one, or else the
  programs of Tk, which take scripts. Of others nothing is known.
"""

from __future__ import annotations

import contextlib

from replay_dd.events.x11.answers import Answers
from replay_dd.events.x11.tk_send import TkSend
from replay_dd.events.x11.turns import IsAnswered


class EventLoop:
    """Asks a program in its event loop.

    Args:
        answers: how the program shows that it answers.
        tk: the programs of Tk on the display.
    """

    def __init__(self, answers: Answers, tk: TkSend) -> None:
        self._answers = answers
        self._connection = answers.connection
        self._tk = tk

    def ask(self) -> IsAnswered | None:
        """Ask, and return what tells whether that is answered; None where nobody would answer."""
        with self._connection.watched():
            return self._ping() or self._ask_tk()

    def _ping(self) -> IsAnswered | None:
        if self._answers.is_silent:
            return None
        number, asked = self._connection.next_question(), False
        for window in self._answers.windows():
            with contextlib.suppress(*self._connection.bad_resource):
                asked = self._connection.ask(window, number) or asked
        self._connection.sync()

        def is_answered() -> bool:
            self._connection.take_news()
            return number in self._connection.answers

        return is_answered if asked else None

    def _ask_tk(self) -> IsAnswered | None:
        questions = [self._tk.ask(window, name, b"list 1") for window, name in self._tk.programs()]
        if not questions:
            return None

        def is_answered() -> bool:
            with self._connection.watched():
                return all(self._tk.answer(question) is not None for question in questions)

        return is_answered
