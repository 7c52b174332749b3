"""For how long a run waits, in real time, for what came in the recorded run; and when it stops waiting.

Rules of this module:

* What both ends of are in this process is there at once, or never: everybody else waits for the baton.
* A run that is to be repeated exactly has told how long it took. What takes much longer than all of that will not come.
  So the reason is told before the time limit, and in time for it.
* The rest of what has begun to arrive is close behind; so less time is left for that.
* Once a run cannot be the recorded one any more, waiting for other things that the log expects gains nothing.
"""

from __future__ import annotations

# Where the source of what a thread waits for is.
INSIDE = 0  # both ends are in this process: nothing arrives while the baton is held
NEAR = 1  # both ends are in this process, connected through the system's network stack
LISTENING = 2  # whoever connects may or may not be a thread of this process
OUTSIDE = 3

GRACE_S = 0.05  # for what is NEAR: longer than the network stack needs while its buffers have room
_EXACT_NEAR_S = 2.0  # the same where the very run is repeated: it did come, and the kernel of a busy machine stalls
PATIENCE_S = 10.0  # for what arrived in the recorded run, as machines and loads differ; for what is in flight
EXACT_PATIENCE_S = 60.0  # the same where the very run is repeated, if it is not known how long it took
_LISTENING_PATIENCE_S = 1.0  # clients are usually threads of this process, and wait for the baton meanwhile
_REST_S = 3.0  # for the rest of what has begun to arrive, beside the time that the recorded run took
_NOBODY_LISTENS_S = 1.5  # where a server refuses, and no process that could become one was started


class Patience:
    """How long this run waits.

    Attributes:
        exact: whether it repeats the recorded run, and not a mixture with another one.
        lost: whether it cannot be the recorded run any more.
        starts_processes: whether this process has started others; one of them may be a server that comes up.
        rest_s: for how long it waits for the rest of what has begun to arrive.
    """

    def __init__(self) -> None:
        self.exact = self.lost = self.starts_processes = False
        self._exact_s, self.rest_s = EXACT_PATIENCE_S, _REST_S

    def follow(self, exact: bool, patience_s: float, recorded_s: float) -> None:
        """Repeat a run.

        Args:
            exact: whether it is to be the very run.
            patience_s: how long to wait for one thing then; 0 where nobody knows.
            recorded_s: how long that run took as a whole.
        """
        self.exact, self.lost = exact, False
        self._exact_s = patience_s or EXACT_PATIENCE_S
        self.rest_s = min(_REST_S + recorded_s, self._exact_s if exact else PATIENCE_S)

    def seconds(self, nature: int, sender_runs: bool) -> float:
        """For what comes from there; ``sender_runs``: although it is in this process, somebody may be sending it."""
        if self.lost:
            return GRACE_S
        if nature < LISTENING and not sender_runs:
            return _EXACT_NEAR_S if self.exact and nature == NEAR else GRACE_S
        if nature == LISTENING:
            return _LISTENING_PATIENCE_S if self.exact else GRACE_S
        if self.exact:
            return self._exact_s
        return PATIENCE_S if nature == OUTSIDE else GRACE_S

    def seconds_if_refused(self, nature: int, sender_runs: bool) -> float:
        """For a server that refuses connections."""
        usual_s = self.seconds(nature, sender_runs)
        return usual_s if self.starts_processes or sender_runs else min(usual_s, _NOBODY_LISTENS_S)

    def rest_seconds(self, nature: int, sender_runs: bool) -> float:
        """For the rest of what has begun to arrive."""
        return min(self.rest_s, self.seconds(nature, sender_runs))
