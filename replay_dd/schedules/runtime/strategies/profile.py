"""Follows another strategy, recording what each thread touches: where another switch could matter.

Rules of this module:

* A thread that is alone shares nothing: what it touches is left out.
* It only observes. The run is that of the other strategy, and no code of the program is called.
* What a place touches is guessed from its bytecode and from local and global variables. A wrong guess only costs a
  useless run later.
* Of the visits of each place by each thread, the first are recorded, then the 4th, 8th, 16th and so on. Up to a limit,
  every yield point is examined; from there on samples, further and further apart, so that a long run costs little.
"""

from __future__ import annotations

import _weakref
import sys

from ..baton.strategy import Strategy
from ..channel import ALTERNATIVE, LOCK, TOUCH
from ..points.bytecode import ACCESS, GIL, LINE, gil_points
from ..points.methods import effect_of
from ..points.places import COUNTED
from ..points.touches import accesses, value_of
from ..splitmix import Generator
from ..stdlib.audit_events import touched_outside
from ..stdlib.locks import holder_of
from .abreast import Abreast

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from types import CodeType, FrameType

    from ..baton.baton import Baton
    from ..baton.strategy import Question
    from ..baton.thread import ManagedThread
    from ..points.place import Place
    from ..points.touches import Access

VISITS = 3  # of each place by each thread
LIMIT = 50_000  # yield points examined one by one; some microseconds each
_SAMPLE = 32  # yield points examined together beyond that
_SAMPLES = 256  # as many, then the distance between them doubles

Touch = tuple[object, str, bool]  # the object or None where it is not known, what of it, whether it may be changed


class Profile(Strategy):
    """Follows another strategy; tells the tool which thread touches what at which thread time.

    Args:
        granularity: of the yield points.
        followed: the strategy that decides.
    """

    asks_at_operations = True

    def __init__(self, granularity: str, followed: Strategy) -> None:
        self._granularity = granularity
        self._followed = followed
        # Who is told of each access, even where it is not recorded.
        self._tells = followed.about_to if isinstance(followed, Abreast) else None
        self._random = Generator(LIMIT)
        self._examined = 0
        self._distance = 2 * _SAMPLE
        self._visits: dict[tuple[str, int, int], int] = {}
        self._listings: dict[int, tuple[CodeType, list[Access]]] = {}
        self._locks: dict[str, list[object]] = {}
        self._identities = Identities()

    def created(self, baton: Baton, thread: ManagedThread) -> None:
        self._followed.created(baton, thread)

    def next_question(self, baton: Baton, thread: ManagedThread) -> int:
        due = self._followed.next_question(baton, thread)
        if self._examined < LIMIT or self._examined % _SAMPLE:
            return thread.time + 1
        if (self._examined - LIMIT) % (_SAMPLE * _SAMPLES) == 0:
            self._distance *= 2
        return min(due, thread.time + 1 + self._random.below(self._distance))

    def choose(self, baton: Baton, question: Question) -> ManagedThread:
        thread, place = question.thread, question.place
        self._examined += 1
        if question.forced:
            when = (thread.name, thread.time, baton.global_time())
            for other in question.runnable:
                if other is not question.default:
                    baton.send(ALTERNATIVE, *when, other.name)
        if place is not None and not thread.ended and len(baton.threads) > 1:
            key = (thread.name, id(place.code), -place.position if place.is_line else place.position)
            visits = self._visits[key] = self._visits.get(key, 0) + 1
            noted = visits <= VISITS or not visits & (visits - 1)
            if noted or self._tells is not None:
                self._note(baton, thread, place, noted)
        return self._followed.choose(baton, question)

    def _note(self, baton: Baton, thread: ManagedThread, place: Place, noted: bool) -> None:
        lock = thread.waiting
        taken = [one for one in self._locks.get(thread.name, ()) if holder_of(one) is thread]
        if lock is not None:
            self._locks[thread.name] = [*taken, lock]
        touches: list[Touch] = self._touches(baton, place) if lock is None else [(lock, LOCK, True)]
        identity = self._identities.number
        if self._tells is not None:
            self._tells([(identity(thing), name, changes) for thing, name, changes in touches])
        if not noted:
            return
        held = tuple(identity(one) for one in taken if one is not lock)
        when = (thread.name, thread.time, baton.global_time())
        for thing, name, changes in touches:
            baton.send(TOUCH, *when, baton.log.place_number(place), identity(thing), name, changes, held)

    def _touches(self, baton: Baton, place: Place) -> list[Touch]:
        if baton.outside is not None:
            return [(None, name, changes) for name, changes in touched_outside(*baton.outside)]
        if place.reachable:
            return []  # an operation on a lock that is free
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code is not place.code:
            frame = frame.f_back
        if frame is None:
            return []
        listing = self._listing(place.code)
        found = []
        for index in self._span(listing, place):
            access = listing[index][2]
            if access is not None:
                expression, name, changes = access
                thing = value_of(expression, frame)
                effect = self._effect(baton, thing, name, changes)
                if effect is not None:
                    found.append((thing, *effect))
        return found

    def _effect(self, baton: Baton, thing: object, name: str, changes: bool | str) -> tuple[str, bool] | None:
        """What is touched of a thing, and whether it may be changed; None if it is not touched."""
        if type(changes) is not str:
            return name, bool(changes)
        if thing is None:  # unknown
            return None if changes[:2] == "__" else (name, True)
        return effect_of(thing, changes, lambda code: baton.places.kind(code.co_filename) == COUNTED)

    def _listing(self, code: CodeType) -> list[Access]:
        known = self._listings.get(id(code))
        if known is None:
            known = self._listings[id(code)] = (code, accesses(code))
        return known[1]

    def _span(self, listing: list[Access], place: Place) -> list[int]:
        """The instructions that run before the next yield point."""
        if self._granularity == ACCESS:
            return [index for index, one in enumerate(listing) if one[0] == place.position]
        if self._granularity == LINE:
            ranges = [(start, end) for start, end, line in place.code.co_lines() if line == place.position]
            return [i for i, one in enumerate(listing) if any(start <= one[0] < end for start, end in ranges)]
        if self._granularity != GIL:
            return []
        ends = {point for point in gil_points(place.code) if point > place.position}
        last = min(ends, default=len(place.code.co_code))
        return [index for index, one in enumerate(listing) if place.position <= one[0] < last]


class Identities:
    """Numbers objects. A dead object does not share its number with the next one at its address.

    Except for those that cannot be referred to weakly (lists, dictionaries): to keep them alive would delay what
    happens when they go.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[_weakref.ref[object] | None, int]] = {}

    def number(self, thing: object) -> int:
        """The number of an object, -1 for None."""
        if thing is None:
            return -1
        reference, number = self._known.get(id(thing), (None, 0))
        if number and (reference is None or reference() is thing):
            return number
        try:
            reference = _weakref.ref(thing)
        except TypeError:
            reference = None
        number = len(self._known) + 1 if not number else number + (1 << 32)
        self._known[id(thing)] = (reference, number)
        return number
