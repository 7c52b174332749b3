"""Who gets the baton next.

Rules of this module:

* The default choice is: go on if ready; else the next ready thread in the order of creation paths, cyclically; else
  (all wait) the thread whose deadline is next, and the clock jumps there. A strategy may deviate.
* There is one way to hand the baton on (:meth:`Chooser.hand_on`): ask the strategy, log its choice, give. A thread that
  blocks, one that ends, and one that is stuck in a call take it alike.
* Every change of the running thread, and every choice that is not the default one, goes into the log.
"""

from __future__ import annotations

from .baton import Baton
from .clock import NO_ALARM
from .garbage import COLLECT_EVERY
from .moments import Moments
from .strategy import Question, Strategy
from .thread import ManagedThread, Patient

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..points.place import Place
    from ..points.places import Places
    from .clock import Clock

FOR_THE_TRACE = 1  # a time at which to ask that comes at every yield point, and has no other reason

# A thread that computes for so long without blocking gives way, so that `while not flag: pass` ends. By thread time,
# so that it does not depend on the schedule.
SPIN_LIMIT = 1_000_000

# A sleep or time-out that ends within this time may end early by a choice of the schedule: on a loaded machine the
# other threads could have been that slow. Longer ones end only when nobody else can run.
EARLY_WAKE_NS = 100_000_000


class Chooser(Baton):
    """Decides where the baton goes.

    Args:
        clock: the virtual clock.
        places: what code is counted.
        send: writes a record for the tool.
        end_deadlocked: ends the process when all threads wait for each other; does not return.
        disable: what the back end's callback answers where there is no yield point.

    Attributes:
        strategy: who may deviate from the default schedule.
        moments: when something came from outside of the process.
        wait_outside: really waits for that when nobody can run; see descriptors.py.
        traced_left: how many yield points to tell the tool of, one by one.
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
        self.traced_left = 0

    def follow(self, strategy: Strategy) -> None:
        """Let another strategy decide from now on."""
        self.strategy = strategy
        self.counter.every_operation = strategy.asks_at_operations

    def choose_next(
        self, thread: ManagedThread, place: Place | None, forced: bool, gives_way: bool = False, spins: bool = False
    ) -> None:
        """Let the strategy choose who runs next; comes back when this thread has the baton.

        Args:
            thread: who runs now.
            place: where, if that is known.
            forced: it cannot go on.
            gives_way: other ready threads come first.
            spins: it has gone on for too long.
        """
        self.busy = True
        starter = thread.starter
        if starter is not None:
            # The thread has come up: its creator goes on, as if start() had not waited. No choice, so not logged.
            thread.starter = thread.starting = None
            self.switch_to(thread, starter)
            return
        ready, runnable = self.who_can_run()
        default = thread
        if spins or (thread.time % SPIN_LIMIT == 0 and thread.time and not forced):
            others = [t for t in ready if t is not thread] or self._reached_by_computing(thread)
            default = self.next_after(thread, others) if others else thread
            runnable = runnable if default in runnable else [*runnable, default]
        elif forced or gives_way:
            default = self.next_after(thread, ready or runnable)
        if self.hand_on(Question(thread, runnable, default, forced, place)) is thread:
            self.resumed(thread)
        else:
            self._wait_to_resume(thread)

    def hand_on(self, question: Question) -> ManagedThread:
        """Ask the strategy who runs next, log that, and give the baton there.

        Returns:
            Who has it now; if that is the thread that ran, it goes on.
        """
        thread, default = question.thread, question.default
        # Before the first thread starts there is nothing to choose, and strategies have not begun.
        choice = self.strategy.choose(self, question) if self.counting else default
        if choice is not thread or choice is not default:
            by_default = choice is default
            self.log.switch(thread, choice, question.forced, by_default, question.place, self.global_time())
        if choice.deadline is not None and not self.is_ready(choice):
            self.clock.jump_to(choice.deadline)
        if choice is not thread:
            self.give(thread, choice)
        return choice

    def who_can_run(self) -> tuple[list[ManagedThread], list[ManagedThread]]:
        """(the ready threads, those that can run next); ends the process where there are none."""
        self.moments.at_choice()
        ready = [thread for thread in self.threads if self.is_ready(thread)]
        if not ready:
            alarm = self.clock.alarm_ns
            first = min([alarm, *(thread.deadline for thread in self.threads if thread.deadline is not None)])
            wait = self.wait_outside
            while not ready and wait is not None and wait(self.threads, self.moments.until_next_deadline_ns()):
                ready = [thread for thread in self.threads if self.is_ready(thread)]
            if not ready and alarm == first < NO_ALARM:
                self.clock.jump_to(alarm)  # which interrupts the main thread
                ready = [thread for thread in self.threads if self.is_ready(thread)]
        runnable = ready + self.early_sleepers(ready)
        if not runnable:
            self.end_deadlocked()
        return ready, runnable

    def _reached_by_computing(self, thread: ManagedThread) -> list[ManagedThread]:
        """Whom the next deadline lets run: time passes for a thread that computes, too. An alarm is one."""
        if self.moments.real_deadlines:
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
        if ready and (self.moments.real_time or first - self.clock.now_ns > EARLY_WAKE_NS):
            return []
        return [t for t in sleepers if t.deadline == first]

    # -- from one thread to another ----------------------------------------------------------------------------------

    def switch_to(self, thread: ManagedThread, to: ManagedThread) -> None:
        """Let another thread run, without a choice; comes back when this one has the baton again."""
        self.give(thread, to)
        self._wait_to_resume(thread)

    def _wait_to_resume(self, thread: ManagedThread) -> None:
        try:
            self.wait_for_baton(thread)
            self.resumed(thread)
        except BaseException:  # set by another thread with PyThreadState_SetAsyncExc: it comes when we have the baton
            self.resumed(thread)
            raise

    def resumed(self, thread: ManagedThread) -> None:
        """Called by a thread that has just got the baton."""
        self.wait_for_gone()
        self.set_next_question(thread)
        if thread.exception is not None or thread.signalled:
            thread.ask_at = 0  # at its next yield point
        self.busy = False

    def set_next_question(self, thread: ManagedThread) -> None:
        """Ask the strategy when it wants to be asked about this thread."""
        # SPIN_LIMIT is a multiple of COLLECT_EVERY, so that both are met.
        own = (thread.time // COLLECT_EVERY + 1) * COLLECT_EVERY
        asked = self.strategy.next_question(self, thread)
        thread.due_at = thread.ask_at = min(own, asked, self.moments.next_moment(thread))
        if self.traced_left:
            thread.ask_at = FOR_THE_TRACE
