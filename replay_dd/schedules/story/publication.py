"""Whether a thread shows others an object that it completes only then, in the same call or further out.

``self.phones[number] = phone`` comes before ``phone.line = 12``; ``registry.add(self)`` stands in ``__init__`` before
the attributes. Neither lock nor wait is missing there: the object must be shown last.
"""

from __future__ import annotations

from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.conflict import Conflict
from replay_dd.schedules.story.early_signal import way_to, where_they_part
from replay_dd.schedules.story.edges import adds, adds_holder
from replay_dd.schedules.story.words import at_place


def help_of_publication(kind: str, conflict: Conflict, failing: Observation) -> str:
    """What would help; empty if it is nothing like that.

    Args:
        kind: of the story.
        conflict: what the threads did in the failing run.
        failing: what the failing run accessed.
    """
    left, right = conflict.left, conflict.right
    if kind not in (kinds.TOO_EARLY, kinds.INCOMPLETE) or left is None or right is None or conflict.never:
        return ""
    shown, late = left.access, right.access
    of_it = 0 <= shown.new.number == late.thing[1] or adds_holder(shown, late) or _is_filled(shown, late, failing)
    if not of_it or late.does != "stores" or shown.thread != late.thread:
        return ""
    own = (one for one in failing.accesses if one.thread == late.thread and one.number >= late.number)
    stores = [one for one in own if one.does == "stores" and one.thing[:2] == late.thing[:2]]
    parts = [part for part in (where_they_part(way_to(shown), way_to(one)) for one in stores) if part is not None]
    if not parts or where_they_part(way_to(shown), way_to(late)) is None:
        return ""
    here, first = parts[0]
    last = max((then for _, then in parts if then.function == first.function), key=lambda then: then.line)
    does = "add to" if adds(shown) else "store"
    return f"{does} {shown.name} ({at_place(here)}) only after {at_place(last)}: as soon as it is there, others use it"


def _is_filled(shown: Access, late: Access, failing: Observation) -> bool:
    """Whether a thread puts something into a container that an attribute of the object refers to that it has shown."""
    if late.thing[0] != "item" or shown.new.number < 0:
        return False
    attributes = (one for one in failing.accesses if one.thing[:2] == ("attribute", shown.new.number))
    return any(late.thing[1] in (one.old.number, one.new.number) for one in attributes)
