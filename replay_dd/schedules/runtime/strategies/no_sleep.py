"""The default schedule without its sleeps: each that may end early ends at once, and its thread goes on."""

from __future__ import annotations

from ..baton.clock import NEVER_READY
from ..baton.strategy import Question, Strategy

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from ..baton.baton import Baton
    from ..baton.thread import ManagedThread

_MOST = 1_000  # sleeps of each thread; the next ones may be those of a loop that waits for another thread


class NoSleep(Strategy):
    """Each thread goes on until it has to wait for another one.

    Tests of races often sleep in the middle of what must not be interrupted. Nothing comes between here, so they pass.
    """

    def __init__(self) -> None:
        self._sleeps: dict[str, int] = {}

    def choose(self, baton: Baton, question: Question) -> ManagedThread:
        thread = question.thread
        if thread.waiting is not NEVER_READY or thread not in question.runnable:
            return question.default
        self._sleeps[thread.name] = self._sleeps.get(thread.name, 0) + 1
        return thread if self._sleeps[thread.name] <= _MOST else question.default
