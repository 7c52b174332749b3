"""Natural recording: who runs is decided by real time, as an interpreter with a GIL decides it.

Rules of this module:

* The baton is handed over like the GIL: when its holder has had it for an interval, when it waits, and around system
  calls. The thread that has waited longest gets it. Sleeps and timeouts take real time.
* It is handed over at yield points only. Between two of them a thread does nothing that others see, so every switch
  of a plain interpreter has the same effect as one at a yield point; and no other thread runs during a system call, so
  the order of system calls is known. Recording the switches of the bare GIL could not tell it: two threads may be
  inside the kernel at the same time.
* So the log of a natural run is like any other: it holds its switches, and replays.
"""

from __future__ import annotations

from ..baton.clock import real_clock_ns
from ..baton.strategy import Strategy

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from ..baton.baton import Baton
    from ..baton.strategy import Question
    from ..baton.thread import ManagedThread

INTERVAL_NS = 50_000  # a hundredth of the interpreter's default: rare races show up sooner
_ASK_WITHIN = 128  # yield points, between two readings of the clock


class Natural(Strategy):
    """Hands the baton over like a GIL."""

    asks_at_operations = True

    def __init__(self) -> None:
        self._since_ns = real_clock_ns()
        self._turns: dict[str, int] = {}
        self._turn = 0

    def next_question(self, baton: Baton, thread: ManagedThread) -> int:
        # The last digits of the clock: at equal distances a loop would always be left at the same places.
        return thread.time + 1 + real_clock_ns() % _ASK_WITHIN

    def choose(self, baton: Baton, question: Question) -> ManagedThread:
        now_ns = real_clock_ns()
        thread = question.thread
        around_a_call = baton.in_system_call or baton.outside is not None
        is_over = now_ns - self._since_ns >= INTERVAL_NS
        if question.default is thread and not is_over and not around_a_call:
            return thread
        self._since_ns = now_ns
        ready = [other for other in question.runnable if other is not thread and baton.is_ready(other)]
        if not ready:
            return question.default
        self._turn += 1
        self._turns[thread.name] = self._turn
        return min(ready, key=lambda other: self._turns.get(other.name, 0))
