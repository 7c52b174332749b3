"""Who holds which lock in an observed run, and who waits for one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story.words import Letters

_LONGEST_NAME = 120


class Locks:
    """Who holds which lock, and who waits for one.

    Args:
        observation: the run.
        letters: names its objects.
        called: the names of locks that are known, by the thread, file and line that takes them.
    """

    def __init__(
        self, observation: Observation, letters: Letters, called: Mapping[tuple[str, str, int], str] | None = None
    ) -> None:
        shown: dict[int, str] = {}
        wanted_by: dict[int, set[str]] = {}
        for access in observation.accesses:
            if access.thing[0] == "lock":
                wanted_by.setdefault(access.thing[1], set()).add(access.thread)
                # A lock that is only ever passed once is a part of something else, such as the start of a thread.
                if access.thing[1] in observation.locks or len(wanted_by[access.thing[1]]) > 1:
                    shown.setdefault(access.thing[1], access.name[:_LONGEST_NAME])
                name = (called or {}).get((access.thread, access.place.path, access.place.line))
                if name and access.does == "acquires" and access.thing[1] in shown:
                    shown[access.thing[1]] = name[:_LONGEST_NAME]
        times = Counter(shown.values())
        self._names = {
            number: letters.name(name, number) if times[name] > 1 else name for number, name in shown.items()
        }
        self._held: dict[str, tuple[int, ...]] = {}
        self._wanted: dict[str, int] = {}

    def names(self) -> Mapping[int, str]:
        """The locks that are shown, by number."""
        return self._names

    def held(self) -> Mapping[str, tuple[int, ...]]:
        """The locks that each thread holds now."""
        return {thread: locks for thread, locks in self._held.items() if locks}

    def holder(self, lock: int) -> str:
        """The thread that holds a lock now; empty if none does."""
        return next((thread for thread, locks in self._held.items() if lock in locks), "")

    def wanted_by(self, thread: str) -> str:
        """The name of the lock that a thread waits for; empty if it waits for none."""
        return self._names.get(self._wanted.get(thread, -1), "")

    def see(self, access: Access) -> None:
        """Take note of an access."""
        lock = access.thing[1]
        self._wanted.pop(access.thread, None)
        held = [one for one in access.held if one in self._names]
        if access.thing[0] == "lock" and lock in self._names:
            if access.does == "wants":
                self._wanted[access.thread] = lock
            elif access.does == "acquires" and lock not in held:
                held.append(lock)
        self._held[access.thread] = tuple(held)
        for thread, locks in self._held.items():
            if thread != access.thread:  # nobody else can hold what this thread holds
                self._held[thread] = tuple(one for one in locks if one not in held)

    def ended(self, thread: str) -> None:
        """A thread has ended: it holds nothing any more."""
        self._held.pop(thread, None)
        self._wanted.pop(thread, None)

    def words(self, access: Access) -> str:
        """What an access to a lock does; empty if it is not shown."""
        name = self._names.get(access.thing[1])
        if name is None:
            return ""
        if access.does == "wants":
            holder = self.holder(access.thing[1])
            return f"waits for {name}, which {holder} holds" if holder and holder != access.thread else ""
        return {"acquires": f"takes {name}", "gives up": f"gives up waiting for {name}"}.get(access.does, "")
