"""The strategy that re-finds the switches of a log by their places, in a program that was changed since.

It asks at every yield point, so it is slow; the log of the run that it makes is an exact one again. A yield point is
the place of an anchor if it stands on its line and has its kind of instruction; of several such, the one whose column
is nearest. Kinds, not names: interpreters name the same access in different ways.
"""

from __future__ import annotations

from ..baton.strategy import Question, Strategy
from ..channel import NOTE, SKIPPED
from ..compat import KINDS
from ..points.bytecode import describe, instructions

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from ..baton.baton import Baton
    from ..baton.thread import ManagedThread
    from ..points.place import Place

    # thread, short file, line (0: without a place), column, instruction, at an operation, visit, to
    Anchor = tuple[str, str, int, int, str, bool, int, str]


def kind_of(instruction: str) -> str:
    """What an instruction does, by whatever name."""
    return KINDS.get(instruction, instruction)


def inner_name(function: str) -> str:
    """What tells a comprehension or lambda from the function around it, whose lines it shares."""
    last = function.rpartition(".")[2]
    return last if last.startswith("<") and last != "<module>" else ""


class Anchored(Strategy):
    """Makes the switches of anchors, each at the visit of its place that it was made at.

    Args:
        anchors: thread, short file, line (0 where it has no place), column, instruction (at granularity ``line``:
            :func:`inner_name`), whether at an operation, visit (without a place: the thread time, or 0 for the end of
            the thread), and the thread to switch to.
    """

    asks_at_operations = True

    def __init__(self, anchors: list[Anchor]) -> None:
        self._anchors = anchors
        self._placeless = {(anchor[0], anchor[6]): number for number, anchor in enumerate(anchors) if anchor[2] == 0}
        self._places: dict[tuple[str, int, bool], set[tuple[str, int]]] = {}  # kinds and columns
        self._wanted: dict[tuple[str, str, int, bool, str, int, int], int] = {}
        for number, (thread, file, line, column, instruction, operates, visit, _) in enumerate(anchors):
            kind = kind_of(instruction)
            self._places.setdefault((file, line, operates), set()).add((kind, column))
            self._wanted[thread, file, line, operates, kind, column, visit] = number
        self._visits: dict[tuple[str, str, int, bool, str, int], int] = {}
        self._known: dict[tuple[int, int, bool], list[tuple[str, int, bool, str, int]]] = {}
        self._kept: list[Place] = []

    def next_question(self, baton: Baton, thread: ManagedThread) -> int:
        return thread.time + 1

    def choose(self, baton: Baton, question: Question) -> ManagedThread:
        thread, place = question.thread, question.place
        number = None
        if place is None:
            number = self._placeless.get((thread.name, 0 if thread.ended else thread.time))
        else:
            for known in self._places_at(baton, place):
                key = (thread.name, *known)
                visit = self._visits[key] = self._visits.get(key, 0) + 1
                number = self._wanted.get((*key, visit), number)
        if number is None:
            return question.default
        baton.send(NOTE, "anchor", str(number))
        target = self._anchors[number][-1]
        for candidate in question.runnable:
            if candidate.name == target:
                question.collects = candidate is thread and question.may_collect
                return candidate
        baton.send(SKIPPED, thread.name, thread.time, target)
        return question.default

    def _places_at(self, baton: Baton, place: Place) -> list[tuple[str, int, bool, str, int]]:
        """The anchors' places that a place is."""
        key = (id(place.code), place.position, place.reachable)
        known = self._known.get(key)
        if known is None:
            self._kept.append(place)
            known = self._known[key] = self._find(baton, place)
        return known

    def _find(self, baton: Baton, place: Place) -> list[tuple[str, int, bool, str, int]]:
        code = place.code
        file = baton.places.short(code.co_filename)
        if place.is_line:
            line, column, instruction = place.position, 0, inner_name(code.co_name)
        else:
            line, column, instruction = describe(code, place.position)
        found = []
        for kind, wanted_column in self._places.get((file, line, place.reachable), ()):
            if place.is_line:
                if kind == instruction:
                    found.append((file, line, place.reachable, kind, wanted_column))
            elif kind_of(instruction) == kind:
                same = [describe(code, offset) for offset, *_ in instructions(code)]
                columns = {c for n, c, name in same if n == line and kind_of(name) == kind}
                nearest = min(columns, key=lambda c: (abs(c - wanted_column), c), default=column)
                if column == nearest:
                    found.append((file, line, place.reachable, kind, wanted_column))
        return found
