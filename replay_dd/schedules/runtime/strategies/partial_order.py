"""Draws who goes on among threads that are about to touch something, so that the orders of conflicts differ widely."""

from __future__ import annotations

from ..splitmix import Generator
from .abreast import ANY, Abreast

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from ..baton.baton import Baton
    from ..baton.strategy import Question
    from ..baton.thread import ManagedThread
    from .abreast import About


class PartialOrderSampling(Abreast):
    """POS (Yuan, Yang and Gu, "Partial Order Aware Concurrency Sampling", CAV 2018).

    Threads stop before each access, and the one with the highest priority goes on. Priorities are random. Each access
    has its own, and draws another one when an access that it conflicts with comes before it: so the order of two
    accesses is drawn, however many others there are that have nothing to do with them.

    The paper knows what each access touches; here that is guessed, and taking a lock is an access that changes it.

    Args:
        seed: of all random choices.
    """

    def __init__(self, seed: int) -> None:
        super().__init__(ANY)
        self._random = Generator(seed)
        self._about: About = ()
        self._pending: dict[str, About] = {}
        self._priorities: dict[str, int] = {}

    def about_to(self, touches: About) -> None:
        self._about = touches
        super().about_to(touches)

    def choose(self, baton: Baton, question: Question) -> ManagedThread:
        if self._at_access:
            self._pending[question.thread.name] = self._about
        chosen = super().choose(baton, question)
        self._pending.pop(chosen.name, None)
        return chosen

    def _preferred(self, stopped: list[ManagedThread]) -> ManagedThread:
        for one in stopped:
            if one.name not in self._priorities:
                self._priorities[one.name] = self._random.next()
        chosen = max(stopped, key=lambda one: self._priorities[one.name])
        del self._priorities[chosen.name]
        mine = self._pending.get(chosen.name, ())
        touched = {(thing, what) for thing, what, _ in mine}
        changed = {(thing, what) for thing, what, changes in mine if changes}
        for one in stopped:
            theirs = self._pending.get(one.name, ())
            if any((thing, what) in (touched if changes else changed) for thing, what, changes in theirs):
                self._priorities.pop(one.name, None)
        return chosen
