"""When things arrive from outside the schedule: recorded as it happens, reproduced in a replay.

Rules of this module:

* A thread that waits for a descriptor, a child process, or a call that the runtime does not control waits for something
  that no schedule determines. Each such wait is identified by its thread and its number among that thread's waits.
* Its *moment* is the first choice at which it was seen to be ready: who ran then, at which thread time. From then on it
  stays ready, even if another thread takes what arrived; the thread checks again when it continues.
* A replay holds a wait back until its moment, and then waits in real time for what arrived in the recorded run. What an
  operation returned (how many bytes, which descriptors) is its *answer*; the replay takes no more and no less.
* A wait that the log does not know is off the recorded path; there the runtime behaves as in a recording. The same
  holds if a wait's moment cannot come, which shows when nobody can run: a mixture of two runs has such waits.
* Where a replay repeats one run exactly, however long something takes is no reason to leave that path: it waits.
"""

from __future__ import annotations

import time

from ..accelerator.own_memory import use_own
from ..channel import ARRIVAL, AT, DUE, FROM, NOTE, PASSED, SIGNAL, TO, UNLIKE
from .clock import NO_ALARM, real_clock_ns
from .happenings import Happenings
from .patience import NEAR, OUTSIDE, PATIENCE_S, Patience
from .replies import Reply, replies_in
from .thread import NEVER

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .baton import Baton
    from .thread import ManagedThread

_STEP_S = 0.001
_ROUNDS = 3
_MOST_TOLD = 5
_LEAST_PASSED_NS = 1_000_000  # the program might have taken less itself

AWAY = "away"  # begins the answer of a wait that was the runtime's doing; see stuck_calls.py
TIMED_OUT = ""  # in the place of a thread's name: the wait ended without what it waited for

_real_sleep = time.sleep  # before the runtime puts its own in place


class Expected:
    """What the log knows of one wait.

    Args:
        by: who ran at its moment.
        time: the thread time of that one.
        answer: its answer.
        which: the descriptor that it read or wrote, as the channel has it; empty if that is not known.
        reply: what else is known of a read.
        passed_ns: for how many nanoseconds nobody could run until its moment.
    """

    __slots__ = ("answer", "by", "passed_ns", "reply", "time", "which")

    def __init__(self, by: str, time: int, answer: Any, which: str, reply: Reply | None, passed_ns: int) -> None:
        self.by = by
        self.time = time
        self.answer = answer
        self.which = which
        self.reply = reply
        self.passed_ns = passed_ns


def is_away(answer: object) -> bool:
    """Whether this is the answer of a call that the runtime does not control."""
    return isinstance(answer, tuple) and bool(answer) and answer[0] == AWAY


