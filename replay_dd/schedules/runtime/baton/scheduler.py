"""The deterministic scheduler: one baton, yield points, choices.

Rules of this module:

* A thread that stands at a yield point has a *pending operation*. It is *ready* if that operation could go on now (its
  lock is free, its time has come). The baton goes only to ready threads, so an operation never has to be tried twice,
  and there is exactly one choice at each (thread, thread time).
* Thread time counts the yield points that a thread has passed. It depends on the way of that thread alone, not on who
  ran in between: an operation counts once, whether it had to wait or not.
* The default choice is: go on if ready; else the next ready thread in the order of creation paths, cyclically; else
  (all wait) the thread whose deadline is next, and the clock jumps there. A strategy may deviate.
* The order of threads is the order of their creation paths, which does not depend on the schedule.
* Every change of the running thread, and every choice that is not the default one, goes into the log.
* Whatever hangs on the strategy happens in the runtime's own memory; see own_memory.py.

Longer than 400 lines because all of it reads and writes the one state that goes with the baton.
"""

from __future__ import annotations

import _thread
import sys
from _operator import attrgetter  # the program may not have loaded `operator`

from ..accelerator import accelerator
from ..accelerator.own_memory import use_own
from ..channel import TRACED
from ..counting.counter import LOOKED_THROUGH, Counter, fold
from ..counting.digest import START
from ..points.place import Place
from ..points.place_record import place_record
from ..points.places import Places
from .clock import NO_ALARM
from .garbage import COLLECT_EVERY, collect
from .moments import Arrivals, OutsideWait
from .stack_room import ROOM_FRAMES, need_room
from .strategy import Question, Strategy
from .stuck_calls import Away
from .thread import NEVER, ManagedThread, Patient, wait_until_gone

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType
    from typing import Any

    from .clock import Clock
    from .thread import Waitable

_FOR_THE_TRACE = 1  # a time at which to ask that comes at every yield point, and has no other reason
_get_ident = _thread.get_ident

# A thread that computes for so long without blocking gives way, so that `while not flag: pass` ends. By thread time,
# so that it does not depend on the schedule.
SPIN_LIMIT = 1_000_000

# The same for a thread that runs nothing but library code, whose operations are no yield points: so many of them. A
# prime, so that a loop does not give way at the same step each time, with the lock in its hand that others wait for.
LIBRARY_SPIN_LIMIT = 10_007

# A sleep or time-out that ends within this time may end early by a choice of the schedule: on a loaded machine the
# other threads could have been that slow. Longer ones end only when nobody else can run.
EARLY_WAKE_NS = 100_000_000


def _shared(name: str) -> Any:
    """An attribute of the scheduler that its counter holds, as each yield point asks for it."""

    def set_shared(scheduler: Scheduler, value: bool) -> None:
        setattr(scheduler.counter, name, value)

    return property(attrgetter(f"counter.{name}"), set_shared)


