"""Follows the things of a story through an observed run: what they hold, and who has seen what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from replay_dd.report.held_locks import Locks
from replay_dd.report.page.markup import cut
from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.story.words import Letters

_MOST_THINGS = 6
_UNKNOWN = "?"
_LONGEST_NAME = 120
_LONGEST_VALUE = 80


class Values:
    """The values of some things, and what each thread has last seen of them.

    Args:
        names: what to follow, by name.
        letters: names the objects of the run.
        locks: the locks of the run.
    """

    def __init__(self, names: Sequence[str], letters: Letters, locks: Locks) -> None:
        self._followed = frozenset(names)  # of these, the first ones to be accessed get a line of their own
        self._letters = letters
        self._locks = locks
        self._labels: dict[tuple[str, int, str], str] = {}
        self._now: dict[tuple[str, int, str], str] = {}
        self._seen: dict[tuple[str, int, str], dict[str, str]] = {}

    def see(self, access: Access) -> str:
        """Take note of an access; returns it in words, or nothing if its thing is not followed."""
        if access.thing[0] == "lock":
            return self._locks.words(access)
        if access.name not in self._followed:
            return ""
        words = self._letters.does(access)
        if access.thing in self._labels or len(self._labels) < _MOST_THINGS:
            self._take(access)
        return words

    def _take(self, access: Access) -> None:
        thing = access.thing
        if thing not in self._labels:
            name = cut(access.name, _LONGEST_NAME)
            taken = name in self._labels.values()
            other = ""
            if taken:
                kind = access.holder_type
                holder = cut(kind if thing[0] == "global" else self._letters.name(kind, thing[1]), _LONGEST_NAME)
                other = " (its content)" if thing[0] == "whole" else f" of {holder}"
            self._labels[thing] = f"{name}{other}"
        seen = self._seen.setdefault(thing, {})
        value = access.old
        if access.does == "checks":
            text = {"True": "there", "False": "not there"}.get(value.text, _UNKNOWN)
        else:
            text = self._letters.value(value) if value.is_known else ""
        if access.reads and text:
            seen[access.thread] = text = cut(text, _LONGEST_VALUE)
        if access.writes:
            text = "nothing" if access.does == "deletes" else self._letters.value(access.new)
            seen[access.thread] = text = cut(text, _LONGEST_VALUE)
        if text:
            self._now[thing] = text

    def names(self) -> tuple[str, ...]:
        """The labels of what is followed, locks last."""
        return (*self._labels.values(), *self._locks.names().values())

    def now(self) -> Mapping[str, tuple[str, Mapping[str, str]]]:
        """For each thing by its label: its value, and what threads have last seen of it."""
        found: dict[str, tuple[str, Mapping[str, str]]] = {
            label: (self._now.get(thing, _UNKNOWN), dict(self._seen.get(thing, {})))
            for thing, label in self._labels.items()
        }
        for number, name in self._locks.names().items():
            holder = self._locks.holder(number)
            found[name] = (f"held by {holder}" if holder else "free", {})
        return found
