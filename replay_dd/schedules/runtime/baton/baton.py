"""The baton: who has it, which threads there are, and how it passes from one to another.

Rules of this module:

* Only the thread with the baton runs. It alone reads and writes this state, so nothing here takes a lock.
* A thread waits for the baton at its own gate. Whoever gives the baton away opens the gate of the next thread, as the
  last thing before it waits itself, or ends: without a GIL, an interpreter may run finalizers of the program wherever
  a thread runs code in Python, and that would be at the same time as the next thread.
* The order of threads is the order of their creation paths, which does not depend on the schedule.
* Deciding who gets the baton is left to the layers above.
"""

from __future__ import annotations

import _thread
from _operator import attrgetter  # the program may not have loaded `operator`

from ..accelerator.own_memory import use_own
from ..counting.counter import Counter
from ..counting.digest import START
from .switch_log import SwitchLog
from .thread import ManagedThread, wait_until_gone

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..points.places import Places
    from .clock import Clock

_get_ident = _thread.get_ident


def _shared(name: str) -> Any:
    """An attribute that the counter holds, as each yield point asks for it."""

    def set_shared(baton: Baton, value: bool) -> None:
        setattr(baton.counter, name, value)

    return property(attrgetter(f"counter.{name}"), set_shared)


class Baton:
    """The state that goes with the baton. One for each process.

    Args:
        clock: the virtual clock.
        places: what code is counted.
        send: writes a record for the tool.
        disable: what the back end's callback answers where there is no yield point.

    Attributes:
        send: as above.
        main: the main thread.
        threads: those that have not ended, in order.
        known: all threads of the run, by name.
        log: where switches are written.
        counting: whether yield points count: from the start of the first thread.
        busy: whether the scheduler is at work, or must not be called.
        over: whether the program has ended.
        outside: the audit event that the current yield point stands for, with its arguments.
        outside_events: how many of those there were.
        in_system_call: whether the running thread is about to wait for something outside.
        has_effects: whether a thread did something that lasts outside the process.
        look_every: the arguments with which a gate is acquired; the timeout is the interval at which waiting threads
            check whether the thread with the baton stands still.
        least_still_ns: for how many nanoseconds it must have stood still before ``found_still`` is called.
        found_still: called with that duration by the thread that noticed; see stuck_calls.py.
        come_back: called by a thread without the baton; returns whether it has it now; see stuck_calls.py.
        expect_stuck: called with the thread that goes on from here to the program, if a log says that calls were stuck.
    """

    counting: bool = _shared("counting")
    busy: bool = _shared("busy")
    over: bool = _shared("over")

    def __init__(self, clock: Clock, places: Places, send: Callable[..., None], disable: object) -> None:
        self.clock = clock
        self.places = places
        self.send = send
        self.main = ManagedThread((0,))
        self.main.ident = self.main.handle = _get_ident()
        self.counter = Counter(self.main, disable)
        self.counter.digest = START
        self.log = SwitchLog(self.counter, places, send)
        self.threads = [self.main]
        self.known = {self.main.name: self.main}
        self.outside: tuple[str, tuple[object, ...]] | None = None
        self.outside_events = 0
        self.in_system_call = False
        self.has_effects = False
        self.look_every = (True, -1.0)
        self.least_still_ns = 0
        self.found_still: Callable[[int], None] = _ignore
        self.come_back: Callable[[], bool] = _never
        self.expect_stuck: Callable[[ManagedThread], None] | None = None
        self._ended_times: list[tuple[str, int]] = []
        self._passed_by_others = 0  # yield points passed up to the last hand-over
        self._gone = self.main  # the thread that ended last
        self._going = 0  # its native thread id, until the operating system has forgotten it

    def silence(self) -> None:
        """Send nothing to the tool from now on: this is the child of a fork."""
        self.send = self.log.send = _send_nothing

    # -- who runs ----------------------------------------------------------------------------------------------------

    @property
    def current(self) -> ManagedThread:
        """The thread that has the baton."""
        thread: ManagedThread = self.counter.current
        return thread

    def present(self) -> ManagedThread:
        """The calling thread; if its baton was taken during a call, it waits for the baton first."""
        thread = self.current
        if thread.ident != _get_ident() and self.come_back():
            thread = self.current
        return thread

    def is_ready(self, thread: ManagedThread) -> bool:
        """Whether the pending operation of a thread could proceed now."""
        waiting = thread.waiting
        if waiting is None or waiting.ready_for(thread) or thread.interrupted:
            return True
        return thread.deadline is not None and thread.deadline <= self.clock.now_ns

    def next_after(self, thread: ManagedThread, among: list[ManagedThread]) -> ManagedThread:
        """The thread that the default schedule runs after a thread."""
        later = [other for other in among if other.path > thread.path]
        return later[0] if later else among[0]

    def global_time(self) -> int:
        """Yield points passed by all threads together."""
        return self._passed_by_others + self.current.time - self.current.base_time

    def times(self) -> list[tuple[str, int]]:
        """(thread, thread time) of every thread of the run."""
        return sorted(self._ended_times + [(t.name, t.time) for t in self.threads])

    # -- from one thread to another ----------------------------------------------------------------------------------

    def give(self, thread: ManagedThread, to: ManagedThread) -> None:
        """Hand the baton from one thread to another, which has it once the first waits or lets go."""
        self._passed_by_others += thread.time - thread.base_time
        thread.base_time = thread.time
        self.counter.current = to
        thread.opens = to.open_gate

    def let_go(self, thread: ManagedThread) -> None:
        """Open the gate of the thread that was given the baton by one that will not wait for it."""
        opens, thread.opens = thread.opens, None
        if opens is not None:
            opens()

    def wait_for_baton(self, thread: ManagedThread) -> None:
        """Wait at a thread's gate, and check at intervals whether the thread with the baton stands still."""
        opens, thread.opens = thread.opens, None
        while still_ns := self.counter.wait_at(thread.acquire_gate, self.look_every, self.least_still_ns, opens):
            opens = None
            before = use_own(True)
            self.found_still(still_ns)
            use_own(before)
        use_own(True)  # also if a thread that has ended gave it

    def remove(self, thread: ManagedThread) -> None:
        """Remove a thread that has ended."""
        self.threads.remove(thread)
        self._ended_times.append((thread.name, thread.time))

    def is_going(self, thread: ManagedThread) -> None:
        """The calling thread is about to give up the baton for good."""
        self._going, self._gone = _thread.get_native_id(), thread

    def wait_for_gone(self) -> None:
        """Wait until the real thread that ended last is gone.

        It frees memory as it exits. Waiting for that keeps addresses, and with them the order of sets of objects,
        independent of real time.
        """
        if self._going:
            use_own(False)
            wait_until_gone(self._going)
            use_own(True)
            self._going = 0
            self._gone.ident = self._gone.handle = 0  # the next thread may get the same one


def _send_nothing(*record: object) -> None:
    pass


def _ignore(still_ns: int) -> None:
    pass


def _never() -> bool:
    return False
