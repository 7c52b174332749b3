"""Where code inside of a proposed lock takes that very lock again: a plain Lock would then wait for itself.

The scheduler lets the holder have it, as if the inner ``with`` had been moved outwards; who mends the program has to do
that, or to make the lock an RLock.
"""

from __future__ import annotations

from replay_dd.schedules.experiments.proposals import is_in
from replay_dd.schedules.experiments.sources import Sources
from replay_dd.schedules.observation import Observation
from replay_dd.schedules.virtual import VirtualLock

_MOST = 3  # places told


def taken_again(lock: VirtualLock, failing: Observation, sources: Sources) -> tuple[str, ...]:
    """The places, such as ``bank.py:12``, where a plain lock is taken once more within the regions it would guard.

    Args:
        lock: what is proposed.
        failing: all that the failing run accessed.
        sources: the program's sources.
    """
    if not lock.taking:
        return ()
    found: dict[str, None] = {}
    for access in failing.accesses:
        if access.does != "acquires" or access.holder_type not in ("Lock", "lock"):
            continue
        place, statements = access.place, sources.of(access.place.file)
        names = [] if statements is None else statements.locks_at(place.line)
        same = any(name.rpartition(".")[2] == lock.taking.rpartition(".")[2] for name in names)
        if same and any(is_in(frame, region) for frame in access.stack for region in lock.regions):
            found[f"{place.file.rpartition('/')[2]}:{place.line}"] = None
    return tuple(found)[:_MOST]
