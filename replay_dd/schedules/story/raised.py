"""The look that made the program raise an exception of its own: ``if not self.open: raise Closed``.

No access failed there, so none shows itself as the victim. But the statement before the ``raise`` looked at something,
and what it found was put there by another thread. Or it found None, which fails only where it is used.

Rules of this module:

* Only what the thread looked at last, in the very function that raised, and decided by, counts.
* The value must be what another thread stored last, and differ from all that this look finds in the passing run.
* A look that found None counts if the passing run finds something there, and the exception complains about None.
"""

from __future__ import annotations

from replay_dd.schedules.model import Ending, UncaughtException
from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story.victim import finds_none, is_raised, same_look

_MOST_LINES = 3  # between a look and the `raise` that it decides


def deciding_look(failing: Observation, passing: Observation, ending: Ending) -> Access | None:
    """The look that decided that an exception was raised; None if none is seen.

    Args:
        failing: all that the failing run accessed.
        passing: all that the passing run accessed.
        ending: how the failing run ended.
    """
    for error in ending.exceptions:
        look = _last_look(failing, error)
        if look is None or not _by_another(failing, look):
            continue
        usual = [one for one in passing.accesses if _place(one) == _place(look) and one.name == look.name]
        if usual and not any(one.old.same(look.old) for one in usual):
            return look
    return _used_none(failing, passing, ending)


def _used_none(failing: Observation, passing: Observation, ending: Ending) -> Access | None:
    """The look that found None where the passing run finds something; what was made of it raised an exception."""
    if not any("'NoneType' object" in error.text for error in ending.exceptions):
        return None
    usual = {
        same_look(one) for one in passing.accesses if one.does == "reads" and one.old.is_known and not finds_none(one)
    }
    looks = [one for one in failing.accesses if one.does == "reads" and one.old.text == "None" and not one.tested]
    return next((one for one in reversed(looks) if is_raised(one, ending) and same_look(one) in usual), None)


def _last_look(failing: Observation, error: UncaughtException) -> Access | None:
    frame = error.innermost
    if frame is None:
        return None
    own = [one for one in failing.accesses if one.stack and one.stack[0].file == frame.file]
    inside = [one for one in own if one.place.function == frame.function and one.place.line <= frame.line]
    thread = inside[-1].thread if inside else ""
    before = [one for one in inside if one.thread == thread and one.place.line < frame.line]  # than the `raise` itself
    last = before[-1] if before else None
    near = last is not None and last.tested and not last.writes and frame.line - last.place.line <= _MOST_LINES
    return last if near else None


def _by_another(failing: Observation, look: Access) -> bool:
    """Whether what it found is what another thread stored last."""
    stores = [one for one in failing.accesses if one.number < look.number and one.writes and one.thing == look.thing]
    if not stores or stores[-1].thread == look.thread:
        return False
    there = stores[-1].does != "deletes" and not stores[-1].new.is_missing
    return stores[-1].new.same(look.old) or (look.does == "checks" and look.old.text == str(there))


def _place(access: Access) -> tuple[str, int]:
    return access.place.path, access.place.line
