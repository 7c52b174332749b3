"""A check that no longer held when its thread acted on it, wherever in the failing run that was.

The isolated switch may only have kept a lock from the others, so that they came to it all at once: with one check made,
and none of the acts. Then nothing at that switch, nor at another choice, touches what they share; a wait for the lock
parts the check from the act.

Rules of this module:

* Only what the failing line finds counts, as many checks are made anew elsewhere, or harm nobody.
* The act is the thread's next change of the same thing, further down in the same function, with no other check of it in
  between. What others have changed there by then makes the check untrue.
* In the passing run, no thread acts at that line on a check that others have made untrue.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from replay_dd.schedules.model import Ending
from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story.conflict import Conflict, Edge, checks, one_thing
from replay_dd.schedules.story.interrupted_check import makes_untrue

_MOST_CHECKS = 20  # of one thread that it may still act on
INFERRED = "that the failing line finds what this check led to: nothing at a switch between threads shows it"


def outdated_check(failing: Observation, passing: Observation, ending: Ending) -> Conflict | None:
    """The conflict of the first check that was outdated at its act; None if there is none.

    Args:
        failing: all that the failing run accessed.
        passing: all that the passing run accessed.
        ending: how the failing run ended.
    """
    found = _at_failing_line(failing, ending)
    usual = {(_line(look), _line(act)) for look, act, _ in _outdated(passing)}
    for look, act, changes in _outdated(failing):
        if (_line(look), _line(act)) not in usual and any(one_thing(one, act) for one in found):
            return _conflict(failing, look, act, changes)
    return None


def _at_failing_line(failing: Observation, ending: Ending) -> list[Access]:
    ends = [*ending.exceptions, *([] if ending.exit is None else [ending.exit])]
    frames = [error.innermost for error in ends]
    lines = {(frame.file, frame.line) for frame in frames if frame is not None}
    return [one for one in failing.accesses if one.stack and (one.stack[0].file, one.stack[0].line) in lines]


def _outdated(run: Observation) -> Iterator[tuple[Access, Access, tuple[Access, ...]]]:
    """(a check, what its thread does then, what others have changed in between), in the order of what is done."""
    checked: defaultdict[str, list[tuple[int, Access]]] = defaultdict(list)
    for at, access in enumerate(run.accesses):
        looks = checked[access.thread]
        if not checks(access) and not access.changes:
            continue
        of_it = [one for one in looks if one_thing(one[1], access)]
        looks[:] = [one for one in looks[-_MOST_CHECKS:] if one not in of_it]
        if checks(access):
            looks.append((at, access))
        elif of_it and _is_below(access, of_it[-1][1]):
            since, look = of_it[-1]
            between = run.accesses[since + 1 : at]
            changes = tuple(one for one in between if one.thread != access.thread and makes_untrue(one, look))
            if changes:
                yield look, access, changes


def _is_below(act: Access, look: Access) -> bool:
    here, there = act.place, look.place
    return (here.path, here.function) == (there.path, there.function) and here.line > there.line


def _line(access: Access) -> tuple[str, int]:
    return access.place.path, access.place.line


def _conflict(failing: Observation, look: Access, act: Access, changes: tuple[Access, ...]) -> Conflict:
    own = [one for one in failing.accesses if one.thread == look.thread]
    before = tuple(one for one in own if one.number < changes[0].number)
    after = tuple(one for one in own if one.number > changes[-1].number)
    stretch = tuple(
        one
        for one in failing.accesses
        if one.thread != look.thread and before[-1].number < one.number < after[0].number
    )
    left, right = (Edge(one, changes, inferred=False) for one in (look, act))
    return Conflict(look.thread, left, right, None, stretch, before, after)
