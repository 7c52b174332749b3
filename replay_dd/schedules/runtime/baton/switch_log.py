"""Writes switches and their places into the log."""

from __future__ import annotations

from ..accelerator.own_memory import use_own
from ..channel import SWITCH, TRACED
from ..points.bytecode import alike
from ..points.place_record import place_record
from .clock import NEVER_READY

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType
    from typing import Any

    from ..points.place import Place
    from ..points.places import Places
    from .thread import ManagedThread


class SwitchLog:
    """Writes switches into the log.

    Args:
        counter: knows the digest and how often watched places were visited.
        places: names places.
        send: writes a record for the tool.

    Attributes:
        send: as above.
        to_pass: of how many more yield points that are reported the code is kept.
        passed: that code.
    """

    def __init__(self, counter: Any, places: Places, send: Callable[..., None]) -> None:
        self._counter = counter
        self._places = places
        self.send = send
        self.to_pass = 0
        self.passed: set[CodeType] = set()
        self._numbers: dict[tuple[int, int, bool, bool], int] = {}
        self._path: list[int] = []  # the digests at the next switches of the recorded run, the last one first
        self._stray: Callable[[], None] = lambda: None
        self._kept: list[CodeType] = []  # so that the identity of a code object is not given to another one

    def follow(self, digests: list[int], stray: Callable[[], None]) -> None:
        """Call this function when a switch shows that the run has left the path of the recorded one.

        Args:
            digests: of the recorded run at its switches; empty if that does not matter.
            stray: the function.
        """
        self._path, self._stray = digests[::-1], stray

    def _compare(self) -> None:
        before = use_own(True)  # a run without a recorded one does not do this
        if self._path.pop() != self._counter.digest:
            self._path.clear()
            self._stray()
        use_own(before)

    def switch(
        self,
        thread: ManagedThread,
        to: ManagedThread,
        forced: bool,
        by_default: bool,
        place: Place | None,
        global_time: int,
        early_ns: int | None,
        collects: bool = False,
    ) -> None:
        """Log a switch, or a choice that is not the default one.

        Args:
            thread: who ran.
            to: who runs next.
            forced: whether ``thread`` could not continue.
            by_default: whether the default schedule also chooses ``to``.
            place: where ``thread`` stands, if known.
            global_time: yield points passed by all threads together.
            early_ns: how early this ends a sleep or time-out of ``to``; None if it ends none.
            collects: whether ``thread`` goes on after a garbage collection.
        """
        number = -1 if place is None else self.place_number(place)
        visit = 0
        if place is not None and self._counter.watched is not None:
            visit = self._visits(thread, place)
        if self._path:
            self._compare()
        self.send(
            *(SWITCH, thread.name, thread.time, to.name, forced, by_default),
            *(number, global_time, self._counter.digest, visit, thread.ended, self._wake(to, early_ns)),
            collects,
        )

    def _visits(self, thread: ManagedThread, place: Place) -> int:
        """How often a thread visited a place, or another one like it."""
        code, position = place.code, place.position
        marks = [place.mark]
        if not place.is_line:
            marks = [one + place.mark - position for one in alike(code, position)]
        numbers = [self._places.place_hash(code, mark) for mark in marks]
        return sum([self._counter.visits.get((thread, number), 0) for number in numbers])

    def _wake(self, to: ManagedThread, early_ns: int | None) -> tuple[object, ...]:
        if early_ns is None:
            return ()
        number = -1 if to.place is None else self.place_number(to.place)
        return to.waiting is not NEVER_READY, number, early_ns

    def yield_point(self, thread: ManagedThread, place: Place | None) -> None:
        """Report one yield point of a traced run."""
        if self.to_pass and place is not None:
            self.to_pass -= 1
            self.passed.add(place.code)
        self.send(TRACED, thread.name, -1 if place is None else self.place_number(place))

    def place_number(self, place: Place) -> int:
        """The number of a place in the log; the place itself is sent at first use."""
        key = (id(place.code), place.position, place.is_line, place.reachable)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._numbers)
            self._kept.append(place.code)
            self.send(*place_record(self._places, number, place))
        return number
