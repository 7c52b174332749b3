"""Switches where threads conflict only, so that all orders of the conflicting events are about equally likely."""

from __future__ import annotations

from ..baton.strategy import Question, Strategy
from ..baton.thread import NEVER
from ..channel import DRAWN
from ..splitmix import Generator

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..baton.baton import Baton
    from ..baton.thread import ManagedThread
    from ..points.place import Place


class SelectivelyUniform(Strategy):
    """SURW (Zhao, Wolff, Mathur and Roychoudhury, "Selectively Uniform Concurrency Testing", ASPLOS 2025).

    A thread that comes to an event stops before it, and the others run until each of them stops or waits, too. Then one
    is drawn, with a probability proportional to the number of its events still to come: as long as these numbers hold,
    every order of the events is equally likely, however long the threads are and whatever lies between.

    Args:
        seed: of all random choices.
        events: how many events each thread has, in some run before; an estimate.
        places: the keys of the places that are events; if empty, every yield point is one.
        first: the threads that the first draws shall choose; None to draw all, and not to tell which were drawn.
    """

    asks_at_operations = True

    def __init__(
        self, seed: int, events: Mapping[str, int], places: Iterable[int], first: Iterable[str] | None = None
    ) -> None:
        self._random = Generator(seed)
        self._left = dict(events)
        self._places = frozenset(places)
        self.notes_visits = bool(self._places)
        self._stopped: set[str] = set()
        self._tells = first is not None
        self._first = list(first or ())[::-1]

    def created(self, baton: Baton, thread: ManagedThread) -> None:
        if self._places:
            baton.counter.ask_at_places(self._places)

    def next_question(self, baton: Baton, thread: ManagedThread) -> int:
        return NEVER if self._places else thread.time + 1

    def choose(self, baton: Baton, question: Question) -> ManagedThread:
        thread = question.thread
        gives_way = question.default is not thread
        # Who waits for something that is no event goes on as soon as it can.
        if self._is_event(baton, question.place) or (gives_way and not question.forced):
            self._stopped.add(thread.name)
        elif not gives_way:
            return thread
        free = [one for one in question.runnable if one.name not in self._stopped and baton.is_ready(one)]
        if free:
            return question.default if question.default in free else free[0]
        others = [one for one in question.runnable if one is not thread]
        candidates = others if gives_way and others else question.runnable
        chosen = self._drawn(candidates)
        if self._tells and len(candidates) > 1:
            baton.send(DRAWN, chosen.name, tuple(one.name for one in candidates))
        self._stopped.discard(chosen.name)
        self._left[chosen.name] = self._left.get(chosen.name, 0) - 1
        return chosen

    def _is_event(self, baton: Baton, place: Place | None) -> bool:
        if not self._places:
            return True
        return place is not None and baton.places.place_hash(place.code, place.mark) in self._places

    def _drawn(self, threads: list[ManagedThread]) -> ManagedThread:
        if self._first and len(threads) > 1:
            name = self._first.pop()
            for one in threads:
                if one.name == name:
                    return one
        weights = [max(1, self._left.get(one.name, 0)) for one in threads]
        drawn = self._random.below(sum(weights))
        for one, weight in zip(threads, weights):  # noqa: B905 - of the same length
            drawn -= weight
            if drawn < 0:
                return one
        return threads[-1]
