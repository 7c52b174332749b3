"""Lets threads change what others have looked at: what those do next may rest on what is no longer so.

A thread *has a view* of a thing from its look at it until somebody changes that. Whose view was ended by another thread
is *overtaken* until it changes anything itself. A lost update and a check that no longer holds are changes by a thread
that was overtaken.
"""

from __future__ import annotations

from ..channel import LOCK
from .abreast import ANY, Abreast

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from ..baton.baton import Baton
    from ..baton.strategy import Question
    from ..baton.thread import ManagedThread
    from .abreast import About


class Views(Abreast):
    """Stops all threads, then lets one go on at a time: first who ends the view of another one, then who only looks.

    Of several such, the one goes on that has made the fewest accesses, then the one that stopped first. The threads
    that were started last come first, and stop at every yield point.

    Args:
        patient: who was overtaken waits until only such threads are left; of several, the one goes on that stopped
            first. The threads that were started first come first, and stop before accesses.
    """

    def __init__(self, patient: bool) -> None:
        super().__init__(ANY, latest=not patient)
        self._patient = patient
        self._about: About = ()
        self._pending: dict[str, About] = {}
        self._made: dict[str, int] = {}
        self._viewers: dict[tuple[int, str], set[str]] = {}
        self._overtaken: set[str] = set()

    def about_to(self, touches: About) -> None:
        self._about = touches

    def choose(self, baton: Baton, question: Question) -> ManagedThread:
        self._pending[question.thread.name], self._about = self._about, ()
        self._at_access = not self._patient or bool(self._pending[question.thread.name])
        chosen = super().choose(baton, question)
        self._goes_on(chosen.name)
        return chosen

    def _goes_on(self, name: str) -> None:
        touches = self._pending.pop(name, ())
        self._made[name] = self._made.get(name, 0) + bool(touches)
        for thing, what, changes in touches:
            if what == LOCK:
                continue
            viewers = self._viewers.setdefault((thing, what), set())
            if changes:
                self._overtaken |= viewers
                self._overtaken.discard(name)
                viewers.clear()
            else:
                viewers.add(name)

    def _preferred(self, stopped: list[ManagedThread]) -> ManagedThread:
        return max(stopped, key=lambda one: self._promise(one.name))

    def _promise(self, name: str) -> tuple[int, ...]:
        touches = self._pending.get(name, ())
        changed = [(thing, what) for thing, what, changes in touches if changes]
        ends_view = any(self._viewers.get(one, set()) - {name} for one in changed)
        looks = bool(touches) and not changed
        if self._patient:
            return name not in self._overtaken, ends_view, looks
        return ends_view, looks, -self._made.get(name, 0)
