"""Notes the statements that a program executes.

Rules of this module:

* Each activation counts for itself, so that generators, which stop and go on, are no special case.
* An exception is noted for each statement that it leaves, where that is first seen: in a handler, or where the
  activation ends.
"""

from __future__ import annotations

import sys
import time
import types
from array import array
from collections.abc import Callable, Generator, Iterator
from typing import Any

from .exceptions import fits

NOTHING = -1
NO_POSITION = 1 << 62


class Absent:
    """Stands for what was not evaluated."""


ABSENT = Absent()


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
        caught = fits(exception, kinds)
        self.runtime.decisions[self.last] = caught
        if caught:
            self.runtime.exception = None
        return BaseException if caught else ()

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

    def awaited(self, value: Any) -> Awaited:
        """What a coroutine waits for."""
        return Awaited(self, value)

    def raises(self) -> None:
        """A ``raise`` statement begins: whatever comes now is its own."""
        self.seen = None

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


class Awaited:
    """Something that is awaited; tells the activation when that really hands over, and when it goes on.

    Source: ``yield from``, as PEP 380 expands it.
    """

    def __init__(self, activation: Activation, value: Any) -> None:
        self._activation, self._value = activation, value

    def __await__(self) -> Generator[Any, Any, Any]:
        kind = type(self._value)
        if not hasattr(kind, "__await__") and not isinstance(self._value, types.GeneratorType):
            raise TypeError(f"object {kind.__name__} can't be used in 'await' expression")
        inner = self._value.__await__() if hasattr(kind, "__await__") else self._value
        sent: Any = None
        thrown: BaseException | None = None
        while True:
            try:
                if thrown is not None:
                    if not hasattr(inner, "throw"):
                        raise thrown
                    told = inner.throw(thrown)
                else:
                    told = inner.send(sent) if sent is not None else next(inner)
            except StopIteration as end:
                return end.value
            self._activation.suspended(None)
            try:
                sent, thrown = (yield told), None
            except GeneratorExit:
                if hasattr(inner, "close"):
                    inner.close()
                raise
            except BaseException as exception:
                sent, thrown = None, exception
            self._activation.resumed(None)


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

    def __init__(self, most_events: int = NO_POSITION, at_most: Callable[[], None] | None = None) -> None:
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
