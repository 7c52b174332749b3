"""Who gets the baton next.

Rules of this module:

* The default choice is: continue if ready; otherwise the next ready thread in the order of creation paths, cyclically;
  otherwise (all wait) the thread with the earliest deadline, to which the clock jumps. A strategy may deviate.
* There is one way to hand the baton on (:meth:`Chooser.hand_on`): ask the strategy, log its choice, give. It serves
  a thread that blocks, one that ends, and one that is stuck in a call.
* Every change of the running thread, and every choice that is not the default one, goes into the log.
"""

from __future__ import annotations

from ..channel import NOTE
from ..constants import BY_THREAD
from ..points.place import line_of
from .baton import Baton
from .clock import NO_ALARM, real_clock_ns
from .garbage import COLLECT_EVERY
from .lateness import at_hand_over, has_slept, late_if_woken_ns
from .moments import Moments, OutsideWait
from .strategy import Question, Strategy
from .thread import ManagedThread, Patient

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType
    from typing import Any, Protocol

    from ..points.place import Place
    from ..points.places import Places
    from .clock import Clock
    from .thread import Waitable

    class Observer(Protocol):
        """Looks at what threads access; see the room ``accesses``."""

        def next_time(self, thread: ManagedThread) -> int:
            """The thread time at which a thread is next observed."""

        def at_access(self, thread: ManagedThread, code: CodeType, position: int) -> None:
            """A thread is about to run an instruction."""

        def at_switch(self, thread: ManagedThread) -> None:
            """A thread gives way; it is the one that calls this."""

        def before_operation(self, thread: ManagedThread, frame: FrameType | None, waiting: object) -> None:
            """A thread needs something; it may have to wait for that."""

        def at_operation(
            self,
            thread: ManagedThread,
            frame: FrameType | None,
            waiting: object,
            done: bool,
            outside: tuple[str, tuple[object, ...]] | None,
        ) -> None:
            """A thread has passed an operation."""

    class History(Protocol):
        """Keeps what threads do with locks; see the room ``hangs``."""

        def before_operation(self, thread: ManagedThread, frame: FrameType | None, waiting: object) -> None:
            """A thread needs something; it may have to wait for that."""

        def after_operation(self, thread: ManagedThread, frame: FrameType | None, waiting: object, done: bool) -> None:
            """A thread has passed an operation."""

        def at_ownership_check(self, frame: FrameType | None) -> None:
            """A condition asks whether its lock is the running thread's."""

        def put(self, queue: object, frame: FrameType | None) -> None:
            """A thread puts something into a simple queue."""

    class Circles(Protocol):
        """Notices that the program goes round in a circle; see ``hangs/circles.py``."""

        def at_choice(
            self, thread: ManagedThread, place: Place | None, ready: list[ManagedThread], waits: bool
        ) -> None:
            """A thread has to wait or gives way, or computes; ends the program if it goes round in a circle."""

    class Guard(Protocol):
        """Holds threads back beyond what the program's own locks do; see the room ``virtual``."""

        def at_instruction(
            self, thread: ManagedThread, code: CodeType, position: int, is_line: bool
        ) -> Waitable | None:
            """What a thread needs before it runs an instruction; None if it may."""

        def enter(self, thread: ManagedThread, needed: Waitable) -> None:
            """A thread gets what it needed, which is free."""

        def at_operation(self, thread: ManagedThread, waiting: Waitable | None) -> Waitable | None:
            """What a thread needs for an operation that it is about to do."""

        def at_end(self, thread: ManagedThread) -> None:
            """A thread has ended."""

    class Spins(Protocol):
        """Notices that a thread spins; see ``hangs/spins.py``."""

        def spins(self, thread: ManagedThread) -> bool:
            """Whether a thread goes round in a loop that only another one can end."""


FOR_THE_TRACE = 1  # a time that every yield point has passed: ask at each, just to trace it

