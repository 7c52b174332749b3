"""Keeps what the threads of a run did with locks, events, queues and the like, for the case that it hangs.

Rules of this module:

* It is there only in runs that are made for it: replays of a run whose end is known. It only looks.
* It keeps no object of the program alive.
* Locks that the library uses on behalf of an object are that object's: ``Queue.put`` is a step, its lock is none.
"""

from __future__ import annotations

import sys
from _collections import deque  # type: ignore[import-not-found]  # of C, without stubs; `collections` loads slowly

from ..accelerator.own_memory import use_own
from ..observing import attribute, local_value, type_name
from ..points.frames import program_frame
from ..points.place import line_of
from ..points.places import COUNTED
from ..stdlib.locks import Lock, RLock
from ..strategies.profile import Identities
from .library import GIVES_UP, TAKES, WAITS, is_notification, library_call, starts_thread
from .naming import Naming
from .stacks import Stacks

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

    from ..baton.scheduler import Scheduler
    from ..baton.thread import ManagedThread

IMPORT_LOCK = "_ModuleLock"  # of the import system, by its class
_MOST = 20_000  # steps kept: the last ones
_MOST_NAMED = 300  # objects: to find a name costs up to some milliseconds


class History:
    """What happened so far.

    Args:
        scheduler: whose run.

    Attributes:
        stacks: those of the steps.
        things: for each object, by its number: (kind, name, what it is, where it was made).
        steps: (number of the object, thread, thread time, global time, what it did, stack, locks held, detail).
        taken: for each lock that was taken, the stack at which it was.
    """

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self.stacks = Stacks(scheduler.places)
        self._naming = Naming(scheduler.places)
        self._identities = Identities()
        self.things: dict[int, tuple[str, str, str, tuple[str, int] | None]] = {}
        self.steps: Any = deque(maxlen=_MOST)
        self.taken: dict[int, int] = {}
        self._locks: dict[int, Any] = {}  # those that are taken, by number
        self.failed = ""

    # -- what the scheduler tells ------------------------------------------------------------------------------------

    def before_operation(self, thread: ManagedThread, frame: FrameType | None, waiting: object) -> None:
        """A thread wants a lock."""
        if type(waiting) in (Lock, RLock):
            self._look(thread, frame, waiting, None)

    def after_operation(self, thread: ManagedThread, frame: FrameType | None, waiting: object, done: bool) -> None:
        """A thread has passed an operation."""
        if type(waiting) in (Lock, RLock):
            self._look(thread, frame, waiting, done)
        elif waiting is None:
            innermost = program_frame(frame)
            if innermost is not None and innermost.f_code.co_qualname == "Condition._is_owned":
                self._notification(thread, innermost.f_back)

    def at_ownership_check(self, frame: FrameType | None) -> None:
        """A condition asks whether its RLock is the running thread's, as it does before it notifies."""
        if not self._scheduler.busy and not self._scheduler.over:
            before = use_own(True)
            self._notification(self._scheduler.current, program_frame(frame))
            use_own(before)

    def put(self, queue: object, frame: FrameType | None) -> None:
        """A thread puts something into a simple queue."""
        before = use_own(True)
        self._step(self._scheduler.current, frame, queue, "puts into", "")
        use_own(before)

    # -- what is kept ------------------------------------------------------------------------------------------------

    def _look(self, thread: ManagedThread, frame: FrameType | None, lock: Any, done: bool | None) -> None:
        signals = only_signals(lock)
        if not starts_thread(frame):
            self._keep(thread, frame, lock, done, signals)
        if done and not signals:
            number = self._identities.number(lock)
            self._locks[number] = lock
            if lock._holder is not thread:  # it will be; an RLock may be already
                self.taken[number] = self.stacks.of_frame(frame)

    def _keep(
        self, thread: ManagedThread, frame: FrameType | None, lock: Any, done: bool | None, signals: bool
    ) -> None:
        called = library_call(frame, self._scheduler.places)
        if called is not None:
            does, outermost = called
            thing = local_value(outermost, "self")
            innermost = program_frame(frame)
            back = innermost is not None and innermost.f_code.co_qualname == "Condition._acquire_restore"
            if done is None and signals and thing is not None and lock._holder is not None:
                self._step(thread, frame, thing, WAITS, does)
            elif done is False:
                self._step(thread, frame, thing, GIVES_UP, does)
            elif done and not signals and not back and does != "notifies" and not _is_wait_of_condition(outermost):
                self._step(thread, frame, thing, does, "")
        elif signals or not self._is_direct(frame):
            return
        elif done:
            self._step(thread, frame, lock, TAKES, "")
        elif done is False:
            self._step(thread, frame, lock, GIVES_UP, "")
        elif not lock.ready_for(thread):
            self._step(thread, frame, lock, WAITS, "")

    def _is_direct(self, frame: FrameType | None) -> bool:
        """Whether the program itself uses the lock, perhaps through a condition; not a part of the library for it."""
        frame = program_frame(frame)
        while frame is not None and frame.f_code.co_qualname.startswith("Condition."):
            frame = frame.f_back
        return frame is None or self._scheduler.places.kind(frame.f_code.co_filename) == COUNTED

    def _notification(self, thread: ManagedThread, frame: FrameType | None) -> None:
        called = None if frame is None else library_call(frame, self._scheduler.places)
        if called is None or not is_notification(called[1]):
            return
        condition = local_value(called[1], "self")
        waiters = attribute(condition, "_waiters")
        found = 0 if waiters is None else len(waiters)
        self._step(thread, frame, condition, called[0], "nobody waits" if not found else f"{found} wait")

    def _step(self, thread: ManagedThread, frame: FrameType | None, thing: object, does: str, detail: str) -> None:
        if thing is None or self.failed:
            return
        try:
            scheduler = self._scheduler
            number = self.number(thing)
            held = tuple([known for known, lock in self._held(thread) if lock is not thing])
            stack = self.stacks.of_frame(frame)
            self.steps.append(
                (number, thread.name, thread.time, scheduler.global_time(), does, stack, held, detail),
            )
        except Exception as error:  # whatever goes wrong here must not become an exception of the program
            self.failed = f"{type(error).__name__}: {error}"

    def _held(self, thread: ManagedThread) -> list[tuple[int, Any]]:
        gone = [number for number, lock in self._locks.items() if lock._holder is None]
        for number in gone:
            del self._locks[number]
        return [(number, lock) for number, lock in self._locks.items() if lock._holder is thread]

    def find_locks(self) -> None:
        """Without a history: the locks that threads have now, as far as variables lead to them."""
        frames = sys._current_frames()
        for lock in self._naming.taken_locks([frames.get(thread.ident) for thread in self._scheduler.threads]):
            if not only_signals(lock):
                number = self._identities.number(lock)
                self._locks[number] = lock
                if lock._taken is not None:
                    self.taken[number] = self.stacks.of_lines(((lock._taken.code, line_of(lock._taken)),))

    # -- what is asked -----------------------------------------------------------------------------------------------

    def held_by(self, thread: ManagedThread) -> list[Any]:
        """The locks that a thread has."""
        return [lock for _, lock in self._held(thread)]

    def number(self, thing: object) -> int:
        """The number of an object, which is described when it is first asked for."""
        number: int = self._identities.number(thing)
        if number not in self.things:
            frames = sys._current_frames()
            threads = [self._scheduler.main, self._scheduler.current, *self._scheduler.threads]
            stacks = [frames.get(thread.ident) for thread in threads]
            if type_name(thing) == IMPORT_LOCK:
                self.things[number] = ("import lock", f"the import of {attribute(thing, 'name')}", "", None)
                return number
            named = len(self.things) < _MOST_NAMED
            name, what = self._naming.name_of(thing, stacks) if named else ("", "")
            self.things[number] = (type_name_of(thing), name, what, made_of(thing))
        return number


def only_signals(lock: Any) -> bool:
    """Whether a lock guards nothing: a thread is joined through it, or a condition waits at it."""
    if type(lock) is Lock and lock._ends_with is not None:
        return True
    return lock._made is not None and lock._made[2] == "Condition.wait"


def type_name_of(thing: object) -> str:
    """What an object is."""
    return {Lock: "Lock", RLock: "RLock"}.get(type(thing)) or type_name(thing)


def made_of(thing: object) -> tuple[str, int] | None:
    """(file, line) where a lock was made, or the lock inside of an object of the library."""
    for name in ("", "_cond", "_lock", "mutex", "_condition"):
        lock: Any = attribute(thing, name) if name else thing
        for one in (lock, attribute(lock, "_lock")):
            if type(one) in (Lock, RLock):
                made = one._made
                return None if made is None else (made[0], made[1])
    made = attribute(thing, "_made")
    return (made[0], made[1]) if type(made) is tuple and len(made) == 3 else None


def _is_wait_of_condition(frame: FrameType) -> bool:
    return frame.f_code.co_qualname in ("Condition.wait", "Condition.wait_for")