class OutsideWait:
    """One wait of one thread for something outside the schedule.

    Args:
        moments: those of all waits.
        thread: who waits.
        is_there: whether it is there now; does not block.
        descriptors: (descriptor, events as ``poll`` takes them) that become ready with it; may be empty.
        nature: INSIDE, NEAR, LISTENING or OUTSIDE.
        what: what is waited for, in words.
    """

    __slots__ = (
        *("_moments", "arrived_at", "arrived_by", "concerns", "descriptors", "expected", "is_there", "nature", "near"),
        *("number", "problem", "rounds", "thread", "what", "which"),
    )

    def __init__(
        self,
        moments: Moments,
        thread: ManagedThread,
        is_there: Callable[[], object],
        descriptors: list[tuple[int, int]],
        nature: int,
        what: str,
    ) -> None:
        self._moments = moments
        self.thread = thread
        self.is_there = is_there
        self.descriptors = descriptors
        self.concerns: list[int] = []  # the descriptors that the program named
        self.near: list[int] = []  # descriptors that are NEAR, whatever the others are
        self.nature = nature
        self.what = what
        thread.waits += 1
        self.number = thread.waits
        self.which = "" if len(descriptors) != 1 else f"{FROM if descriptors[0][1] & 1 else TO} {descriptors[0][0]}"
        self.expected: Expected | None = moments.expected.get((thread.name, thread.waits))
        self.problem: Exception | None = None  # that polling raised
        self.rounds = 0  # how often it was there while nobody could run
        self.arrived_by, self.arrived_at = "", 0  # who ran at its moment, and the thread time of that one

    def ready_for(self, thread: ManagedThread) -> bool:
        if not self.arrived_by:
            before = use_own(True)
            if self._is_ready_now():
                self.arrived_by, self.arrived_at = self._moments.now()
            use_own(before)
        return bool(self.arrived_by)

    def _is_ready_now(self) -> bool:
        expected = self.expected
        if expected is None:
            return self._moments.look(self)
        if expected.by == TIMED_OUT or not self._moments.reached(expected.by, expected.time):
            return False
        arrived = self.wait_really()
        if arrived and expected.passed_ns:
            self._moments.passed(self, expected.passed_ns)
        return arrived

    def took(self, passed_ns: int) -> bool:
        """It is over after so long a time in which nobody could run; whether that counts."""
        if not self.arrived_by or self.expected is not None or self.nature <= NEAR or passed_ns < _LEAST_PASSED_NS:
            return False
        self._moments.passed(self, passed_ns)
        return True

    def wait_really(self) -> bool:
        """Wait for what arrived in the recorded run; if it does not, the thread has left the recorded path."""
        before = use_own(True)  # how often it looks is a matter of real time
        try:
            self._moments.before_looking(self)
            limit_s = self._moments.patience_s(self.nature)
            if self._moments.look(self) or self.wait_for_it(limit_s):
                return True
            self._moments.lose(f"got {self.in_words()}; this one waited {limit_s:.1f} s in vain")
            self.leave()
            return False
        finally:
            use_own(before)

    def wait_for_rest(self) -> bool:
        """Wait for the rest of what has begun to arrive; False if that takes too long."""
        moments = self._moments
        return moments.look(self) or self.wait_for_it(
            moments.patience.rest_seconds(self.nature, moments.somebody_is_away())
        )

    def wait_for_it(self, limit_s: float) -> bool:
        """Wait in real time until it is there; False if that takes too long."""
        start_ns = real_clock_ns()
        end_ns, last_ns = start_ns + int(limit_s * 1_000_000_000), start_ns + int(PATIENCE_S * 1_000_000_000)
        while real_clock_ns() < end_ns or (real_clock_ns() < last_ns and self._moments.are_in_flight([self])):
            self._moments.pause(_STEP_S)
            if self._moments.look(self):
                return True
        return False

    def leave(self) -> None:
        """Expect nothing more of this thread: it has left its recorded path."""
        self._moments.leave(self.thread)
        self.expected = None

    def answer_at_deadline(self) -> object:
        """Its answer although the deadline passed first; plain values."""
        return None

    def answer_at_end(self) -> object:
        """Its answer although the run ended first; plain values."""
        return None

    def explain(self) -> str:
        return f"waits for {self.what}"

    def in_words(self) -> str:
        """What it waits for, and with whom it is connected."""
        others = list(dict.fromkeys(map(self._moments.in_words, self.concerns)))
        what, on, _ = self.what.partition(" on descriptor ")
        if not others:
            return self.what
        return f"{what if on else 'something'} on {' or '.join(others)}"

    def amount_in_words(self, recorded: int, now: int, then: str) -> str:
        """That not as many bytes came as in the recorded run; what came then."""
        on = " or ".join(map(self._moments.in_words, self.concerns))
        return f"received {recorded:,} bytes on {on}, where {now:,} came now{then}"


