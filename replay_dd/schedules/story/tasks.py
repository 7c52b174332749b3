"""The race of two tasks of one event loop: one goes on after an ``await`` with what another one has changed meanwhile.

To the scheduler they are one thread, and it does not choose between them. But it chooses when other threads wake them,
and so the order in which they go on.

Rules of this module:

* What one task has read, and then stores in the same function, belongs together. It is told if another task of the
  same thread stores there in between, and no task does so at these lines in the passing run.
* Tasks are named after their thread, with a number each, in the order in which they first access anything.
* No order of tasks can be tried: the story is inferred from what was seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from replay_dd.schedules.model import Ending
from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.story.story import Story
from replay_dd.schedules.story.tell import tell_race
from replay_dd.schedules.story.words import short_file

_INFERRED = "that these tasks decide: in the passing run, none comes between these two lines of another one"
_Key = tuple[str, str, int, int]


class _Torn(NamedTuple):
    """What a task read, what it then stored, and what other tasks stored in between."""

    first: Access
    last: Access
    others: tuple[Access, ...]

    @property
    def key(self) -> _Key:
        """What makes it the same one in another run."""
        return self.first.place.path, self.first.name, self.first.place.line, self.last.place.line


def tell_tasks(failing: Observation, passing: Observation, ending: Ending) -> tuple[Conflict, Story] | None:
    """The story of two tasks; None if what was seen shows none.

    Args:
        failing: all that the failing run accessed.
        passing: all that the passing run accessed.
        ending: how the failing run ended.
    """
    failing, passing = _named(failing), _named(passing)
    usual = {torn.key for torn in _torn_by_tasks(passing)}
    torn = next((one for one in _torn_by_tasks(failing) if one.key not in usual), None)
    if torn is None:
        return None
    first, last = torn.first, torn.last
    own = [one for one in failing.accesses if one.thread == first.thread]
    stretch = tuple(
        one for one in failing.accesses if first.number < one.number < last.number and one.thread != first.thread
    )
    before = tuple(one for one in own if one.number < torn.others[0].number)
    after = tuple(one for one in own if one.number > torn.others[0].number)
    left, right = Edge(first, torn.others, inferred=False), Edge(last, torn.others, inferred=False)
    conflict = Conflict(first.thread, left, right, before[-1].place, stretch, before, after, of_tasks=True)
    story = tell_race(conflict, failing, passing, ending)
    if story is None:
        return None
    file = short_file(first.place.file)
    here = f"{file}:{first.place.line} to {file}:{last.place.line}"
    words = f"hold an `asyncio.Lock` from {here}, or read {first.name} again after what is awaited in between"
    return conflict, story._replace(help=words, inferred=(*story.inferred, _INFERRED))


def _named(observed: Observation) -> Observation:
    """An observation in which each task has a name of its own."""
    return observed.apart(lambda one: f"task {one.task}" if one.task else "")


def _torn_by_tasks(observed: Observation) -> Iterator[_Torn]:
    for last in observed.accesses:
        if not last.task or last.does != "stores":
            continue
        same = [one for one in observed.accesses if one.number < last.number and one.thing == last.thing]
        own = [one for one in same if one.thread == last.thread]
        first = own[-1] if own else None
        if first is None or not first.reads or first.place.function != last.place.function:
            continue
        loop = last.thread.partition(" ")[0]
        others = [one for one in same if one.number > first.number and one.task and one.writes]
        others = [one for one in others if one.thread.partition(" ")[0] == loop]
        if others:
            yield _Torn(first, last, tuple(others))
