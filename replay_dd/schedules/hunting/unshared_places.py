"""Places at which threads share nothing, so that the runs of a hunt need not note what is touched there.

Rules of this module:

* Notes take most of the time of a run with much library code, and nearly all of them are of things of one thread only.
* What is shared shows in runs that note everything: the first ones, and later those that bring threads abreast or draw
  where to switch. A place where one of these touched what threads share, or may come to share, is noted ever after.
* None are left out before such a run shows hardly any new place, nor where that would save little.
"""

from __future__ import annotations

from replay_dd.schedules.hunting.likely_preemptions import shared_places
from replay_dd.schedules.running.target import TargetRun

_NEWS = 10  # a run that adds at most one in so many to the places known shows hardly any new one
_FEW_TOUCHES = 500  # of a run: to note them takes some 10 ms, less than the rest of it


class UnsharedPlaces:
    """Learns from runs that note everything where nothing is shared."""

    def __init__(self) -> None:
        self._reached: set[int] = set()
        self._shared: set[int] = set()
        self._settled = False
        self._touches = 0

    def learn(self, run: TargetRun) -> None:
        """Take a run that noted everything."""
        new = shared_places(run.touches, run.alternatives) - self._shared
        self._shared |= new
        self._reached |= {touch.place for touch in run.touches} | run.untouched
        self._settled = len(new) * _NEWS <= len(self._shared)
        self._touches = len(run.touches)

    @property
    def known(self) -> tuple[int, ...]:
        """The keys of the places to be left out, in ascending order; none before it is known, or if it saves little."""
        if self._settled and self._touches > _FEW_TOUCHES:
            return tuple(sorted(self._reached - self._shared))
        return ()