class Moments:
    """Numbers the waits for things from outside, logs their moments, and enforces those of a log.

    Args:
        baton: who runs, and which threads there are.
    """

    def __init__(self, baton: Baton) -> None:
        self._baton = baton
        self.expected: dict[tuple[str, int], Expected] = {}
        self._times: dict[str, list[int]] = {}
        self.happenings = Happenings(baton, self)
        self.before_looking: Callable[[OutsideWait], None] = lambda wait: None  # in a replay; see ../stdlib/signals.py
        self._told: set[str] = set()
        self.patience = Patience()
        self.following = False
        self.somebody_is_away: Callable[[], bool] = lambda: False  # in a call without the baton; see stuck_calls.py
        self.real_deadlines = False  # deadlines pass in real time, now or when the log was recorded
        self.real_time = False  # deadlines also pass when as much real time has passed
        # Whether bytes are on their way to one of these descriptors; see io/tcp_in_flight.py.
        self.in_words: Callable[[int], str] = lambda descriptor: f"descriptor {descriptor}"
        self.bytes_in_flight: Callable[[list[int]], bool] = lambda descriptors: False

    def follow(self, records: list[tuple[Any, ...]], following: bool = True) -> None:
        """Let everything arrive when these records of a log say it did.

        Args:
            records: what the channel of another run held.
            following: whether there was such a run; otherwise deadlines may pass in real time.
        """
        moments: dict[str, set[int]] = {}
        self.following = following
        replies = replies_in(records)
        self.happenings.follow(records)
        self.expected, passed = {}, {one[1:3]: one[3] for one in records if one[0] == PASSED}
        self.real_deadlines = self.real_time or any(record[0] == DUE for record in records)
        for kind, *values in records:
            if kind == ARRIVAL:
                thread, number, by, by_time, answer, *which = values
                reply = replies.get((thread, number))
                known = (which[0] if which else "", reply, passed.get((thread, number), 0))
                self.expected[thread, number] = Expected(by, by_time, answer, *known)
                if by != thread and by != TIMED_OUT:
                    moments.setdefault(by, set()).add(by_time)
                if is_away(answer):
                    moments.setdefault(thread, set()).add(answer[1])
            elif kind in (DUE, SIGNAL):
                by, by_time = values[:2]
                moments.setdefault(by, set()).add(by_time)
        self._times = {name: sorted(times, reverse=True) for name, times in moments.items()}

    def patience_s(self, nature: int) -> float:
        """For how long to wait in real time for what arrived in the recorded run, by where it comes from."""
        return self.patience.seconds(nature, self.somebody_is_away())

    def differs(self, text: str) -> None:
        """Note how the world is not that of the recorded run; the text goes on after "the recorded run"."""
        if self.following and len(self._told) < _MOST_TOLD and text not in self._told:
            self._told.add(text)
            before = use_own(True)
            self._baton.send(NOTE, "unlike", UNLIKE + text)
            use_own(before)

    def stray(self) -> None:
        """The run has taken another path than the recorded one."""
        self.patience.lost = self.patience.exact

    def lose(self, text: str) -> None:
        """This run can no longer be the recorded one, and why; the text as for :meth:`differs`."""
        if self.patience.exact and not self.patience.lost:
            self.differs(text)
            self.patience.lost = True

    def next_moment(self, thread: ManagedThread) -> int:
        """The thread time of this thread at its next recorded moment."""
        times = self._times.get(thread.name)
        while times and times[-1] <= thread.time:
            times.pop()
        return times[-1] if times else NEVER

    def now(self) -> tuple[str, int]:
        """This moment: who runs, at which thread time."""
        thread = self._baton.current
        return thread.name, thread.time

    def look(self, wait: OutsideWait) -> bool:
        """Whether something is there now, or never will be; checking is not an operation of the program."""
        baton = self._baton
        before = baton.busy
        baton.busy = True
        try:
            return bool(wait.is_there())
        except Exception as problem:
            # Another thread may be the one checking; the error is for the one that waits.
            wait.problem = problem.with_traceback(None)
            return True
        finally:
            baton.busy = before

    def are_in_flight(self, waits: list[OutsideWait]) -> bool:
        """Whether the system still has bytes for one of these, which will arrive."""
        numbers = [number for wait in waits for number in wait.near]
        if not numbers:
            return False
        baton = self._baton
        before, own_before = (baton.busy, baton.outside), use_own(True)
        baton.busy = True
        try:
            return self.bytes_in_flight(numbers)
        finally:
            baton.busy, baton.outside = before
            use_own(own_before)

    def reached(self, name: str, thread_time: int) -> bool:
        """Whether a moment has come, or can no longer come."""
        thread = self._baton.known.get(name)
        return thread is not None and (thread.time >= thread_time or thread.ended)

    def without_a_moment(self, waits: list[OutsideWait]) -> list[OutsideWait]:
        """Nobody can run before a deadline: those of some waits whose moment cannot come.

        Their moment is one of the waiting thread itself, or of one that waits likewise. Or something that a thread of
        this process did has arrived and its moment does not come: in the recorded run, too, it would have come here if
        the system had not been slow.
        """
        main = self._baton.main if self._baton.clock.alarm_ns < NO_ALARM else None  # which an alarm wakes
        blocked = {w.thread.name: w for w in waits if w.thread.deadline is None and w.thread is not main}
        found = []
        for wait in blocked.values():
            wait.rounds += not self.patience.exact and wait.nature < OUTSIDE and self.look(wait)
            way: list[OutsideWait] = []
            last: OutsideWait | None = wait
            while last is not None and last not in way:
                way.append(last)
                last = None if last.expected is None else blocked.get(last.expected.by)
            if last is not None or wait.rounds > _ROUNDS:
                found.append(wait)
        return found

    def leave(self, thread: ManagedThread) -> None:
        """Forget what the log says about a thread's waits from now on."""
        for key in [key for key in self.expected if key[0] == thread.name]:
            del self.expected[key]

    def forget(self) -> None:
        """In the child of a fork: no log covers it, and it waits for others in real time."""
        self.follow([], following=False)
        self.real_time = True

    def came_too_late(self, wait: OutsideWait, where: str) -> None:
        """Log that a wait ended at its deadline, and where the program made it, if that is known."""
        answer = wait.answer_at_deadline()
        place = (f"{AT} {where}",) if where and not isinstance(answer, tuple) else ()
        self._baton.send(ARRIVAL, wait.thread.name, wait.number, TIMED_OUT, 0, answer, *place)

    def answered(self, wait: OutsideWait, answer: object) -> None:
        """Log the answer of an operation; plain values."""
        by, by_time = (wait.arrived_by, wait.arrived_at) if wait.arrived_by else self.now()
        which = (wait.which,) if wait.which and not isinstance(answer, tuple) else ()
        self._baton.send(ARRIVAL, wait.thread.name, wait.number, by, by_time, answer, *which)

    def started(self, thread: ManagedThread, deadline: int) -> None:
        """A thread starts to wait, with a deadline on the virtual clock."""
        if self.real_time:
            thread.real_deadline_ns = real_clock_ns() + deadline - self._baton.clock.now_ns

    def until_next_deadline_ns(self) -> int | None:
        """The time until the earliest deadline or alarm; None if there is none."""
        clock = self._baton.clock
        waits_ns = [clock.alarm_ns - clock.now_ns] if clock.alarm_ns < NO_ALARM else []
        for thread in self._baton.threads:
            if thread.deadline is not None and self.real_time:
                waits_ns.append(thread.real_deadline_ns - real_clock_ns())
            elif thread.deadline is not None:
                waits_ns.append(thread.deadline - clock.now_ns)
        return max(0, min(waits_ns)) if waits_ns else None

    def passed(self, wait: OutsideWait, duration_ns: int) -> None:
        """Nobody could run for so long until a wait was over."""
        self._baton.send(PASSED, wait.thread.name, wait.number, duration_ns)
        self._baton.clock.pass_by(duration_ns)

    def at_end(self) -> None:
        """The run ends: whatever is still waited for has not arrived."""
        for thread in self._baton.threads:
            wait = thread.waiting
            if isinstance(wait, OutsideWait) and not wait.arrived_by:
                self._baton.send(ARRIVAL, thread.name, wait.number, TIMED_OUT, 0, wait.answer_at_end())

    def pause(self, seconds: float) -> None:
        """Wait in real time, holding the baton."""
        self._baton.counter.idle = True
        try:
            _real_sleep(seconds)
        finally:
            self._baton.counter.idle = False
