"""Executes a part of the statements that were noted.

Rules of this module:

* Following a trace means to execute statements in the recorded order: branches, loops and handlers go where they went,
  whatever their conditions say now. Statements that are left out do nothing; those that ended by an exception raise a
  stand-in for it, which is caught where the exception was.
* A run that would execute anything that is not recorded at that moment ends there: it tells nothing about this trace.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

from .exceptions import StandIn, described, fits, stand_in
from .recording import ABSENT, NO_POSITION, NOTHING, Activation


class FollowedActivation(Activation):
    """One activation of a run that follows a trace."""

    __slots__ = ("cursor", "events")

    runtime: Following

    def __init__(self, runtime: Following, number: int) -> None:
        super().__init__(runtime, number)
        self.events = runtime.events_of[number]
        self.cursor = 0

    def step(self, site: int) -> bool:
        """A statement begins; whether to execute it."""
        runtime, cursor = self.runtime, self.cursor
        if cursor >= len(self.events) or runtime.sites[self.events[cursor]] != site:
            runtime.left(site)
        event = self.events[cursor]
        self.cursor = cursor + 1
        if event >= runtime.pause_at:
            runtime.pause(event)
        self.last = runtime.current = event
        if runtime.kept[event]:
            return True
        kind = runtime.raised.get(event)
        if kind is not None:
            raise stand_in(kind)
        inner_end = runtime.inner_ends.get(site)
        if inner_end is not None:
            self._pass_over(site, inner_end)
        return False

    def _pass_over(self, site: int, inner_end: int) -> None:
        """Skip the body of a class, whose statements belong to this activation."""
        while self.cursor < len(self.events) and site < self.runtime.sites[self.events[self.cursor]] < inner_end:
            self.cursor += 1

    def decide(self, value: object) -> bool:
        """Where the recorded run went; the condition is evaluated all the same."""
        bool(value)
        self.runtime.current = self.last
        return self.as_recorded()

    def as_recorded(self) -> bool:
        """Where the recorded run went."""
        return self.runtime.decisions[self.last] == 1

    def chose(self, case: int) -> None:
        """A case fits; the program goes on with the recorded one."""

    def noted(self) -> None:
        """An exception leaves a statement; unless it did so in the recorded run, this one ends."""
        exception = sys.exc_info()[1]
        if isinstance(exception, GeneratorExit):
            self.closing = True
        elif exception is not self.seen:
            self.seen = exception
            if self.last not in self.runtime.raised:
                self.runtime.unexpected(exception, self.last)
            if exception is not self.runtime.exception:
                self.runtime.exception, self.runtime.exception_event = exception, self.last

    def catches(self, kinds: Any) -> Any:
        """What a handler catches, which must be what it caught."""
        exception = sys.exc_info()[1]
        recorded = self.as_recorded()
        if not isinstance(exception, StandIn) and fits(exception, kinds) is not recorded:
            self.runtime.unexpected(exception, self.last)
        return self.as_recorded_catch()

    def as_recorded_catch(self) -> Any:
        """Everything or nothing."""
        if self.as_recorded():
            self.runtime.exception = None
            return BaseException
        return ()

    def loop(self, site: int, iterable: Any) -> Iterator[None]:
        """Iterate as often as recorded; the iterator moves on for visits that are left out, too."""
        runtime = self.runtime
        iterator = None if iterable is ABSENT else iter(iterable)
        kept, first = iterator is not None, True
        while True:
            if not first:
                kept = self.step(site)
            first = False
            event = self.last
            decision = runtime.decisions[event]
            item: Any = ABSENT
            if iterator is not None and (kept or decision == 1):
                try:
                    item = next(iterator)
                except StopIteration:
                    iterator = None
            if decision == 0:
                return
            runtime.current = event
            self.bound = kept and item is not ABSENT
            yield item if self.bound else None


class Following:
    """Executes a part of a trace.

    Args:
        trace: what :class:`Recording` noted, as lists by their names.
        inner_ends: for statements with a body of the same activation, the first statement after it.
        generators: the codes of generators.
        ends: called with the reason when the run ends early; does not return.

    Attributes:
        kept: for each event, whether it is executed.
        pause_at: the event before which to call ``on_pause``.
    """

    def __init__(
        self,
        trace: dict[str, Any],
        inner_ends: dict[int, int],
        generators: set[int],
        ends: Callable[[dict[str, Any]], None],
    ) -> None:
        self.sites: list[int] = trace["sites"]
        self.decisions: list[int] = trace["decisions"]
        self.raised: dict[int, str] = {int(event): kind for event, kind in trace["raised"].items()}
        self.inner_ends = inner_ends
        self.events_of: list[list[int]] = [[] for _ in trace["codes"]]
        for event, owner in enumerate(trace["owners"]):
            self.events_of[owner].append(event)
        self._codes: list[int] = trace["codes"]
        self._generators = generators
        self._begun_in: dict[int, list[int]] = {}
        for number, parent in enumerate(trace["parents"]):
            self._begun_in.setdefault(parent, []).append(number)
        self._used: set[int] = set()
        self._ends = ends
        self.kept = bytearray(len(self.sites))
        self.pause_at = NO_POSITION
        self.on_pause: Callable[[int], None] = lambda event: None
        self.current = NOTHING
        self.exception: BaseException | None = None
        self.exception_event = NOTHING

    def keep(self, intervals: list[tuple[int, int]]) -> None:
        """Which events to execute: those in these ranges, each from its first event to the one after its last."""
        self.kept = bytearray(len(self.sites))
        for start, stop in intervals:
            self.kept[start:stop] = b"\1" * (stop - start)

    def pause(self, event: int) -> None:
        """The run has come to where it was to be forked."""
        self.pause_at = NO_POSITION
        self.on_pause(event)

    def enter(self, code: int) -> FollowedActivation:
        """A function is called, or a module begins: the first such activation that the current event began."""
        for number in self._begun_in.get(self.current, ()):
            if self._codes[number] == code and number not in self._used:
                break
        else:
            number = self._other(code)
        self._used.add(number)
        return FollowedActivation(self, number)

    def _other(self, code: int) -> int:
        """A generator may begin in another event than in the recorded run."""
        if code in self._generators:
            for number, other in enumerate(self._codes):
                if other == code and number not in self._used:
                    return number
        self._ends({"left": self.current, "code": code})
        raise AssertionError("a run that has left the trace has ended")

    def left(self, site: int) -> None:
        """A statement would be executed that is not recorded here."""
        exception = sys.exc_info()[1]
        if exception is not None and self.current not in self.raised:
            self.unexpected(exception, self.current)
        self._ends({"left": self.current, "site": site})

    def unexpected(self, exception: BaseException | None, event: int) -> None:
        """An exception that the recorded run did not have here."""
        self._ends({"unexpected": event, "exception": described(exception)})

    def suppressed(self, event: int, suppressed: bool, exception: BaseException | None) -> bool:
        """A context manager has ended; whether it suppresses the exception."""
        if exception is not None and self.decisions[event] == 1:
            return True
        return suppressed
