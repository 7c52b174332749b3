"""Counts what a command costs: every process that it starts or has forked, and their processor time.

The tests of a search are only part of that: a baseline, a proof and an explanation make runs of their own.

Rules of this module:

* Processes are counted where they are made, whoever asks for them.
* A process that nobody has waited for yet has cost nothing so far: ask when all are over.
"""

from __future__ import annotations

import resource
import threading
from typing import NamedTuple


class Cost(NamedTuple):
    """What was spent.

    Attributes:
        started: processes that were started anew: fresh runs, and programs that wait to be forked.
        forked: runs that were forks of such a program.
        processor_s: seconds of processor time of this process and of all those below it.
    """

    started: int
    forked: int
    processor_s: float


class Tally:
    """Counts processes; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._started = self._forked = 0

    def started(self) -> None:
        """A program was started."""
        with self._lock:
            self._started += 1

    def forked(self) -> None:
        """A run was forked."""
        with self._lock:
            self._forked += 1

    def cost(self) -> Cost:
        """What this process has spent so far."""
        usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return Cost(self._started, self._forked, sum(usage.ru_utime + usage.ru_stime for usage in usages))


TALLY = Tally()
"""Of this process."""
