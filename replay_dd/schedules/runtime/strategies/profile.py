"""Follows another strategy, recording what each thread touches: where another switch could matter.

Rules of this module:

* A thread that is alone shares nothing: what it touches is left out.
* It only observes. The run is that of the other strategy, and no code of the program is called. There is one
  exception: where a preemption lets in a thread that sleeps before it has changed anything, the sleep (or time-out)
  ends at once. Otherwise the preemption would come to nothing, and what timers do would be learnt by chance only. Not
  for ever: it may be in a loop that waits for another thread.
* What a place touches is guessed from its bytecode and from local and global variables. A wrong guess only costs a
  useless run later.
* Of the visits of each place by each thread, the first are recorded, then the 4th, 8th, 16th and so on, so that a long
  run costs little. After a limit, which only many threads reach, the visits of all threads count together. None are at
  places where, as the tool knows from other runs, threads share nothing.
"""

from __future__ import annotations

import _weakref
import sys

from ..accelerator import accelerator
from ..baton.strategy import Strategy
from ..channel import ALTERNATIVE, LOCK, TOUCH, UNTOUCHED
from ..constants import BY_PLACE
from ..observing import attributes_of, is_module
from ..points.all_attributes import AllAttributes
from ..points.bytecode import ACCESS, GIL, LINE, gil_points
from ..points.methods import ASKING_METHODS, FILE, effect_of
from ..points.places import COUNTED
from ..points.touches import accesses, value_of
from ..stdlib.audit_events import name_of_file, touched_outside
from ..stdlib.shared_things import is_path
from ..stdlib.taken_locks import TakenLocks
from .abreast import Abreast
from .pct import SHORT_SLEEPS
from .replay import Replay

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import CodeType, FrameType

    from ..baton.baton import Baton
    from ..baton.strategy import Question
    from ..baton.thread import ManagedThread
    from ..points.place import Place
    from ..points.touches import Access, Expression

LIMIT = 50_000  # visits recorded by thread and place; some microseconds each
MOST_ALTERNATIVES = 64  # threads told at one choice: of a thousand alike, the others tell nothing new, and cost seconds
_FEW = 500  # of so few visits, other runs need leave nothing out

_life_of: Callable[[object], int] = (lambda _: 0) if accelerator is None else accelerator.life_of

Touch = tuple[object, str, bool]  # the object or None where it is not known, what of it, whether it may be changed