# A thread that computes for this many yield points without blocking yields, so that `while not flag: pass` ends.
# Measured in thread time, so that it does not depend on the schedule.
SPIN_LIMIT = 1_000_000


class Chooser(Baton):
    """Decides who gets the baton.

    Args:
        clock: the virtual clock.
        places: what code is counted.
        send: writes a record for the tool.
        end_deadlocked: ends the process when all threads wait for each other; does not return.
        disable: what the back end's callback answers where there is no yield point.

    Attributes:
        strategy: who may deviate from the default schedule.
        moments: when things arrive from outside the process.
        wait_outside: waits for them in real time when nobody can run; see descriptors.py.
        wait_for_signal: waits for a signal of a child process when nobody else can end a deadlock; see signals.py.
        traced_left: how many more yield points to report to the tool one by one.
        executed: what reports every instruction to the tool, if that is wanted; see ../backends/executed.py.
        observer: looks at what the program accesses, if the tool wants that.
        when_asked: called now and then; tells what is known of the threads if the tool has asked for it.
        history: keeps what happens to locks and the like, if the tool wants that.
        circles: notices that the program goes round in a circle.
        spins: notices that a thread spins.
        guard: keeps a virtual lock or order, if the tool wants one.
        max_delay_ns: the schedule may end a sleep or time-out early if that makes no other thread later than this: on a
            loaded machine, they could have been that slow. Other ones end only when nobody else can run.
        least_asleep_ns: how late another thread would have been, at least, where one exceeded this; 0 if none did.
    """

    def __init__(
        self,
        clock: Clock,
        places: Places,
        send: Callable[..., None],
        end_deadlocked: Callable[[], None],
        disable: object,
    ) -> None:
        super().__init__(clock, places, send, disable)
        self.end_deadlocked = end_deadlocked
        self.follow(Strategy())
        self.moments = Moments(self)
        self.wait_outside: Callable[[list[ManagedThread], int | None], bool] | None = None
        self.wait_for_signal: Callable[[], bool] = lambda: False
        self.traced_left = 0
        self.executed: Any = None
        self.observer: Observer | None = None
        self.history: History | None = None
        self.circles: Circles | None = None
        self.spins: Spins | None = None
        self.guard: Guard | None = None
        self.when_asked: Callable[[], None] = _nothing
        self.max_delay_ns = 0
        self.least_asleep_ns = 0
        self._told_spinning = False
        self.ready: list[ManagedThread] = []  # beside the sleepers, at the present choice

    def follow(self, strategy: Strategy) -> None:
        """Let another strategy decide from now on."""
        self.strategy = strategy
        self.counter.every_operation = strategy.asks_at_operations
        self.counter.noting, self.counter.notable = (BY_THREAD if strategy.notes_visits else 0), False

    def choose_next(
        self, thread: ManagedThread, place: Place | None, forced: bool, gives_way: bool = False, spins: bool = False
    ) -> None:
        """Let the strategy choose who runs next; returns when this thread has the baton again.

        Args:
            thread: who runs now.
            place: where, if that is known.
            forced: it cannot continue.
            gives_way: other ready threads go first.
            spins: it has been running for too long.
        """
        self.busy = True
        starter = thread.starter
        if starter is not None:
            # The thread is up: its creator continues, as if start() had not waited. Not a choice, so not logged.
            thread.starter = thread.starting = None
            self.switch_to(thread, starter)
            return
        if thread.time % COLLECT_EVERY == 0:
            self.when_asked()
        ready, runnable = self.who_can_run()
        waits = forced or gives_way
        if self.circles is not None and self.counting and (waits or thread.time % COLLECT_EVERY == 0):
            self.circles.at_choice(thread, place, ready, waits)
        if not waits and not spins and self.spins is not None and thread.time % COLLECT_EVERY == 0 and self.counting:
            spins = self.spins.spins(thread)
        default = thread
        if spins or (thread.time % SPIN_LIMIT == 0 and thread.time and not forced):
            others = [t for t in ready if t is not thread] or self._reached_by_computing(thread)
            if others and thread.time - thread.base_time > SPIN_LIMIT // 2:
                self._tell_spinning(thread, place)
            default = self.next_after(thread, others) if others else thread
            runnable = runnable if default in runnable else [*runnable, default]
        elif forced or gives_way:
            default = self.next_after(thread, ready or runnable)
        if self.hand_on(Question(thread, runnable, default, forced, place, gives_way)) is thread:
            self.resumed(thread)
        else:
            self._wait_to_resume(thread)

    def hand_on(self, question: Question) -> ManagedThread:
        """Ask the strategy who runs next, log its choice, and hand over the baton; see :meth:`give`.

        Returns:
            Who has the baton now; this may be the thread that had it before.
        """
        thread, default = question.thread, question.default
        # Before the first thread starts there is nothing to choose, and strategies have not begun.
        choice = self.strategy.choose(self, question) if self.counting else default
        thread.collects = question.collects and choice is thread
        wakes_at = choice.deadline
        if wakes_at is not None and self.is_ready(choice):
            wakes_at = None
        if choice is not thread or choice is not default or thread.collects:
            by_default = choice is default and not thread.collects
            left_ns = None if wakes_at is None else max(0, wakes_at - self.clock.now_ns)
            early_ns = 0 if left_ns and not self.ready else left_ns
            self.log.switch(
                *(thread, choice, question.forced, by_default, question.place, self.global_time(), early_ns),
                collects=thread.collects,
            )
            if self.observer is not None:
                self.observer.at_switch(thread)
        if choice is not thread or wakes_at is not None:
            at_hand_over(self.clock, self.threads, self.ready, thread)
        if wakes_at is not None:
            self.clock.jump_to(wakes_at)
            has_slept(self.clock, choice)
        if choice is not thread:
            self.outside, self.in_system_call = None, False  # no other thread is about to do that
            self.give(thread, choice)
        return choice

    def who_can_run(self) -> tuple[list[ManagedThread], list[ManagedThread]]:
        """(ready threads, threads that can run next); ends the process if there are none: a deadlock."""
        self.moments.happenings.at_choice()
        ready = [thread for thread in self.threads if self.is_ready(thread)]
        if not ready:
            self.when_asked()
            alarm = self.clock.alarm_ns
            first = min([alarm, *(thread.deadline for thread in self.threads if thread.deadline is not None)])
            wait, began_ns = self.wait_outside, real_clock_ns()
            while not ready and wait is not None and wait(self.threads, self.moments.until_next_deadline_ns()):
                ready = self._ready_after(real_clock_ns() - began_ns, first)
            if not ready and alarm == first < NO_ALARM:
                self.clock.jump_to(alarm)  # which interrupts the main thread
                ready = [thread for thread in self.threads if self.is_ready(thread)]
            if not ready and first == NO_ALARM and self.wait_for_signal():
                ready = self._ready_after(real_clock_ns() - began_ns, first)
        runnable = ready + self.early_sleepers(ready)
        if not runnable:
            self.end_deadlocked()
        return ready, runnable

    def _ready_after(self, waited_ns: int, first: int) -> list[ManagedThread]:
        """The ready threads, after so much real time in which nobody was; ``first``: the next deadline or alarm."""
        moments = self.moments
        passed_ns = 0 if moments.real_time else min(waited_ns, max(0, first - 1 - self.clock.now_ns))
        given = moments.happenings.give_signals(passed_ns)
        ready = [thread for thread in self.threads if self.is_ready(thread)]
        for one in () if given else ready:
            if isinstance(one.waiting, OutsideWait) and one.waiting.took(passed_ns):
                break  # the time has passed only once
        return ready

    def _tell_spinning(self, thread: ManagedThread, place: Place | None) -> None:
        if not self._told_spinning:
            self._told_spinning = True
            where = "" if place is None else f", at {self.places.short(place.code.co_filename)}:{line_of(place)}"
            text = f"thread {thread.name} passed {SPIN_LIMIT:,} yield points without waiting"
            self.send(NOTE, "spins", f"{text}; only then others were let run{where}")

    def _reached_by_computing(self, thread: ManagedThread) -> list[ManagedThread]:
        """The threads that the next deadline or alarm lets run: time also passes while a thread computes."""
        if self.moments.real_deadlines:
            return []
        sleepers = self.early_sleepers([])
        alarm = self.clock.alarm_ns
        if alarm < NO_ALARM and not any(t.deadline is not None and t.deadline < alarm for t in sleepers):
            self.clock.jump_to(alarm)  # which interrupts the main thread
            return [t for t in self.threads if t is not thread and self.is_ready(t)]
        return sleepers

    def early_sleepers(self, ready: list[ManagedThread]) -> list[ManagedThread]:
        """The threads with the earliest deadline, if that may be reached now."""
        sleepers = [t for t in self.threads if t.deadline is not None and t not in ready]
        self.ready = ready
        if ready:
            sleepers = [t for t in sleepers if not isinstance(t.waiting, Patient)]
        deadlines = [t.deadline for t in sleepers if t.deadline is not None]
        if not deadlines:
            return []
        first = min(deadlines)
        if ready and self.moments.real_time:
            return []
        sleepers = [t for t in sleepers if t.deadline == first]
        return self._soon_enough(sleepers, ready) if ready else sleepers

    def _soon_enough(self, sleepers: list[ManagedThread], ready: list[ManagedThread]) -> list[ManagedThread]:
        """Those of some sleepers that may wake up before others go on, and not make these too late."""
        late = [(late_if_woken_ns(self.clock, sleeper, ready, self.current), sleeper) for sleeper in sleepers]
        too_late_ns = [late_ns for late_ns, _ in late if late_ns > self.max_delay_ns]
        self.least_asleep_ns = min([*too_late_ns, *([self.least_asleep_ns] if self.least_asleep_ns else [])], default=0)
        return [sleeper for late_ns, sleeper in late if late_ns <= self.max_delay_ns]

    # -- from one thread to another ----------------------------------------------------------------------------------

    def switch_to(self, thread: ManagedThread, to: ManagedThread) -> None:
        """Let another thread run, without a choice; returns when this one has the baton again."""
        self.give(thread, to)
        self._wait_to_resume(thread)

    def _wait_to_resume(self, thread: ManagedThread) -> None:
        try:
            self.wait_for_baton(thread)
            self.resumed(thread)
        except BaseException:  # set by another thread with PyThreadState_SetAsyncExc: raised once we have the baton
            self.resumed(thread)
            raise

    def resumed(self, thread: ManagedThread) -> None:
        """Called by a thread that has just got the baton."""
        self.wait_for_gone()
        self.set_next_question(thread)
        if thread.exception is not None or thread.signalled or self._learns_of_signal(thread):
            thread.ask_at = 0  # at its next yield point
        self.busy = False

    def _learns_of_signal(self, thread: ManagedThread) -> bool:
        return thread is self.main and self.moments.happenings.signal_came

    def set_next_question(self, thread: ManagedThread) -> None:
        """Ask the strategy for the time of its next question about this thread."""
        # SPIN_LIMIT is a multiple of COLLECT_EVERY, so neither is missed.
        own = (thread.time // COLLECT_EVERY + 1) * COLLECT_EVERY
        asked = self.strategy.next_question(self, thread)
        thread.due_at = thread.ask_at = min(own, asked, self.moments.next_moment(thread))
        if self.traced_left:
            thread.ask_at = FOR_THE_TRACE
        if self.observer is not None:
            thread.ask_at = min(thread.ask_at, self.observer.next_time(thread))
        if self.guard is not None:
            thread.ask_at = min(thread.ask_at, thread.time + 1)


def _nothing() -> None:
    pass