class Scheduler:
    """Hands the baton around. One for each process.

    Args:
        strategy: who decides.
        clock: the virtual clock.
        places: what code is counted.
        send: writes a record for the tool.
        end_deadlocked: ends the process when all threads wait for each other; does not return.
        disable: what the back end's callback answers where there is no yield point.

    Attributes:
        counting: whether yield points count: from the start of the first thread.
        busy: whether the scheduler is at work, or is not to be called.
        over: whether the program has ended.
    """

    counting: bool = _shared("counting")
    busy: bool = _shared("busy")
    over: bool = _shared("over")

    def __init__(
        self,
        strategy: Strategy,
        clock: Clock,
        places: Places,
        send: Callable[..., None],
        end_deadlocked: Callable[[], None],
        disable: object = None,
    ) -> None:
        self.clock = clock
        self.places = places
        self.send = send
        self.end_deadlocked = end_deadlocked
        self.main = ManagedThread((0,))
        self.main.ident = _get_ident()
        self.counter = Counter(self.main, disable)
        self.counter.digest = START
        self.counter.question = self.at_question
        self.follow(strategy)
        self.away = Away(self)
        self.come_back = self.away.come_back
        self.counter.stranger = self.away.stranger
        self.threads = [self.main]
        self.known = {self.main.name: self.main}  # all threads that ever were
        self.arrivals = Arrivals(self)
        self.ended_times: list[tuple[str, int]] = []
        self.passed_by_others = 0  # yield points passed up to the last hand-over
        self.collects = False
        # Really waits for what comes from outside of the process, when nobody can run; see descriptors.py.
        self.wait_outside: Callable[[list[ManagedThread], int | None], bool] | None = None
        self.outside: tuple[str, tuple[object, ...]] | None = None  # the audit event that is a yield point now
        self.traced_left = 0  # how many yield points to tell the tool of, one by one
        self.in_system_call = False  # the running thread is about to wait for something outside
        # Calls the program's signal handlers, in the main thread; see signals.py.
        self.deliver_signals: Callable[[], None] | None = None
        self.holds_signals = False
        self.has_effects = False  # whether a thread did something that lasts outside of the process
        self._place_numbers: dict[tuple[int, int, bool, bool], int] = {}
        self._kept: list[CodeType] = []
        self._ended = self.main
        self._ending = 0  # the native identity of a real thread that is about to end

    def follow(self, strategy: Strategy) -> None:
        """Let another strategy decide from now on."""
        self.strategy = strategy
        self.counter.every_operation = strategy.asks_at_operations

    # -- time --------------------------------------------------------------------------------------------------------

    @property
    def current(self) -> ManagedThread:
        """The thread that has the baton."""
        thread: ManagedThread = self.counter.current
        return thread

    def present(self) -> ManagedThread:
        """The thread that calls this; if it was away, it waits for the baton first."""
        thread = self.current
        if thread.ident != _get_ident() and self.come_back():
            thread = self.current
        return thread

    def global_time(self) -> int:
        """Yield points passed by all threads together."""
        return self.passed_by_others + self.current.time - self.current.base_time

    # -- yield points ------------------------------------------------------------------------------------------------

    def at_question(self, thread: ManagedThread, code: CodeType, position: int, is_line: bool) -> None:
        """The running thread has reached the thread time at which the strategy wanted to be asked."""
        if self.busy or self.over or (thread.starting is not None and not thread.starting()):
            return
        if self.traced_left:
            self._trace(thread, Place(code, position, is_line))
            if thread.ask_at == _FOR_THE_TRACE and thread.time < thread.due_at:
                return
        try:
            need_room(ROOM_FRAMES)
        except RecursionError:
            return  # Not switched here, so a replay is not asked here.
        if thread.time % COLLECT_EVERY == 0 and self.collects:
            self.busy = True
            use_own(False)  # finalizers are the program's
            collect(thread.time)
            use_own(True)
            self.busy = False
        self._choose(thread, Place(code, position, is_line), forced=False)
        use_own(False)
        if thread.signalled and self.deliver_signals is not None:
            self.deliver_signals()
        if thread.exception is not None:
            _raise(thread)

    def operation(
        self,
        frame: FrameType | None,
        waiting: Waitable | None = None,
        deadline: int | None = None,
        gives_way: bool = False,
    ) -> bool:
        """A yield point before an operation on a lock, a file, the clock.

        Args:
            frame: where to look for the code whose doing it is.
            waiting: what the operation needs, or None where it can always go on.
            deadline: virtual time in nanoseconds at which it stops to wait.
            gives_way: other ready threads come first (``time.sleep(0)``).

        Returns:
            True when the operation can go on, False when the deadline passed first.
        """
        if waiting is None and not gives_way and frame is not None and self.counter.pass_operation():
            return True
        use_own(True)  # from here on, as the operation of another strategy may have been passed by the accelerator
        try:
            return self._ask(frame, waiting, deadline, gives_way)
        finally:
            use_own(False)

    def _ask(self, frame: FrameType | None, waiting: Waitable | None, deadline: int | None, gives_way: bool) -> bool:
        thread = self.present()
        ready = waiting is None or waiting.ready_for(thread)
        if self.over or self.busy or thread.ident != _get_ident():
            return ready
        need_room(ROOM_FRAMES)
        # A lock that a condition takes back is taken: whoever called relies on that.
        if thread.exception is not None and waiting is not None and not _takes_back(sys._getframe(2)):
            use_own(False)
            _raise(thread)
        asks, spins = self._pass_operation(thread, frame, ready and not gives_way)
        while asks:
            thread.waiting = waiting
            thread.deadline = deadline
            if deadline is not None:
                self.arrivals.started(thread, deadline)
            try:
                self._choose(thread, thread.place, forced=not ready, gives_way=gives_way, spins=spins)
            finally:
                thread.waiting = thread.deadline = None
            if thread.signalled and self.deliver_signals is not None:
                use_own(False)
                self.deliver_signals()
                use_own(True)
            if waiting is None or self._has_come(waiting, thread):
                return True
            if self.over or (deadline is not None and deadline <= self.clock.now_ns):
                return False
            # It was a signal. The wait goes on, as another operation.
            ready = False
            self.pass_yield_point(thread)
        return True

    def _has_come(self, waiting: Waitable, thread: ManagedThread) -> bool:
        """Whether a wait was over at the last choice.

        What has come from outside since then comes too late: a replay would find it there from the start.
        """
        if isinstance(waiting, OutsideWait) and not self.over:
            return bool(waiting.arrived_by)
        return waiting.ready_for(thread)

    def _pass_operation(self, thread: ManagedThread, frame: FrameType | None, goes_on: bool) -> tuple[bool, bool]:
        """Count an operation; ``goes_on`` says that it can, and that nobody comes first.

        Returns:
            Whether to choose who runs next, and whether the thread has gone on for too long.
        """
        counted, user_frame = self.places.user_frame(frame)
        if user_frame is not None:
            thread.place = place = Place(user_frame.f_code, user_frame.f_lasti, reachable=True)
            if counted and accelerator is not None and not self.counter.every_operation:
                self._know(place, user_frame)
        if not goes_on:
            if self.counting:
                self.pass_yield_point(thread)
            return True, False
        if thread.starter is not None:
            return thread.starting is None or thread.starting(), False
        if not self.counting or thread.atomic:
            return False, False
        spins = False
        if not counted:
            thread.uncounted += 1
            spins = thread.uncounted % LIBRARY_SPIN_LIMIT == 0
            if not spins:
                return False, False
        self.pass_yield_point(thread)
        return spins or self.counter.every_operation or thread.time >= thread.ask_at, spins

    def _know(self, place: Place, user_frame: FrameType) -> None:
        """Tell the counter of the place of this operation, so that it need not ask here the next time."""
        number = self.places.place_hash(place.code, place.mark)
        self.counter.know(place.code, place.position, place, number)
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame is not user_frame:
            self.counter.know(frame.f_code, LOOKED_THROUGH, None, 0)
            frame = frame.f_back

    def pass_yield_point(self, thread: ManagedThread) -> None:
        """Count an operation of a thread."""
        before = use_own(True)
        place = thread.place
        if self.traced_left:
            self._trace(thread, place)
        fold(self.counter, thread, 0 if place is None else self.places.place_hash(place.code, place.mark))
        use_own(before)

    # -- choices -----------------------------------------------------------------------------------------------------

    def is_ready(self, thread: ManagedThread) -> bool:
        """Whether the pending operation of a thread could go on now."""
        waiting = thread.waiting
        if waiting is None or waiting.ready_for(thread) or thread.interrupted:
            return True
        return thread.deadline is not None and thread.deadline <= self.clock.now_ns

    def _choose(
        self, thread: ManagedThread, place: Place | None, forced: bool, gives_way: bool = False, spins: bool = False
    ) -> None:
        self.busy = True
        starter = thread.starter
        if starter is not None:
            # The thread has come up: its creator goes on, as if start() had not waited. No choice, so not logged.
            thread.starter = thread.starting = None
            self._hand_over(thread, starter)
            return
        ready = self._ready_threads()
        runnable = ready + self.early_sleepers(ready)
        if not runnable:
            self.end_deadlocked()
        default = thread
        if spins or (thread.time % SPIN_LIMIT == 0 and thread.time and not forced):
            others = [t for t in ready if t is not thread] or self._reached_by_computing(thread)
            default = self.next_after(thread, others) if others else thread
            runnable = runnable if default in runnable else [*runnable, default]
        elif forced or gives_way:
            default = self.next_after(thread, ready) if ready else self._earliest(thread, runnable)
        # Before the first thread starts there is nothing to choose, and strategies have not begun.
        question = Question(thread, runnable, default, forced, place)
        choice = self.strategy.choose(self, question) if self.counting else default
        if choice is not thread or choice is not default:
            self.log_switch(thread, choice, forced, choice is default, place)
        if choice.deadline is not None and not self.is_ready(choice):
            self.clock.jump_to(choice.deadline)
        if choice is thread:
            self.resumed(thread)
        else:
            self._hand_over(thread, choice)

    def _ready_threads(self) -> list[ManagedThread]:
        self.arrivals.at_choice()
        ready = [thread for thread in self.threads if self.is_ready(thread)]
        if ready:
            return ready
        alarm = self.clock.alarm_ns
        first = min([alarm, *(thread.deadline for thread in self.threads if thread.deadline is not None)])
        wait = self.wait_outside
        while not ready and wait is not None and wait(self.threads, self.arrivals.until_next_deadline_ns()):
            ready = [thread for thread in self.threads if self.is_ready(thread)]
        if not ready and alarm == first < NO_ALARM:
            self.clock.jump_to(alarm)  # which interrupts the main thread
            ready = [thread for thread in self.threads if self.is_ready(thread)]
        return ready

    def _reached_by_computing(self, thread: ManagedThread) -> list[ManagedThread]:
        """Whom the next deadline lets run: time passes for a thread that computes, too. An alarm is one."""
        if self.arrivals.real_deadlines:
            return []
        sleepers = self.early_sleepers([])
        alarm = self.clock.alarm_ns
        if alarm < NO_ALARM and not any(t.deadline is not None and t.deadline < alarm for t in sleepers):
            self.clock.jump_to(alarm)  # which interrupts the main thread
            return [t for t in self.threads if t is not thread and self.is_ready(t)]
        return sleepers

    def early_sleepers(self, ready: list[ManagedThread]) -> list[ManagedThread]:
        """The threads whose deadline is the next one, if it may be reached now."""
        sleepers = [t for t in self.threads if t.deadline is not None and t not in ready]
        if ready:
            sleepers = [t for t in sleepers if not isinstance(t.waiting, Patient)]
        deadlines = [t.deadline for t in sleepers if t.deadline is not None]
        if not deadlines:
            return []
        first = min(deadlines)
        if ready and (self.arrivals.real_time or first - self.clock.now_ns > EARLY_WAKE_NS):
            return []
        return [t for t in sleepers if t.deadline == first]

    def next_after(self, thread: ManagedThread, among: list[ManagedThread]) -> ManagedThread:
        """Whom the default schedule lets run after a thread."""
        later = [other for other in among if other.path > thread.path]
        return later[0] if later else among[0]

    def _earliest(self, thread: ManagedThread, sleepers: list[ManagedThread]) -> ManagedThread:
        return self.next_after(thread, sleepers)

    def _hand_over(self, thread: ManagedThread, to: ManagedThread) -> None:
        self.give(thread, to)
        try:
            self.wait_for_baton(thread)
            self.resumed(thread)
        except BaseException:  # set by another thread with PyThreadState_SetAsyncExc: it comes when we have the baton
            self.resumed(thread)
            raise

    def wait_for_baton(self, thread: ManagedThread) -> None:
        """Wait at the gate of a thread, and look now and then whether the one with the baton stands still."""
        while still_ns := self.counter.wait_at(thread.acquire_gate, self.away.waits, self.away.least_still_ns):
            before = use_own(True)
            self.away.found_still(still_ns)
            use_own(before)
        use_own(True)  # also if a thread that has ended gave it

    def give(self, thread: ManagedThread, to: ManagedThread) -> None:
        """Let another thread have the baton; the caller no longer has it."""
        self.passed_by_others += thread.time - thread.base_time
        thread.base_time = thread.time
        self.counter.current = to
        to.gate.release()

    def resumed(self, thread: ManagedThread) -> None:
        """Called by a thread that has just got the baton."""
        if self._ending:
            # The real thread behind an ended one frees memory while it goes away. Whoever goes on waits for that, so
            # that addresses, and with them the order of sets of objects, do not depend on real time.
            use_own(False)
            wait_until_gone(self._ending)
            use_own(True)
            self._ending = 0
            self._ended.ident = 0  # the next thread may get the same one
        self.set_next_question(thread)
        if thread.exception is not None or thread.signalled:
            thread.ask_at = 0  # at its next yield point
        self.busy = False

    def set_next_question(self, thread: ManagedThread) -> None:
        """Ask the strategy when it wants to be asked about this thread."""
        # SPIN_LIMIT is a multiple of COLLECT_EVERY, so that both are met.
        own = (thread.time // COLLECT_EVERY + 1) * COLLECT_EVERY
        asked = self.strategy.next_question(self, thread)
        thread.due_at = thread.ask_at = min(own, asked, self.arrivals.next_moment(thread))
        if self.traced_left:
            thread.ask_at = _FOR_THE_TRACE

    def _trace(self, thread: ManagedThread, place: Place | None) -> None:
        """Tell the tool of one yield point."""
        self.traced_left -= 1
        self.send(TRACED, thread.name, -1 if place is None else self.place_number(place))

    # -- the life of threads -----------------------------------------------------------------------------------------

    def create(self, parent: ManagedThread) -> ManagedThread:
        """A new thread, not running yet; ready as soon as it is added."""
        parent.children += 1
        return ManagedThread((*parent.path, parent.children))

    def add(self, thread: ManagedThread) -> None:
        """Let a created thread take part in choices."""
        self.threads.append(thread)
        self.known[thread.name] = thread
        self.threads.sort(key=lambda t: t.path)
        use_own(True)
        self.strategy.created(self, thread)
        use_own(False)

    def run_until_up(self, parent: ManagedThread, child: ManagedThread) -> None:
        """Let a new thread run up to the end of its own start, then come back."""
        self.busy = True
        child.starter = parent
        child.ask_at = 0
        use_own(True)
        self._hand_over(parent, child)
        use_own(False)

    def come_up(self) -> None:
        """A place where a new thread that has told that it is up gives the baton back to its creator."""
        thread = self.current
        if thread.starting is not None and thread.starting() and thread.ident == _get_ident():
            use_own(True)
            self._choose(thread, None, forced=False)
            use_own(False)

    def entered(self, thread: ManagedThread) -> None:
        """Called by a new thread: waits for the baton for the first time."""
        self.wait_for_baton(thread)
        thread.ident = _get_ident()
        ask_now = thread.starter is not None
        self.resumed(thread)
        if ask_now:
            thread.ask_at = 0
        use_own(False)

    def ended(self, thread: ManagedThread, frame: FrameType | None) -> None:
        """Called by a thread as its last act: gives the baton away for good."""
        if self.over:
            return
        thread.ended = True
        self._ending, self._ended = _thread.get_native_id(), thread
        thread.waiting = thread.deadline = None
        if self.counting:
            thread.place = None
            self.pass_yield_point(thread)
        self.busy = True
        use_own(True)
        self._leave_to_others(thread)
        use_own(False)  # what now goes with the thread is the program's

    def _leave_to_others(self, thread: ManagedThread) -> None:
        self.threads.remove(thread)
        self.ended_times.append((thread.name, thread.time))
        starter = thread.starter
        if starter is not None:
            thread.starter = None
            self.give(thread, starter)
            return
        ready = self._ready_threads()
        runnable = ready + self.early_sleepers(ready)
        if not runnable:
            self.end_deadlocked()
        default = self.next_after(thread, ready or runnable)
        choice = self.strategy.choose(self, Question(thread, runnable, default, forced=True))
        self.log_switch(thread, choice, True, choice is default, None)
        if choice.deadline is not None and not self.is_ready(choice):
            self.clock.jump_to(choice.deadline)
        self.give(thread, choice)

    def start_anew(self) -> None:
        """In the child of a fork: only the thread that forked is there, and it is the main one."""
        thread = self.current
        thread.waiting = thread.deadline = thread.starter = None
        self.main = thread
        self.threads = [thread]
        self.follow(Strategy())
        self.send = _send_nothing
        self.counting = False
        thread.ask_at = NEVER

    # -- the log -----------------------------------------------------------------------------------------------------

    def log_switch(
        self, thread: ManagedThread, to: ManagedThread, forced: bool, by_default: bool, place: Place | None
    ) -> None:
        """Write a switch, or a choice that is not the default one, into the log."""
        number = -1 if place is None else self.place_number(place)
        visit = 0
        if place is not None and self.counter.watched is not None:
            visit = self.counter.visits.get((thread, self.places.place_hash(place.code, place.mark)), 0)
        self.send(
            *("switch", thread.name, thread.time, to.name, forced, by_default),
            *(number, self.global_time(), self.counter.digest, visit, thread.ended),
        )

    def place_number(self, place: Place) -> int:
        """The number of a place in the log, which is told to the tool at first use."""
        key = (id(place.code), place.position, place.is_line, place.reachable)
        number = self._place_numbers.get(key)
        if number is None:
            number = self._place_numbers[key] = len(self._place_numbers)
            self._kept.append(place.code)
            self.send(*place_record(self.places, number, place))
        return number

    def times(self) -> list[tuple[str, int]]:
        """(thread, thread time) of every thread that ever was."""
        return sorted(self.ended_times + [(t.name, t.time) for t in self.threads])


def _takes_back(frame: FrameType | None) -> bool:
    """Whether a condition does this operation; from the lock's own functions to its own there are few frames."""
    for _ in range(3):
        if frame is not None and frame.f_code.co_name == "_acquire_restore":
            return True
        frame = None if frame is None else frame.f_back
    return False


def _raise(thread: ManagedThread) -> None:
    """Raise what another thread has set in this one; a class is instantiated, as the interpreter does."""
    exception, thread.exception = thread.exception, None
    raise exception


def _send_nothing(*record: object) -> None:
    """The channel of a forked child."""
