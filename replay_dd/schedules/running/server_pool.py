"""The fork servers of one program: how many there are, and who has which.

Rules of this module:

* A server brings the program up to its first thread, which may take a thousand times as long as a run. So another one
  is started only when runs have waited for a server for as long as it takes to start one: however long the search
  lasts, it then takes at most twice the processor time of the better choice (ski rental: Karlin, Manasse, Rudolph and
  Sleator, *Competitive snoopy caching*, 1988).
* Which runs are made, and what they tell, does not depend on that.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from replay_dd.experiment.forked import CannotForkError

_CLOSED = "all servers were ended"


class _Server(Protocol):
    @property
    def error(self) -> Exception | None:
        """Why no other one is to be started; None if one may be."""

    def close(self) -> None: ...


Server = TypeVar("Server", bound=_Server)


class ServerPool(Generic[Server]):
    """Servers, each used by one thread at a time; thread-safe.

    Args:
        start: starts one.
        clock: the time in seconds.

    Attributes:
        closed: whether all servers were ended.
    """

    def __init__(self, start: Callable[[], Server], clock: Callable[[], float] = time.monotonic) -> None:
        self.closed = False
        self._start = start
        self._clock = clock
        self._changed = threading.Condition()
        self._idle: list[Server] = []
        self._all: list[Server] = []
        self._starting = False
        self._error: Exception | None = None
        self._start_s = 0.0  # what the last one took
        self._waited_s = 0.0  # by all together, since the last one was started

    def take(self) -> Server:
        """A server that nobody else has.

        Raises:
            Exception: the first one could not be started; all that come later get the same.
            CannotForkError: the pool was closed meanwhile.
        """
        with self._changed:
            while not self._idle:
                if self.closed:
                    raise CannotForkError(_CLOSED)
                if self._error is not None:
                    raise self._error
                if not self._starting and (not self._all or self._waited_s >= self._start_s):
                    self._starting = True
                    break
                began = self._clock()
                self._changed.wait(None if self._starting else max(self._start_s - self._waited_s, 0))
                self._waited_s += self._clock() - began
            else:
                return self._idle.pop()
        return self._started()

    def _started(self) -> Server:
        began = self._clock()
        try:
            server = self._start()
        except BaseException as error:
            with self._changed:
                self._starting = False
                if isinstance(error, Exception):
                    self._error = error
                self._changed.notify_all()
            raise
        with self._changed:
            if self.closed:
                server.close()
                raise CannotForkError(_CLOSED)
            self._all.append(server)
            self._starting, self._error = False, server.error
            self._start_s, self._waited_s = self._clock() - began, 0.0
            self._changed.notify_all()
        return server

    def put_back(self, server: Server) -> None:
        """Let others use it."""
        with self._changed:
            self._idle.append(server)
            self._changed.notify()

    def discard(self, server: Server) -> None:
        """End a server that has made its last run."""
        with self._changed:
            if server in self._all:
                self._all.remove(server)
            self._changed.notify_all()
        server.close()

    def close(self) -> None:
        """End all servers."""
        with self._changed:
            self.closed = True
            servers, self._all, self._idle = self._all, [], []
            self._changed.notify_all()
        for server in servers:
            server.close()
