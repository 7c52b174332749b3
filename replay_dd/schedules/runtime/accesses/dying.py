"""Objects that are known only weakly: who lets go of the last reference, and where.

Rules of this module:

* An object is watched from the first access that finds it through something weak, or lets go of it while something
  weak refers to it. It lives no longer for that, nor does what refers to it: a weak reference that is gone calls no
  function when the object goes.
* Its end may come inside any instruction, or inside this runtime; so it is only noted, and told at the next occasion.
"""

from __future__ import annotations

import sys
from _weakref import ReferenceType as _Reference
from _weakref import getweakrefs

from ..points.frames import interruption
from ..points.place import Place
from . import values
from .access import DELETES, ITEM, READS, Access
from .library_containers import is_weak_mapping
from .made_items import position_of

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType
    from typing import Any

    from ..baton.thread import ManagedThread

    Way = list[tuple[CodeType, int, int | None]]
    Holder = tuple[int, str]
    Gone = tuple[ManagedThread, Way, Place, Access, Any, Holder]

_DEEPEST = 60  # frames of a stack told
_RUNTIME = __file__.rpartition("accesses")[0]


def way_to(frame: FrameType | None) -> Way:
    """The stack that a frame is on top of, without the frames themselves: these would keep what they hold alive."""
    way: Way = []
    while frame is not None and len(way) < _DEEPEST:
        way.append((frame.f_code, frame.f_lasti, frame.f_lineno))
        frame = frame.f_back
    return way


class Dying:
    """Knows the objects that are watched.

    Args:
        running: tells the thread that runs.
        described: tells an object in words, while it is there.
        identified: tells what holds the thing of an access: its number, and its type in words.
    """

    def __init__(
        self,
        running: Callable[[], ManagedThread],
        described: Callable[[object], Any],
        identified: Callable[[Access], Holder],
    ) -> None:
        self._running, self._described, self._identified = running, described, identified
        self._watched: dict[tuple[int, str, int], _Reference[Any]] = {}
        self._own: set[int] = set()  # the identities of these references
        self._gone: list[Gone] = []

    def watch(self, access: Access) -> None:
        """Note where the object ends that an access finds through something weak, puts there, or lets go of."""
        if access.writes and not values.scalar(access.old):
            for reference in getweakrefs(access.old):
                if values.is_reference(reference) and id(reference) not in self._own:
                    known = Access(READS, ITEM, reference, "", f"{values.class_name(type(reference))}()")
                    known.old = access.old
                    self._watch_known(known)
        self._watch_known(access)

    def _watch_known(self, access: Access) -> None:
        holder = access.holder
        if access.sort != ITEM or not (values.is_reference(holder) or is_weak_mapping(holder)):
            return
        found = access.old if access.new is values.UNKNOWN or access.new is values.MISSING else access.new
        key = (id(holder), access.key, id(found))
        if key in self._watched or found is values.MISSING or found is values.UNKNOWN or values.scalar(found):
            return
        end = Access(DELETES, ITEM, None, access.key, access.name)
        end.new = values.MISSING
        told, identity = self._described(found), self._identified(access)

        def ends(reference: object, is_over: Callable[[], bool] = sys.is_finalizing) -> None:
            if is_over():
                return  # of what this needs, some may be gone by then
            self._own.discard(id(reference))
            self._watched.pop(key, None)
            frame = sys._getframe().f_back
            collects = None
            while frame is not None and frame.f_code.co_filename.startswith(_RUNTIME):
                collects = frame if interruption(frame.f_code) is not None else collects
                frame = frame.f_back
            if frame is not None:
                place = Place(frame.f_code, position_of(frame))
                self._gone.append((self._running(), way_to(collects or frame), place, end, told, identity))

        watched = self._watched[key] = _Reference(found, ends)
        self._own.add(id(watched))

    def gone(self) -> list[Gone]:
        """What has ended since the last call: the thread, its stack, the place, the access, what it was, its holder."""
        found, self._gone = self._gone, []
        return found
