"""Tells the tool what threads access, in the windows that it asks for.

Rules of this module:

* It only looks: the run is the one that its schedule makes, and its digest shows that it was.
* An access is told when its instruction is about to run, after the choice of who runs: so nothing can come between.
* What an access leaves behind is told at the next access of any thread, before anything else can change it.
"""

from __future__ import annotations

import sys
from _weakref import ReferenceType as _Reference

from ..accelerator import accelerator
from ..baton.thread import NEVER
from ..channel import ACCESS, AFTER, LOCK_NAME, NOTE, OBSERVING, STACK, STARTED, SWITCH_STACK
from ..points.frames import interruption
from ..points.place import Place, line_of
from ..points.places import COUNTED, EXCLUDED, LIBRARY
from ..stdlib.audit_events import touched_outside
from ..stdlib.locks import Lock, RLock, made_at
from ..strategies.profile import Identities
from . import contents, semaphores, values
from .access import ACQUIRES, FILE, GIVES_UP, GLOBAL, LOCK, WANTS, Access
from .arrays import plain
from .asked_of_loop import AskedOfLoops
from .dying import Dying, way_to
from .files import is_there
from .later_looks import LaterLooks
from .loops import ClosingLoops, of_loop
from .made_items import MadeItems, instruction_at, makes_items, position_of
from .reader import Reader
from .tasks import is_coroutine, running_task
from .whole_process import is_relative, reads_directory

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType
    from typing import Any

    from ..baton.scheduler import Scheduler
    from ..baton.thread import ManagedThread
    from .dying import Way

_MOST = 200_000  # accesses told
_RUNTIME = __file__.rpartition("accesses")[0]  # the folder of all that runs here and is not the program's
_MAKE = ("os.mkdir", "os.link", "os.symlink")
_TAKE_AWAY = ("os.remove", "os.rmdir", "os.rename")
_LIKE_OTHERS = ("asyncio.locks", "asyncio.queues", "_asyncio")  # whose classes are called as those for threads
_OTHERS = ""  # the window of the threads that have none of their own


class _Harmless:
    """Whatever goes wrong while observing must not become an exception of the program.

    Args:
        failed: what to do then.
    """

    def __init__(self, failed: Callable[[Exception], None]) -> None:
        self._failed = failed

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: object, trace: object) -> bool:
        if isinstance(error, Exception):
            self._failed(error)
            return True
        return False


