"""Where code inside of a proposed lock takes that very lock again: a plain Lock would then wait for itself.

The scheduler lets the holder have it, as if the inner ``with`` had been moved outwards; who mends the program has to do
that, or to make the lock an RLock.
"""

from __future__ import annotations

from replay_dd.schedules.experiments.proposals import is_in
from replay_dd.schedules.experiments.sources import Sources
from replay_dd.schedules.observed.observation import Observation
from replay_dd.schedules.virtual import VirtualLock

_MOST = 3  # places told


def taken_again(lock: VirtualLock, failing: Observation, sources: Sources) -> tuple[str, ...]:
    """The places, such as ``bank.py:12``, where a plain lock is taken once more within the regions it would guard.

    A ``with`` that is a statement of a region is none: it only has to reach farther (:func:`to_be_widened`).

    Args:
        lock: what is proposed.
        failing: all that the failing run accessed.
        sources: the program's sources.
    """
    if not lock.taking:
        return _reached_from_inside(lock, failing)
    widened = to_be_widened(lock, failing, sources)
    return tuple(one for one in _taken_inside(lock, failing, sources) if one not in widened)[:_MOST]


def to_be_widened(lock: VirtualLock, failing: Observation, sources: Sources) -> tuple[str, ...]:
    """The places of those ``with`` statements that are some, but not all of a region's own; arguments as above."""
    found = []
    for region in lock.regions if lock.taking else ():
        statements, parts = sources.of(region.file), sources.parts(region)
        for part in parts if statements is not None and len(parts) > 1 else ():
            if statements is not None and statements.block_with_locks(part.first) == (part.first, part.last):
                found.append(f"{part.file.rpartition('/')[2]}:{part.first}")
    return tuple(one for one in _taken_inside(lock, failing, sources) if one in found)


def _taken_inside(lock: VirtualLock, failing: Observation, sources: Sources) -> list[str]:
    found: dict[str, None] = {}
    for access in failing.accesses:
        if access.does != "acquires" or access.holder_type not in ("Lock", "lock"):
            continue
        place, statements = access.place, sources.of(access.place.file)
        if statements is None:
            continue
        named = statements.locks_at(place.line)
        same = any(statements.is_lock(name, place.line, lock.taking) for name in named)
        if same and any(is_in(frame, region) for frame in access.stack for region in lock.regions):
            found[f"{place.file.rpartition('/')[2]}:{place.line}"] = None
    return list(found)


def _reached_from_inside(lock: VirtualLock, failing: Observation) -> tuple[str, ...]:
    """Where the regions begin that are also reached from one of them."""
    found: dict[str, None] = {}
    for stack in dict.fromkeys(access.stack for access in failing.accesses):
        inside = [region for frame in stack for region in lock.regions if is_in(frame, region)]
        for region in inside[:-1]:
            found[f"{region.file.rpartition('/')[2]}:{region.first}"] = None
    return tuple(found)[:_MOST]