class Profile(Strategy):
    """Follows another strategy; tells the tool which thread touches what at which thread time.

    Args:
        granularity: of the yield points.
        followed: the strategy that decides.
        left_out: the keys of places whose visits are not recorded.
    """

    asks_at_operations = True
    notes_visits = True

    def __init__(self, granularity: str, followed: Strategy, left_out: Iterable[int] = ()) -> None:
        self._granularity = granularity
        self._followed = followed
        self._left_out = left_out
        # Who is told of each access, even where it is not recorded.
        self._tells = followed.about_to if isinstance(followed, Abreast) else None
        self._noted = 0
        self._listings: dict[int, tuple[CodeType, list[Access]]] = {}
        self._accesses: dict[tuple[int, int], list[tuple[Expression, str, bool | str]]] = {}
        self._locks = TakenLocks()
        self._untouched: set[tuple[int, int]] = set()
        self._told: set[str] = set()  # who could have run instead of another thread, and still can
        self._preempts = isinstance(followed, Replay)
        self._let_in: ManagedThread | None = None  # who came by a preemption, and has changed nothing yet
        self._sleeps_left = 0  # that end at once while it does not
        self._identities = Identities()
        self._attributes = AllAttributes()

    def created(self, baton: Baton, thread: ManagedThread) -> None:
        if self._left_out:
            baton.counter.leave_out(self._left_out)
            self._left_out = ()
        self._followed.created(baton, thread)

    def next_question(self, baton: Baton, thread: ManagedThread) -> int:
        return self._followed.next_question(baton, thread)

    def choose(self, baton: Baton, question: Question) -> ManagedThread:
        thread, place = question.thread, question.place
        others = [other for other in question.runnable if other is not question.default]
        for other in others[:MOST_ALTERNATIVES]:
            if question.forced or other.name not in self._told:
                self._told.add(other.name)
                baton.send(ALTERNATIVE, thread.name, thread.time, baton.global_time(), other.name, question.forced)
        if question.forced:  # who cannot run now may be able to later, which is news then
            self._told.intersection_update(other.name for other in question.runnable)
        if place is not None and not thread.ended and len(baton.threads) > 1:
            noted = baton.counter.notable
            if noted or self._tells is not None:
                self._note(baton, thread, place, noted)
        return self._goes_on(question, self._followed.choose(baton, question))

    def _goes_on(self, question: Question, chosen: ManagedThread) -> ManagedThread:
        """Who is chosen; or the thread that a preemption has let in, if it is about to sleep and would do nothing."""
        thread = question.thread
        if chosen is not question.default:
            self._let_in = chosen if self._preempts and not question.forced else None
            self._sleeps_left = SHORT_SLEEPS
        elif thread is self._let_in and thread.deadline is not None and thread in question.runnable:
            self._sleeps_left -= 1
            return thread if self._sleeps_left >= 0 else chosen
        return chosen

    def _note(self, baton: Baton, thread: ManagedThread, place: Place, noted: bool) -> None:
        lock = thread.waiting
        taken = self._locks.at_operation(thread)
        touches: list[Touch] = self._touches(baton, place) if lock is None else [(lock, LOCK, True)]
        if thread is self._let_in and any(changes and name != LOCK for _, name, changes in touches):
            self._let_in = None
        identity = self._identities.number
        if self._tells is not None:
            self._tells([(identity(thing), name, changes) for thing, name, changes in touches])
        if not noted:
            return
        self._noted += 1
        if self._noted == LIMIT:
            baton.counter.noting = BY_PLACE
        if not touches and self._noted > _FEW:
            self._tell_untouched(baton, place)
        held = tuple(identity(one) for one in taken if one is not lock)
        when = (thread.name, thread.time, baton.global_time())
        for thing, name, changes in touches:
            baton.send(TOUCH, *when, baton.log.place_number(place), identity(thing), name, changes, held)

    def _tell_untouched(self, baton: Baton, place: Place) -> None:
        known = id(place.code), place.mark
        if known not in self._untouched:
            self._untouched.add(known)
            baton.send(UNTOUCHED, baton.places.place_hash(place.code, place.mark))

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
        found = []
        for expression, name, changes in self._accesses_at(place):
            thing = value_of(expression, frame)
            touch = self._touch(baton, thing, name, changes)
            self._attributes.remember(expression, frame)
            if touch is not None:
                found += self._attributes.each(touch)
        return found

    def _touch(self, baton: Baton, thing: object, name: str, changes: bool | str) -> Touch | None:
        """What is touched, and whether it may be changed; None if nothing is."""
        if name == FILE or (type(changes) is str and is_path(thing)):
            file = name_of_file(thing) if name == FILE or changes in ASKING_METHODS else ""
            return (None, file, False) if file else None
        if type(changes) is not str:  # a module's attributes are what its own code has as global variables
            return attributes_of(thing) if is_module(thing) else thing, name, bool(changes)
        if thing is None:  # unknown
            return None if changes[:2] == "__" else (None, name, True)
        effect = effect_of(thing, changes, lambda code: baton.places.kind(code.co_filename) == COUNTED)
        return None if effect is None else (thing, *effect)

    def _accesses_at(self, place: Place) -> list[tuple[Expression, str, bool | str]]:
        """What is accessed before the next yield point."""
        key = id(place.code), -place.position if place.is_line else place.position
        known = self._accesses.get(key)
        if known is None:
            listing = self._listings.get(id(place.code))
            if listing is None:
                listing = self._listings[id(place.code)] = (place.code, accesses(place.code))
            known = self._accesses[key] = self._span(listing[1], place)
        return known

    def _span(self, listing: list[Access], place: Place) -> list[tuple[Expression, str, bool | str]]:
        if self._granularity == ACCESS:
            ranges = [(place.position, place.position + 1)]
        elif self._granularity == LINE:
            ranges = [(start, end) for start, end, line in place.code.co_lines() if line == place.position]
        elif self._granularity == GIL:
            end = min((one for one in gil_points(place.code) if one > place.position), default=len(place.code.co_code))
            ranges = [(place.position, end)]
        else:
            ranges = []
        return [
            touched
            for offset, _, touched in listing
            if touched is not None and any(start <= offset < end for start, end in ranges)
        ]


class Identities:
    """Numbers objects. A dead object does not share its number with the next one at its address.

    What cannot be referred to weakly is not kept alive, as that would delay what happens when it goes: the accelerator
    sees when lists and dictionaries go. Without it, and for other such types, the next one of the same type shares the
    number.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[_weakref.ref[object] | tuple[int, int], int]] = {}

    def number(self, thing: object) -> int:
        """The number of an object, -1 for None."""
        if thing is None:
            return -1
        known, number = self._known.get(id(thing), (None, 0))
        if type(known) is _weakref.ReferenceType and known() is thing:
            return number
        kind = type(thing)
        reference: _weakref.ref[object] | tuple[int, int]
        try:
            reference = (id(kind), _life_of(thing)) if kind is list or kind is dict else _weakref.ref(thing)
        except TypeError:
            reference = id(kind), _life_of(thing)
        if type(known) is tuple and known == reference:
            return number
        number = len(self._known) + 1 if not number else number + (1 << 32)
        self._known[id(thing)] = (reference, number)
        return number