class Observer:
    """Observes one run.

    Args:
        scheduler: whose run.
        windows: for each thread, the thread times from which to which it is observed; under an empty name, those of
            all others.
    """

    def __init__(self, scheduler: Scheduler, windows: dict[str, tuple[int, int]]) -> None:
        self._scheduler = scheduler
        self._windows = windows
        self._left = _MOST
        self._reader = Reader(lambda file: scheduler.places.kind(file) == LIBRARY)
        self._identities = Identities()
        self._stacks: dict[tuple[object, ...], int] = {}
        self._of_coroutines: set[int] = set()
        self._tasks = Identities()
        self._task_numbers: dict[int, int] = {}
        self._kept: list[object] = []
        self._locks: dict[int, Lock | RLock] = {}
        self._named: set[int] = set()
        self._begun: set[str] = set()
        self._sent = 0
        self._harmless = _Harmless(self._failed)
        self._made = MadeItems()
        self._later = LaterLooks()
        self._passed: dict[str, int] = {}  # the time of the last yield point that a thread has passed
        self._dying = Dying(lambda: scheduler.current, self.described, self._holder)
        self._loops = ClosingLoops(lambda: scheduler.current)
        self._asked = AskedOfLoops(lambda: scheduler.current, self._holder)
        self._open: tuple[int, tuple[Any, ...], object] | None = None  # an access whose new value is not known yet
        exact = accelerator is not None and accelerator.frame_values(sys._getframe(), 0, 0) is not None
        scheduler.send(OBSERVING, exact)

    def next_time(self, thread: ManagedThread) -> int:
        """The thread time at which a thread is next observed."""
        first, last = self._windows.get(thread.name) or self._windows.get(_OTHERS, (NEVER, NEVER))
        following: int = thread.time + 1
        return max(first, following) if following <= last and self._left > 0 else NEVER

    def at_access(self, thread: ManagedThread, code: CodeType, position: int) -> None:
        """A thread is about to run an instruction."""
        if self.next_time(thread) > thread.time + 1:
            return
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code is not code:
            frame = frame.f_back
        if frame is None:
            return
        self._left -= 1
        with self._harmless:
            self._tell_later(thread, frame, position)
            self._close()
            self._tell_made(thread, frame)
            for lock in [lock for lock in self._locks.values() if lock._holder is None]:
                del self._locks[id(lock)]
            accesses = self._reader.accesses(frame, position)
            for access in accesses:
                tested = self._reader.tested(frame, position)
                place, stack = Place(code, position), self._stack(frame)
                if not access.late:
                    self._tell(thread, stack, place, access, tested)
                if access.late or makes_items(access):
                    self._made.begin((thread, frame, position_of(frame), stack, place, access))  # type: ignore[arg-type]
            look = self._reader.look_after(code, position, accesses)
            if look is not None:
                self._later.begin(thread, frame, position, look)
            self._passed[thread.name] = thread.time

    def at_switch(self, thread: ManagedThread) -> None:
        """A thread gives way."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename.startswith(_RUNTIME):
            frame = frame.f_back
        with self._harmless:
            self._tell_later(thread, frame, None if frame is None else position_of(frame))
            self._tell_gone()
            self._loops.watch_running()
            self._scheduler.send(SWITCH_STACK, thread.name, thread.time, self._stack(frame))

    def before_operation(self, thread: ManagedThread, frame: FrameType | None, waiting: object) -> None:
        """A thread wants a lock; if it does not get it, this is the last that is heard of it."""
        if isinstance(waiting, (Lock, RLock)):
            with self._harmless:
                self._tell_operation(thread, frame, [Access(WANTS, LOCK, waiting, "", self._lock_name(waiting))])

    def at_operation(
        self,
        thread: ManagedThread,
        frame: FrameType | None,
        waiting: object,
        done: bool,
        outside: tuple[str, tuple[object, ...]] | None,
    ) -> None:
        """A thread has passed an operation on a lock or a file."""
        is_lock = isinstance(waiting, (Lock, RLock))
        if is_lock and done and not _only_signals(waiting):  # type: ignore[arg-type]  # it is a lock
            self._locks[id(waiting)] = waiting  # type: ignore[assignment]
        with self._harmless:
            if outside is not None:
                self._tell_operation(thread, frame, _touching(*outside))
            elif is_lock:
                access = Access(ACQUIRES if done else GIVES_UP, LOCK, waiting, "", self._lock_name(waiting))  # type: ignore[arg-type]
                self._tell_operation(thread, frame, [*self._given_back(frame, waiting), access])

    def _given_back(self, frame: FrameType | None, lock: object) -> list[Access]:
        """The permit that a ``with`` gives back as an exception leaves it."""
        user_frame = self._scheduler.places.user_frame(frame)[1]
        semaphore = None if user_frame is None else semaphores.left_by_exception(frame, user_frame, lock)
        if semaphore is None:
            return []
        return [semaphores.use_of(semaphore, self._reader.names.name_of(semaphore), ends=True)]

    def _tell_operation(self, thread: ManagedThread, frame: FrameType | None, accesses: list[Access]) -> None:
        counted, user_frame = self._scheduler.places.user_frame(frame)
        if not counted or user_frame is None or self.next_time(thread) > thread.time + 1:
            return
        self._tell_later(thread, frame, None)
        self._close()
        self._tell_made(thread, frame)
        self._passed[thread.name] = thread.time
        place = Place(user_frame.f_code, self._scheduler.counter.position_of(user_frame), reachable=True)
        for access in accesses:
            self._tell(thread, self._stack(user_frame), place, access, False)

    def _tell_made(self, present: ManagedThread, frame: FrameType | None) -> None:
        self._tell_gone()
        for (thread, _, _, stack, place, _), store in self._made.made(present, frame):
            self._tell(thread, stack, place, store, False)

    def _tell_later(self, thread: ManagedThread, frame: FrameType | None, arrived: int | None) -> None:
        """Tell which local variables a thread has tested since its last yield point."""
        for tested, (position, variable, _) in self._later.made(thread, frame, arrived):
            access = self._reader.look_at_variable(tested, variable)
            if access is not None:
                self._close()
                code = tested.f_code
                line = line_of(Place(code, position))
                stack = self._stack_of([(code, -1 - line, line), *way_to(tested.f_back)])
                self._tell(thread, stack, Place(code, position), access, True, time=self._passed.get(thread.name, 0))

    def _tell_gone(self) -> None:
        for thread, way, place, access, old, holder in (*self._dying.gone(), *self._asked.done()):
            if self.next_time(thread) <= thread.time + 1:
                self._close()
                self._tell(thread, self._stack_of(way), place, access, False, old, holder=holder)

        for thread, way, loop in self._loops.closed():
            self._tell_closed(thread, way, loop)

    def _tell_closed(self, thread: ManagedThread, way: Way, loop: object) -> None:
        """Tell that a thread has closed an event loop, where its own code had the library do so."""
        places = self._scheduler.places
        depth = next((i for i, (code, *_) in enumerate(way) if places.kind(code.co_filename) == COUNTED), 0)
        if not depth or way[depth - 1][0].co_qualname.endswith("EventLoop.close"):
            return  # the call itself is told
        access = of_loop(loop, "close", self._reader.names.name_of(loop))
        if access is not None and self.next_time(thread) <= thread.time + 1:
            code, position, _ = way[depth]
            self._close()
            self._tell(thread, self._stack_of(way), Place(code, instruction_at(code, position)), access, False)

    def _failed(self, error: Exception) -> None:
        self._left = 0
        self._scheduler.send(NOTE, "observer", f"observing ended: {type(error).__name__}: {error}")

    def _tell(
        self,
        thread: ManagedThread,
        stack: int,
        place: Place,
        access: Access,
        tested: bool,
        old: Any = None,
        time: int | None = None,
        holder: tuple[int, str] | None = None,
    ) -> None:
        scheduler = self._scheduler
        self._tell_start(thread)
        self._sent += 1
        held = [lock for lock in self._locks.values() if lock._holder is thread and lock is not access.holder]
        scheduler.send(
            *(ACCESS, self._sent, thread.name, thread.time if time is None else time, scheduler.global_time()),
            *(scheduler.log.place_number(place), stack, access.does, access.sort),
            *(holder or self._holder(access)),
            *(access.key, access.name, access.reads, access.writes),
            *(old or self.described(access.old), self.described(access.new), access.detail, tested),
            *(tuple([self._lock(lock) for lock in held]), self._task(thread, stack), access.asked),
        )
        self._dying.watch(access)
        self._asked.watch(access, place)
        if access.again is not None and access.new is values.UNKNOWN:
            self._open = (self._sent, access.again, access.before)  # type: ignore[assignment]

    def _holder(self, access: Access) -> tuple[int, str]:
        """What holds the thing: its number, and its type in words."""
        number = -1 if type(access.holder) is str else self._identities.number(access.holder)
        return number, self._kind_of_holder(access)

    def _kind_of_holder(self, access: Access) -> str:
        """The type of what holds the thing; for a global variable, the file of its module if that is known."""
        if values.is_reference(access.holder):  # a WeakMethod is one, too
            return values.class_name(_Reference)
        if access.sort != GLOBAL:
            kind = type(access.holder)
            name = values.class_name(kind)
            return f"asyncio.{name}" if values.module_name(kind) in _LIKE_OTHERS else name
        file = access.holder.get("__file__")  # type: ignore[attr-defined]  # it is a dictionary
        return self._scheduler.places.short(file) if type(file) is str else ""

    def _tell_start(self, thread: ManagedThread) -> None:
        """Tell from where a thread was started, before its first access is told."""
        if thread.name not in self._begun:
            self._begun.add(thread.name)
            # A line stands for a position, which is not known: it must not be taken for one.
            way: Way = [(code, -1 - line, line) for code, line in thread.origin]
            if way:
                self._scheduler.send(STARTED, thread.name, self._stack_of(way))

    def _task(self, thread: ManagedThread, stack: int) -> int:
        """The number of the task that makes an access, in the order of their first one; 0 if none does."""
        task = running_task() if stack in self._of_coroutines and thread is self._scheduler.current else None
        if task is None:
            return 0
        return self._task_numbers.setdefault(self._tasks.number(task), len(self._task_numbers) + 1)

    def _close(self) -> None:
        """Tell what the last access has left behind."""
        if self._open is None:
            return
        number, again, before = self._open
        self._open = None
        value: object = again[0]
        if len(again) == 2:
            thing, key = again
            value = values.item(thing, key) if values.size(thing) is not None else values.attribute(thing, key)[2]
        changed = before is not None and contents.content(value) != before
        self._scheduler.send(AFTER, number, self.described(value), changed)

    def described(self, value: object) -> tuple[str, str, int]:
        """(the text of a value of a built-in type, the name of its type, its number)."""
        if value is values.MISSING or value is values.UNKNOWN:
            return values.text_of(value), "", -1
        if not values.scalar(value):
            value = plain(value)
        number = -1 if values.scalar(value) else self._identities.number(value)
        return values.text_of(value), values.class_name(type(value)), number

    def _stack(self, frame: FrameType | None) -> int:
        """The number of a stack; the stack itself is told at first use."""
        return self._stack_of(way_to(frame))

    def _stack_of(self, way: Way) -> int:
        key = tuple([(id(code), position) for code, position, _ in way])
        number = self._stacks.get(key)
        if number is None:
            number = self._stacks[key] = len(self._stacks)
            self._kept += [code for code, _, _ in way]
            if any(is_coroutine(code) for code, _, _ in way):
                self._of_coroutines.add(number)
            places = self._scheduler.places
            rows = []
            for code, _, line in way:
                between = interruption(code)
                if between is not None:
                    rows.append(between)
                kind = places.kind(code.co_filename)
                if kind != EXCLUDED and not code.co_filename.startswith(_RUNTIME):
                    short = places.short(code.co_filename)
                    rows.append((short, code.co_filename, line or 0, code.co_qualname, kind == COUNTED))
            self._scheduler.send(STACK, number, tuple(rows))
        return number

    def _lock(self, lock: Lock | RLock) -> int:
        number = self._identities.number(lock)
        if number not in self._named:
            self._named.add(number)
            self._scheduler.send(LOCK_NAME, number, self._lock_name(lock))
        return number

    def _lock_name(self, lock: Lock | RLock) -> str:
        name = self._reader.names.name_of(lock)
        return (
            f"{'RLock' if type(lock) is RLock else 'Lock'}{made_at(lock._made)}" if name in ("lock", "RLock") else name
        )


def _only_signals(lock: Lock | RLock) -> bool:
    """Whether a lock guards nothing: a thread is joined through it, or a condition waits at it."""
    if isinstance(lock, Lock) and lock._ends_with is not None:
        return True
    return lock._made is not None and lock._made[2] == "Condition.wait"


def _touching(event: str, arguments: tuple[Any, ...]) -> list[Access]:
    """What an operation on files touches."""
    found = []
    for index, (name, changes) in enumerate(touched_outside(event, arguments)):
        access = Access(event, FILE, name, name, name.rpartition("/")[2])
        access.reads, access.writes = not changes, changes
        if index == 0 and event in _TAKE_AWAY:
            access.reads, access.new = True, values.MISSING
        access.detail = _mode(event, arguments)
        if access.reads and not is_there(name):
            access.old = values.MISSING
        elif event in _MAKE and is_there(name):
            access.old = True
        found.append(access)
    if arguments and is_relative(arguments[0]):
        found.append(reads_directory())
    return found


def _mode(event: str, arguments: tuple[Any, ...]) -> str:
    if event == "open" and len(arguments) > 1 and type(arguments[1]) is str:
        return f"open(..., {arguments[1]!r})"
    return f"{event}()"
