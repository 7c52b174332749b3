"""Notes the statements that a program executes, or executes a part of those that were noted.

Rules of this module:

* Following a trace means to execute statements in the recorded order: branches, loops and handlers go where they went,
  whatever their conditions say now. Statements that are left out do nothing; those that ended by an exception raise a
  stand-in for it, which is caught where the exception was.
* A run that would execute anything that is not recorded at that moment ends there: it tells nothing about this trace.
* Each activation counts for itself, so that generators, which stop and go on, are no special case.
"""

from __future__ import annotations

import builtins
import sys
import time
from array import array
from collections.abc import Callable, Iterator
from typing import Any

NOTHING = -1
_NO_POSITION = 1 << 62


class Absent:
    """Stands for what was not evaluated."""


ABSENT = Absent()


class StandIn:
    """Mixed into the class of an exception whose cause was left out."""


class Activation:
    """One call of a function, or the run of a module, while statements are noted."""

    __slots__ = ("bound", "caller", "closing", "item", "last", "number", "runtime", "seen")

    def __init__(self, runtime: Any, number: int) -> None:
        self.runtime = runtime
        self.number = number
        self.caller: int = runtime.current
        self.last = NOTHING
        self.seen: BaseException | None = None
        self.item: Any = None
        self.bound = False
        self.closing = False

    def step(self, site: int) -> bool:
        """A statement begins; whether to execute it."""
        runtime = self.runtime
        event = len(runtime.sites)
        if event >= runtime.most_events:
            runtime.too_many()
        runtime.sites.append(site)
        runtime.owners.append(self.number)
        runtime.decisions.append(NOTHING)
        runtime.times.append(time.perf_counter_ns())
        self.last = runtime.current = event
        return True

    def decide(self, value: object) -> bool:
        """Which way a condition goes."""
        decision = bool(value)
        self.runtime.decisions[self.last] = decision
        self.runtime.current = self.last
        return decision

    def as_recorded(self) -> bool:
        """Which way a condition goes that is left out."""
        raise AssertionError("nothing is left out while statements are noted")

    def as_recorded_catch(self) -> Any:
        """What a handler catches that is left out."""
        raise AssertionError("nothing is left out while statements are noted")

    def absent(self) -> Absent:
        """What stands for an expression that is left out."""
        return ABSENT

    def chose(self, case: int) -> None:
        """A case of a ``match`` fits."""
        self.runtime.decisions[self.last] = case

    def is_case(self, case: int) -> bool:
        """Whether the program goes on with this case."""
        return bool(self.runtime.decisions[self.last] == case)

    def noted(self) -> None:
        """An exception leaves a statement."""
        exception = sys.exc_info()[1]
        if isinstance(exception, GeneratorExit):
            self.closing = True
        elif exception is not self.seen:
            self.seen = exception
            self.runtime.raised_by(self.last, exception)

    def catches(self, kinds: Any) -> Any:
        """What a handler catches: everything or nothing."""
        exception = sys.exc_info()[1]
        fits = _fits(exception, kinds)
        self.runtime.decisions[self.last] = fits
        if fits:
            self.runtime.exception = None
        return BaseException if fits else ()

    def loop(self, site: int, iterable: Any) -> Iterator[None]:
        """Iterate, with one event for each visit of the head of the loop."""
        runtime, iterator, first = self.runtime, iter(iterable), True
        while True:
            if not first:
                self.step(site)
            first = False
            event = self.last
            try:
                item = next(iterator)
            except StopIteration:
                runtime.decisions[event] = 0
                return
            runtime.decisions[event] = 1
            runtime.current = event
            self.bound = True
            yield item

    def manager(self, context: Any) -> Manager:
        """A context manager that notes whether it suppresses an exception."""
        return Manager(self, context, self.last)

    def suspended(self, value: Any) -> Any:
        """A generator hands over."""
        self.runtime.current = self.caller
        return value

    def resumed(self, value: Any) -> Any:
        """A generator goes on."""
        self.caller = self.runtime.current
        self.runtime.current = self.last
        return value

    def leave(self) -> None:
        """The activation ends."""
        self.seen = None
        if not self.closing:
            self.runtime.current = self.caller


