"""Whether a program answers: a program that waits for a lock for ever sleeps like one that has nothing to do.

Rules of this module:

* How a program shows that it answers is learned while it does: at its start, when it is idle. Only what it has shown
  there can be missed later, so that a toolkit with ways of its own is not taken for hung.
* A window that announces ``_NET_WM_PING`` (Extended Window Manager Hints 1.5, "Window Manager Protocols") is asked:
  GTK, Qt and FOX answer from their event loops. One answer is enough: a process may wait for another one's dialogue.
* Other programs (Tk, Xt, Motif) get an event that means nothing to them. The threads that it wakes are those that take
  events. If one of them later waits for a lock, without a time, and the event does not wake it, the program hangs.
* Where that is not known either, a program hangs if each of its threads waits for a lock, without a time: nobody is
  left who could take an event.
* Asked at the end of a run, and when a program does not become idle: never in between, where it would cost time.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from typing import Any

from replay_dd.events.x11.connection import Connection
from replay_dd.events.x11.idle import IdleRule
from replay_dd.events.x11.processes import ProcessTree
from replay_dd.events.x11.windows import top_windows

_TICK_S = 0.002
# A thread that was woken by chance is not woken each time.
_LESSONS = 2

Windows = Callable[[], Sequence[Any]]
"""Tells which windows a program has now (python-xlib's)."""


class Answers:
    """How a program shows that it answers.

    Args:
        connection: to the display; it must watch windows.
        tree: the program's processes.
        windows: tells its windows; None where all on the display are its.
    """

    def __init__(self, connection: Connection, tree: ProcessTree, windows: Windows | None = None) -> None:
        self.connection = connection
        self.tree = tree
        self.windows = windows or (lambda: top_windows(connection))
        self.takers: frozenset[int] = frozenset()
        self._silent = False

    @property
    def is_silent(self) -> bool:
        """Whether the program has windows that announce answers, and has never given one."""
        return self._silent and not self.connection.answers

    def learn(self, idle: IdleRule, limit_s: float, over: Callable[[], bool]) -> None:
        """See how the program answers; to be called when it is idle and has a window.

        Args:
            idle: waits until it is idle again.
            limit_s: how long an answer may take.
            over: tells that the program has ended.
        """
        question = Question(self)
        if question.asked:
            if question.wait(limit_s, over):
                return
            # A program that is busy all the time has shown nothing.
            self._silent = idle.wait()
        woken = [self._woken(idle) for _ in range(_LESSONS)]
        self.takers = frozenset.intersection(*woken)

    def nudge(self) -> None:
        """Send the program an event that means nothing to it: that the buttons of the pointer have not changed."""
        for window in self.windows():
            with self.connection.watched(), contextlib.suppress(*self.connection.bad_resource):
                self.connection.nudge(window)
        self.connection.sync()

    def _woken(self, idle: IdleRule) -> frozenset[int]:
        """The threads that an event wakes."""
        before = self.tree.look()
        self.nudge()
        after = self.tree.look() if idle.wait() else None
        if before is None or after is None:
            return frozenset()  # it is busy with something else
        return frozenset(thread for thread, _ in set(after) - set(before)) & {thread for thread, _ in before}


class Question:
    """A question to a program whether it answers; asked when it is made.

    Args:
        answers: how the program shows that it does.

    Attributes:
        asked: whether there is a window that announces an answer.
    """

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self._connection = answers.connection
        self._number = self._connection.next_question()
        self._waiting: dict[int, bytes] = {}
        self.asked = False
        for window in answers.windows():
            with self._connection.watched(), contextlib.suppress(*self._connection.bad_resource):
                self.asked = self._connection.ask(window, self._number) or self.asked
        if answers.takers and not self.counts:
            self._waiting = answers.tree.locked(answers.takers)
            answers.nudge()
        self._connection.sync()

    @property
    def counts(self) -> bool:
        """Whether a window was asked that would answer."""
        return self.asked and not self._answers.is_silent

    def is_answered(self) -> bool:
        """Whether it has been answered; where nobody was asked, whether somebody could take an event."""
        if self.counts:
            self._connection.take_news()
            return self._number in self._connection.answers
        if self._answers.tree.is_stuck():
            return False
        # A thread that has run since then has another count; one that has ended is not missed.
        self._waiting = {
            thread: progress
            for thread, progress in self._answers.tree.locked(self._waiting).items()
            if progress == self._waiting[thread]
        }
        return not self._waiting

    def stays_busy(self, limit_s: float, over: Callable[[], bool]) -> bool:
        """Whether the program is busy until the limit, and neither answers nor waits for anything meanwhile."""
        until = time.monotonic() + limit_s
        while time.monotonic() < until:
            if over() or (self.counts and self.is_answered()):
                return False
            if not self.counts and self._answers.tree.look() is not None:
                return False
            time.sleep(_TICK_S)
        return True

    def wait(self, limit_s: float, over: Callable[[], bool]) -> bool:
        """Wait for the answer; False where there is none until the limit. True, too, when the program is over."""
        until = time.monotonic() + limit_s
        while not (over() or self.is_answered()):
            if time.monotonic() > until:
                return False
            time.sleep(_TICK_S)
        return True
