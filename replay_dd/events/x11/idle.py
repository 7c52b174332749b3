"""When a program has done all that an action made it do.

The rule, as found by trying: after two round trips to the X server, every thread of the program, of the window manager
and of the server sleeps, those of the program in a call that waits for anything (poll, select, epoll, futex: a thread
that sleeps for a time, waits for a child or reads is busy), and none has run between two looks a moment apart. A thread
that reads from a terminal waits for anything, too, but the looks are then farther apart: what the terminal's window has
got reaches the thread only when the system passes it on.

No waiting reproduced 0 of 24 real crashes, round trips alone 7 of 24, this rule 24 of 24.

A program that is never idle (a game, an animation) is ready when it has answered from its event loop instead
(:mod:`replay_dd.events.x11.turns`). It is asked after the whole patience, and early once that has run out a few times.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from replay_dd.events.x11.connection import Connection
from replay_dd.events.x11.processes import ProcessTree
from replay_dd.events.x11.turns import IsAnswered, Turns

BETWEEN_LOOKS_S = 0.0003
# The system hands a terminal's input on in a task of its own, which takes its turn like any other.
BETWEEN_LOOKS_AT_TERMINAL_S = 0.02
PATIENCE_S = 1.0
SHORTEST_PATIENCE_S = 0.1
IMPATIENT_AFTER = 3
# How often in a row a program that has answered, but was not idle, has to be idle until it is trusted to be so again.
CALM_AFTER = 10
# How long a program that is never idle gets to be idle after all, before it is asked.
BEFORE_ASKING_S = 0.01
LONGEST_EXTENSION = 20  # times the patience, on a machine that is busy with other programs


class IdleRule:
    """Waits until a program is idle.

    Args:
        connection: to the display.
        trees: the processes to look at: program, window manager, X server.
        over: tells that there is nothing to wait for any more: the program has ended.
        patience_s: how long to wait at most for one action.

    Attributes:
        ask: asks the program in its event loop, as :meth:`~replay_dd.events.x11.event_loop.EventLoop.ask` does; by
            default, nobody answers.
    """

    def __init__(
        self,
        connection: Connection,
        trees: Sequence[ProcessTree],
        over: Callable[[], bool],
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._connection = connection
        self._trees = trees
        self._over = over
        self._patience_s = patience_s
        self._expired = 0
        self._until_calm = 0
        self.ask: Callable[[], IsAnswered | None] = lambda: None

    def wait(self, patience_s: float | None = None) -> bool:
        """Wait until all is idle, or ready; False where it did not become so in time, or the program has ended.

        Of a program that is never idle and answers nobody, each action costs the whole patience, so patience gets
        shorter when it has run out a few times. Where other programs keep the processors busy, patience is longer by
        the time that this one waits for a processor: else it would get the next action before it has seen this one.

        Raises:
            DisplayLostError: the display has gone.
        """
        patience = self._patience_s if patience_s is None else patience_s
        begin, starved_s = time.monotonic(), self._starved_s()
        until, extended_s = begin + patience, 0.0
        ask_at = begin + BEFORE_ASKING_S if self._is_restless else until
        turns: Turns | None = None
        self._connection.sync()
        self._connection.sync()
        while not self._over():
            if self._is_idle():
                self._until_calm -= 1
                if patience_s is None and self._until_calm <= 0:
                    self._expired = 0
                return True
            now = time.monotonic()
            if turns is None and now > ask_at:
                turns = Turns(self.ask)
                if turns.known and now > until:
                    until += patience  # as long again for the answers
            if turns is not None and turns.are_over() and self._others_sleep():
                self._until_calm = CALM_AFTER
                if not self._is_restless:
                    self._note_expiry(at_start=patience_s is not None, answered=True)
                return True
            if now > until:
                extra_s = min(self._starved_s() - starved_s, patience * (LONGEST_EXTENSION - 1))
                if extra_s > extended_s:
                    until, extended_s = until + extra_s - extended_s, extra_s
                    continue
                self._note_expiry(at_start=patience_s is not None, answered=False)
                if patience_s is None and self._is_restless:
                    self._patience_s = max(self._patience_s / 2, SHORTEST_PATIENCE_S)
                return False
            time.sleep(BETWEEN_LOOKS_S)
        return False

    def _starved_s(self) -> float:
        return sum(tree.starved_s() for tree in self._trees)

    def _is_idle(self) -> bool:
        first = []
        for tree in self._trees:
            look = tree.look()
            if look is None:
                return False
            first.append(look)
        at_terminal = any(tree.reads_terminal for tree in self._trees)
        time.sleep(BETWEEN_LOOKS_AT_TERMINAL_S if at_terminal else BETWEEN_LOOKS_S)
        return all(tree.look() == look for tree, look in zip(self._trees, first, strict=True))

    @property
    def _is_restless(self) -> bool:
        return self._expired >= IMPATIENT_AFTER

    def _others_sleep(self) -> bool:
        return all(tree.look() is not None for tree in self._trees[1:])

    def _note_expiry(self, *, at_start: bool, answered: bool) -> None:
        for tree in self._trees:
            tree.excuse_sleepers()
        if at_start and answered:
            self._expired = IMPATIENT_AFTER  # nobody has done anything yet, so it will always be like that
        elif not at_start:
            self._expired += 1