class Manager:
    """A context manager around that of the program; ``ABSENT`` for one that is left out."""

    def __init__(self, activation: Any, context: Any, event: int) -> None:
        self._activation, self._context, self._event = activation, context, event
        self._exit: Any = None

    def __enter__(self) -> Any:
        self._activation.bound = self._context is not ABSENT
        if self._context is ABSENT:
            return None
        kind = type(self._context)
        try:
            enter, self._exit = kind.__enter__, kind.__exit__
        except AttributeError:
            message = f"'{kind.__name__}' object does not support the context manager protocol"
            raise TypeError(message) from None
        value = enter(self._context)
        self._activation.bound = True
        return value

    def __exit__(self, *exception: Any) -> bool:
        suppressed = bool(self._exit(self._context, *exception)) if self._exit is not None else False
        return bool(self._activation.runtime.suppressed(self._event, suppressed, exception[1]))


class Recording:
    """Notes all statements.

    Attributes:
        sites: of each event.
        owners: the activation of each event.
        decisions: where control flow went at each event; :data:`NOTHING` where it had no choice.
        times: when each event began, in nanoseconds.
        raised: the events that ended by an exception, and the name of its class if it is built in.
        codes: the code of each activation.
        parents: the event in which each activation began.
        current: the event that is under way.
        exception: the last exception that has not been caught, and ``exception_event``, where it came from.
    """

    def __init__(self, most_events: int = _NO_POSITION, at_most: Callable[[], None] | None = None) -> None:
        self.sites, self.owners = array("q"), array("q")
        self.decisions, self.times = array("h"), array("q")
        self.raised: dict[int, str] = {}
        self.codes, self.parents = array("q"), array("q")
        self.current = NOTHING
        self.exception: BaseException | None = None
        self.exception_event = NOTHING
        self.most_events = most_events
        self._at_most = at_most

    def too_many(self) -> None:
        """More statements than can be searched."""
        if self._at_most is not None:
            self._at_most()

    def enter(self, code: int) -> Activation:
        """A function is called, or a module begins."""
        self.codes.append(code)
        self.parents.append(self.current)
        return Activation(self, len(self.codes) - 1)

    def raised_by(self, event: int, exception: BaseException | None) -> None:
        """An exception leaves an event."""
        name = next((kind.__name__ for kind in type(exception).__mro__ if kind.__module__ == "builtins"), "Exception")
        self.raised[event] = name
        if exception is not self.exception:
            self.exception, self.exception_event = exception, event

    def suppressed(self, event: int, suppressed: bool, exception: BaseException | None) -> bool:
        """A context manager has ended; whether it suppresses the exception."""
        if exception is not None:
            self.decisions[event] = suppressed
        return suppressed


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
        if not isinstance(exception, StandIn) and _fits(exception, kinds) is not recorded:
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
        self.pause_at = _NO_POSITION
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
        self.pause_at = _NO_POSITION
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


def stand_in(kind: str) -> BaseException:
    """An exception in the place of one whose cause was left out."""
    base = getattr(builtins, kind, Exception)
    if not (isinstance(base, type) and issubclass(base, BaseException)):
        base = Exception
    made: BaseException = base.__new__(type(base.__name__, (StandIn, base), {}))
    return made


def described(exception: BaseException | None) -> list[str]:
    """The class and the message of an exception; nothing of the program's own is called."""
    kind = type(exception)
    name = kind.__name__ if kind.__module__ in ("builtins", "__main__") else f"{kind.__module__}.{kind.__name__}"
    arguments = getattr(exception, "args", ())
    told = [one if type(one) is str else repr(one) for one in arguments if type(one) in _PLAIN]
    return [name, ", ".join(told)]


_PLAIN = (str, int, float, bool, bytes, type(None))


def _fits(exception: BaseException | None, kinds: Any) -> bool:
    """Whether a handler for these classes catches an exception; raises what Python does if they are no classes."""
    for kind in kinds if isinstance(kinds, tuple) else (kinds,):
        if not (isinstance(kind, type) and issubclass(kind, BaseException)):
            raise TypeError("catching classes that do not inherit from BaseException is not allowed")
        if kind in type(exception).__mro__:
            return True
    return False
