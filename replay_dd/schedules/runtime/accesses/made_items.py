"""Items and attributes that are stored after code of the program has run; other threads may run in between.

Rules of this module:

* `collections.defaultdict` calls its factory and stores the result, `lru_cache` and `cached_property` the function. The
  look is told like any other; the item is told as a store of its own, as soon as it is there.
* A dictionary asks the key for its hash, and whether it equals another one, before it stores. That is told only once it
  is done.
* A lookup is over when its thread runs something else than what was called by it. Its frame is kept until then.
"""

from __future__ import annotations

from ..compat import CACHE
from . import values
from .access import ATTRIBUTE, ITEM, READS, STORES, Access

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any, NamedTuple

    from ..baton.thread import ManagedThread
    from ..points.place import Place

    class Lookup(NamedTuple):
        """A lookup that found nothing, of a mapping that then makes the item; or a late store."""

        thread: ManagedThread
        frame: FrameType
        position: int
        stack: int
        place: Place
        access: Access


class MadeItems:
    """Knows which items are being made."""

    def __init__(self) -> None:
        self._begun: list[tuple[Lookup, object]] = []  # with what another thread has put there meanwhile

    def begin(self, lookup: Lookup) -> None:
        """A thread is about to look an item up, or to store one late."""
        access = lookup[-1]
        self._begun.append((lookup, access.old if access.late else values.MISSING))

    def made(self, present: ManagedThread, frame: FrameType | None) -> list[tuple[Lookup, Access]]:
        """The items that were made since the last call, with the store of each.

        Args:
            present: the thread that runs.
            frame: where it runs.
        """
        begun, self._begun = self._begun, []
        stores = []
        for lookup, before in begun:
            access = lookup[-1]
            found = _kept(access)
            if _goes_on(lookup, present, frame):
                self._begun.append((lookup, found))
            elif access.late:
                access.old = before
                if found is not before or _is_a_value(access.holder, access.new):
                    stores.append((lookup, access))
            elif found is not values.MISSING and found is not values.UNKNOWN:
                store = Access(STORES, access.sort, access.holder, access.key, access.name)
                store.old, store.new = before, found
                if access.fills and access.sort == ITEM:  # it is not the result itself that is kept there
                    store.old = before if before is values.MISSING else values.UNKNOWN
                    store.new = values.UNKNOWN
                stores.append((lookup, store))
        return stores


def makes_items(access: Access) -> bool:
    """Whether a look at an item or attribute makes it."""
    if access.sort == ATTRIBUTE:
        return access.fills
    if access.does != READS or access.sort != ITEM or access.old is not values.MISSING:
        return False
    if access.fills:
        return True
    mapping: Any = access.holder
    if not values.is_a(mapping, dict) or access.looked_up is values.UNKNOWN:
        return False
    made_by = values.in_class(type(mapping), "__missing__")[1]
    return values.exactly(made_by, values.MethodDescriptorType)  # of C: that of `defaultdict`


def _kept(access: Access) -> object:
    """What is there now, where an access looks or stores late."""
    if access.sort == ATTRIBUTE:
        return (values.own_values(access.holder) or {}).get(access.key, values.MISSING)
    return values.item(access.holder, access.looked_up)


def _is_a_value(mapping: Any, value: object) -> bool:
    """Whether a dictionary has a value somewhere: under an equal key, it is not found by the key that was stored."""
    return value is values.UNKNOWN or any(one is value for one in dict.values(mapping))


def position_of(frame: FrameType) -> int:
    """Where a frame is: an instruction in progress stands at its last cache entry."""
    return instruction_at(frame.f_code, frame.f_lasti)


def instruction_at(code: CodeType, position: int) -> int:
    """The position of the instruction to which one of code belongs."""
    units = code.co_code
    while position > 0 and units[position] == CACHE:
        position -= 2
    return position


def _goes_on(lookup: Lookup, present: ManagedThread, frame: FrameType | None) -> bool:
    thread, looking, position, *_ = lookup
    if position_of(looking) != position:
        return False
    if thread is not present:
        return True
    caller = None if frame is None else frame.f_back
    while caller is not None and caller is not looking:
        caller = caller.f_back
    return caller is looking
