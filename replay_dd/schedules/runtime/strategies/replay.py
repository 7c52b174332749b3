"""The strategy that follows the switches of a log."""

from __future__ import annotations

from ..baton.strategy import Question, Strategy
from ..baton.thread import NEVER
from ..channel import SKIPPED

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from ..baton.baton import Baton
    from ..baton.thread import ManagedThread


class Replay(Strategy):
    """Follows triggers; without one, or if its target cannot run, the default schedule continues.

    Args:
        triggers: (thread, thread time, target thread) each.
    """

    def __init__(self, triggers: list[tuple[str, int, str]]) -> None:
        self._targets = {(thread, time): to for thread, time, to in triggers}
        self._times: dict[str, list[int]] = {}
        for thread, time, _ in sorted(triggers, key=lambda trigger: -trigger[1]):
            self._times.setdefault(thread, []).append(time)

    def next_question(self, baton: Baton, thread: ManagedThread) -> int:
        times = self._times.get(thread.name)
        while times and times[-1] <= thread.time:
            times.pop()
        return times[-1] if times else NEVER

    def choose(self, baton: Baton, question: Question) -> ManagedThread:
        thread = question.thread
        target = self._targets.get((thread.name, thread.time))
        if target is None:
            return question.default
        for candidate in question.runnable:
            if candidate.name == target:
                question.collects = candidate is thread and question.may_collect
                return candidate
        baton.send(SKIPPED, thread.name, thread.time, target)
        return question.default
