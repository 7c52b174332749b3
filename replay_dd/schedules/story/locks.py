"""Which locks were held at the accesses of a story, and which guard the same things elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story.words import listed, short_file

CONSTRUCTORS = ("__init__", "__new__", "__post_init__")


def locks_in_words(failing: Observation, passing: Observation, steps: Sequence[Access]) -> Iterable[str]:
    """Which locks were held at the accesses of a story, and which guard the same things elsewhere."""
    held = {access.number: [failing.locks.get(lock, "a lock") for lock in access.held] for access in steps}
    if not any(held.values()):
        yield "none held at any of these accesses"
    else:
        common = set.intersection(*(set(access.held) for access in steps))
        rows: dict[str, list[str]] = {}
        for access in steps:
            names = listed(held[access.number]) or "no lock"
            place = f"{short_file(access.place.file)}:{access.place.line}"
            at = rows.setdefault(f"thread {access.thread} holds {names}", [])
            if place not in at:
                at.append(place)
        yield from (f"{who} at {listed(at)}" for who, at in rows.items())
        if not common:
            yield "no lock is common to them"
            counts = Counter(failing.locks.get(lock, "") for lock in {lock for access in steps for lock in access.held})
            for name, count in counts.items():
                if name and count > 1:
                    yield f"{name} is the name of {count} locks here: who has one does not keep out who has another"
    named, things = {access.name for access in steps if _is_named(access)}, {access.thing for access in steps}
    told = {(access.place.path, access.place.line) for access in steps}
    guards: dict[str, list[str]] = {}
    for run in (failing, passing):
        for access in run.accesses:
            if not access.held or (access.place.path, access.place.line) in told or _constructs(access):
                continue
            # Objects have the same numbers only within one run.
            touches = run is failing and (access.thing in things or any(access.touches(step) for step in steps))
            if touches or access.name in named:
                for lock in access.held:
                    at = guards.setdefault(run.locks.get(lock, "a lock"), [])
                    place = f"{short_file(access.place.file)}:{access.place.line}"
                    if place not in at:
                        at.append(place)
    yield from (f"{name} guards it at {listed(places[:4])}" for name, places in guards.items())


def _is_named(access: Access) -> bool:
    """Whether it is to something that has a name: of a list or a dictionary without one, only the type is told."""
    return access.thing[0] not in ("item", "whole") or access.name.partition("[")[0] != access.holder_type


def _constructs(access: Access) -> bool:
    """Whether it belongs to making an object, which no other thread knows yet: a lock held there guards nothing."""
    return access.place.function.rpartition(".")[2] in CONSTRUCTORS
