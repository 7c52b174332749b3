"""What happens at a choice although no thread does it: deadlines pass in real time, and signals come from outside.

Rules of this module:

* Both are logged with the choice at which they took effect: who ran then, at which thread time. A replay lets them
  happen there, and nowhere else.
* So a signal from outside waits for the next choice. If the main thread runs, that is its next yield point.
* A replay needs no signal to come. What comes while it follows a log is held back: the log says when the program learns
  of it. If nobody can run any more, the run has left the recorded path, and gets what was held back.
"""

from __future__ import annotations

from ..channel import DUE, SIGNAL
from .clock import real_clock_ns

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    from .baton import Baton

    class Waits(Protocol):
        """What it has to know of the waits for other things; see moments.py."""

        following: bool
        real_time: bool

        def now(self) -> tuple[str, int]: ...
        def reached(self, name: str, thread_time: int) -> bool: ...
        def pause(self, seconds: float) -> None: ...


class Happenings:
    """Logs them, and reproduces those of a log.

    Args:
        baton: who runs, and which threads there are.
        waits: those for other things from outside.

    Attributes:
        give: makes a signal pending for the main thread; see ../stdlib/signals.py.
    """

    def __init__(self, baton: Baton, waits: Waits) -> None:
        self._baton = baton
        self._waits = waits
        self._due: dict[str, list[tuple[int, str]]] = {}
        self._expected: list[tuple[str, int, int, int]] = []  # signals: who ran, its time, number, nanoseconds passed
        self._came: list[int] = []
        self._held: list[int] = []
        self._owed: list[int] = []  # which the log has brought, and which may still come
        self.give: Callable[[int], None] = lambda number: None

    def follow(self, records: list[tuple[Any, ...]]) -> None:
        """Reproduce what the channel of another run held."""
        self._due, self._expected = {}, []
        for kind, *values in records:
            if kind == DUE:
                by, by_time, thread = values
                self._due.setdefault(by, []).append((by_time, thread))
            elif kind == SIGNAL:
                by, by_time, number, passed_ns = values
                self._expected.append((by, by_time, number, passed_ns))
        for entries in self._due.values():
            entries.reverse()
        self._came, self._held, self._owed = [], [], []

    # -- signals -----------------------------------------------------------------------------------------------------

    @property
    def next_signal(self) -> int:
        """The number of the next one of those in the log that have not come yet; 0 if there is none."""
        return self._expected[0][2] if self._expected else 0

    @property
    def signal_came(self) -> bool:
        """Whether one is to be given at the next choice."""
        return bool(self._came)

    def came(self, number: int, held: bool) -> None:
        """A signal has really come; ``held``: the log alone says when the program learns of it."""
        if number in self._owed:
            self._owed.remove(number)
        elif held or any(one[2] == number for one in self._expected):
            self._held.append(number)
        else:
            self._came.append(number)

    def release(self) -> None:
        """Nobody can run any more: give what was held back."""
        for number in self._held:
            first = next((one for one in self._expected if one[2] == number), None)
            if first is not None:
                self._expected.remove(first)
        self._came += self._held
        self._held = []

    def give_signals(self, passed_ns: int = 0) -> bool:
        """Let the program learn of the signals that came; whether there were any.

        Args:
            passed_ns: for how long nobody could run until they came.
        """
        came, self._came = self._came, []
        for number in came:
            self._give(number, passed_ns)
            passed_ns = 0
        return bool(came)

    def _give(self, number: int, passed_ns: int) -> None:
        self._baton.send(SIGNAL, *self._waits.now(), number, passed_ns)
        self._baton.clock.pass_by(passed_ns)
        self.give(number)

    # -- choices -----------------------------------------------------------------------------------------------------

    def at_choice(self) -> None:
        """Before a choice: let happen what did so here in the recorded run, or does now."""
        self._let_deadlines_pass(*self._waits.now())
        while self._expected and self._waits.reached(*self._expected[0][:2]):
            _, _, number, passed_ns = self._expected.pop(0)
            if number in self._held:
                self._held.remove(number)
            else:
                self._owed.append(number)
            self._give(number, passed_ns)
        self.give_signals()

    def _let_deadlines_pass(self, name: str, thread_time: int) -> None:
        baton, waits = self._baton, self._waits
        clock = baton.clock
        if waits.real_time and not waits.following:
            now_ns = real_clock_ns()
            for thread in baton.threads:
                deadline = thread.deadline
                if deadline is not None and deadline > clock.now_ns and thread.real_deadline_ns <= now_ns:
                    clock.jump_to(deadline)
                    baton.send(DUE, name, thread_time, thread.name)
        due = self._due.get(name)
        while due and due[-1][0] <= thread_time:
            waiting = baton.known.get(due.pop()[1])
            if waiting is not None and waiting.deadline is not None:
                if waits.real_time:
                    waits.pause(max(0, waiting.real_deadline_ns - real_clock_ns()) / 1e9)
                clock.jump_to(waiting.deadline)
                baton.send(DUE, name, thread_time, waiting.name)
