"""The story of a deadlock over locks: who holds what since where, and who waits for it."""

from __future__ import annotations

from replay_dd.schedules.model import Ending
from replay_dd.schedules.observation import Access, Observation
from replay_dd.schedules.story.kinds import LOCK_ORDER, SELF_DEADLOCK
from replay_dd.schedules.story.story import Step, Story, Thing, Turn, path_of
from replay_dd.schedules.story.words import Letters, listed

_MOST_PASSING = 6


def tell_deadlock(failing: Observation, passing: Observation, ending: Ending) -> Story | None:
    """The story of a deadlock in which each thread waits for a lock that the next one holds; None if it is none.

    Args:
        failing: all that the failing run accessed.
        passing: all that the passing run accessed.
        ending: how the failing run ended.
    """
    waits = _last_waits(failing, {waiter.thread for waiter in ending.deadlock})
    circle = _circle(waits)
    if not circle:
        return None
    taken = _acquired(failing, circle, {access.thing[1] for access in circle})
    first = sorted((access for own in taken.values() for access in own), key=lambda access: access.number)
    names = _names({access.thing[1]: access.name for access in (*first, *circle)})
    turns = []
    for access in circle:
        steps = [*taken[access.thread], access]
        holder = next(other.thread for other in circle if access.thing[1] in other.held)
        words = [f"takes {names[one.thing[1]]}" for one in steps[:-1]]
        words.append(f"waits for {names[access.thing[1]]}, which thread {holder} holds")
        told = [Step((one,), text) for one, text in zip(steps, words, strict=True)]
        turns.append(Turn(access.thread, path_of(access), tuple(told)))
    turns.sort(key=lambda turn: turn.steps[0].access.number)
    kind = LOCK_ORDER if len(circle) > 1 else SELF_DEADLOCK
    summary = (
        f"Each of the threads {listed(turn.thread for turn in turns)} holds a lock that the next one waits for: they "
        "take the locks in different orders."
        if len(circle) > 1
        else f"Thread {circle[0].thread} waits for a lock that it holds itself."
    )
    others = [waiter for waiter in ending.deadlock if waiter.thread not in {access.thread for access in circle}]
    return Story(
        kind=kind,
        things=tuple(Thing(name, "a lock") for name in names.values()),
        summary=summary,
        turns=tuple(turns),
        passes=f"if thread {turns[0].thread} has both locks before thread {turns[-1].thread} takes one"
        if len(circle) == 2
        else "",
        passing=tuple(_passing(passing, {(one.thread, one.place.path, one.place.line) for one in _steps(turns)})),
        waits=tuple(f"thread {waiter.thread} {waiter.explanation}" for waiter in others),
        inferred=("the kind, from who holds what and who waits for it",),
    )


def _last_waits(failing: Observation, threads: set[str]) -> dict[str, Access]:
    """For each of these threads whose last access asks for a lock: that one."""
    last = {access.thread: access for access in failing.accesses}
    return {thread: access for thread, access in last.items() if thread in threads and access.does == "wants"}


def _circle(waits: dict[str, Access]) -> list[Access]:
    """Threads of which each waits for a lock that the next one holds."""
    for first in waits.values():
        way = [first]
        while True:
            lock = way[-1].thing[1]
            holder = next((access for access in waits.values() if lock in access.held), None)
            if holder is None:
                break
            if holder in way:
                return way[way.index(holder) :]
            way.append(holder)
    return []


def _names(locks: dict[int, str]) -> dict[int, str]:
    """The locks' names, with letters if some have the same one."""
    letters = Letters()
    several = len(set(locks.values())) < len(locks)
    return {number: letters.name(name, number) if several else name for number, name in locks.items()}


def _acquired(failing: Observation, circle: list[Access], locks: set[int]) -> dict[str, list[Access]]:
    """Where each thread last took the locks that it holds."""
    found: dict[str, dict[int, Access]] = {access.thread: {} for access in circle}
    held = {access.thread: access.held for access in circle}
    for access in failing.accesses:
        lock = access.thing[1]
        if access.does == "acquires" and access.thread in found and lock in locks and lock in held[access.thread]:
            found[access.thread][lock] = access
    return {thread: list(taken.values()) for thread, taken in found.items()}


def _steps(turns: list[Turn]) -> list[Access]:
    return [step.access for turn in turns for step in turn.steps]


def _passing(passing: Observation, places: set[tuple[str, str, int]]) -> list[tuple[str, Step]]:
    """Where the threads take these locks in the passing run."""
    found = []
    for access in passing.accesses:
        if access.does == "acquires" and (access.thread, access.place.path, access.place.line) in places:
            found.append((access.thread, Step((access,), f"takes {access.name}")))
    return found[:_MOST_PASSING]
