"""Where a program stops to be forked that cannot be forked at its first thread.

Rules of this module:

* The process that cannot be forked tells an earlier occasion at which it could have been; see
  ``runtime/stdlib/early_stop.py``. The next server stops there.
* Runs tell which files they change. The program may have looked at such a file before it stopped. So where one has come
  or gone since, or was read, the server no longer stands for a fresh process, and another one takes its place.
* Where that is needed again and again, servers stop before the program's first line, where it has looked at nothing.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Collection, Iterable
from typing import NamedTuple

_MOST_STARTS = 3  # of servers that refuse: what the first run of a program leaves may shift its occasions
_MOST_RENEWALS = 4  # of servers that stop at an occasion of the program's own
_MOST_FILES = 500  # to look at after each run


class EarlyStop(NamedTuple):
    """Where a program that is to be forked stops before its first thread.

    Attributes:
        number: of the occasion at which it stops; 0 for none.
        paths: the files before whose first reading it stops.
    """

    number: int = 0
    paths: tuple[str, ...] = ()


AT_FIRST_THREAD = EarlyStop()
AT_FIRST_LINE = EarlyStop(1)


class ChangedFile(NamedTuple):
    """A file that a run has changed.

    Attributes:
        path: absolute.
        was_there: whether it was there before the run.
        was_read: whether the program had read it before it stopped to be forked.
    """

    path: str
    was_there: bool
    was_read: bool


class EarlyStops:
    """Where the servers of one program stop, one after another; thread-safe.

    Attributes:
        stop: where the next one stops.
    """

    def __init__(self) -> None:
        self.stop = AT_FIRST_THREAD
        self._lock = threading.Lock()
        self._refused = 0
        self._renewed = 0

    def after_refusal(self, stop: EarlyStop, earlier: int) -> bool:
        """Whether another server may be forked, after one that was to stop here has refused.

        Args:
            stop: where that one was to stop.
            earlier: the occasion that it tells; 0 for none.
        """
        with self._lock:
            if stop != self.stop:
                return True  # another one has refused since, and told where to stop
            if stop == AT_FIRST_LINE or not earlier:
                return False
            self._refused += 1
            self.stop = EarlyStop(earlier, stop.paths) if self._refused < _MOST_STARTS else AT_FIRST_LINE
            return True

    def after_renewal(self, changed: Iterable[ChangedFile]) -> None:
        """Another server is to take the place of one whose run has changed these files."""
        with self._lock:
            self._renewed += 1
            paths = {*self.stop.paths, *(file.path for file in changed if file.was_read)}
            learns = self._renewed <= _MOST_RENEWALS
            self.stop = EarlyStop(self.stop.number, tuple(sorted(paths))) if learns else AT_FIRST_LINE


class FilesThere:
    """The files that runs change, and which of them were there when the program stopped to be forked.

    Args:
        stop: where it stopped.
    """

    def __init__(self, stop: EarlyStop) -> None:
        self._matter = stop != AT_FIRST_LINE
        self._there: dict[str, bool] = {}

    def are_the_same(self, changed: Collection[ChangedFile]) -> bool:
        """Whether the program would have found the same now.

        Args:
            changed: the files that a run has changed.
        """
        if not self._matter:
            return True
        for file in changed:
            self._there.setdefault(file.path, file.was_there)
        return (
            not any(file.was_read for file in changed)
            and len(self._there) <= _MOST_FILES
            and all(os.path.lexists(path) == there for path, there in self._there.items())
        )
