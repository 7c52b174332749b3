"""Strategies: who decides where the baton goes.

A strategy is a small object. It says in advance at which thread time it wants to be asked next
(:meth:`Strategy.next_question`), so that all yield points before cost one comparison; it is asked there, and at every
forced choice (:meth:`Strategy.choose`). Replaying a schedule is one more strategy. Randomness is a seeded generator
of the strategy's own, so the same seed gives the same choices.
"""

from __future__ import annotations

from .thread import NEVER

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from ..points.place import Place
    from .baton import Baton
    from .thread import ManagedThread


class Question:
    """What a strategy is asked.

    Attributes:
        thread: who runs now.
        runnable: who can run next; ``thread`` among them, unless it cannot go on.
        default: whom the default schedule chooses.
        forced: whether ``thread`` cannot go on.
        gives_way: whether it can, and other ready threads go first.
        place: where ``thread`` stands, if that is known.
        collects: set by a strategy that lets ``thread`` go on, as it would by default, but after a garbage collection.
    """

    __slots__ = ("collects", "default", "forced", "gives_way", "place", "runnable", "thread")

    def __init__(
        self,
        thread: ManagedThread,
        runnable: list[ManagedThread],
        default: ManagedThread,
        forced: bool,
        place: Place | None = None,
        gives_way: bool = False,
    ) -> None:
        self.thread = thread
        self.runnable = runnable
        self.default = default
        self.forced = forced
        self.gives_way = gives_way
        self.place = place
        self.collects = False

    @property
    def may_collect(self) -> bool:
        """Whether ``thread`` goes on by default, so that to choose it can only mean a garbage collection."""
        return self.default is self.thread and not self.forced and not self.gives_way


class Strategy:
    """The default schedule: run a thread until it blocks or ends, then the next ready one."""

    asks_at_operations = False  # whether to be asked at every operation on a lock, whatever next_question said
    notes_visits = False  # whether to be asked also at some visits of places: the first ones; see PythonCounter.noting

    def created(self, baton: Baton, thread: ManagedThread) -> None:
        """A thread was started."""

    def next_question(self, baton: Baton, thread: ManagedThread) -> int:
        """The thread time of ``thread``, which runs now, at which to be asked next."""
        return NEVER

    def choose(self, baton: Baton, question: Question) -> ManagedThread:
        """Who runs next: the default or one of the runnable threads."""
        return question.default
