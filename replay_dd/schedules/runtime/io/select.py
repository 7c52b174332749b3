"""The module ``select`` under the scheduler, and with it ``selectors`` and ``asyncio``."""

from __future__ import annotations

import sys

from ..accelerator.own_memory import use_own
from ..baton.moments import OutsideWait
from ..baton.patience import INSIDE
from ..observing import is_a
from .descriptors import READING, Descriptors

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def adapt_select(descriptors: Descriptors, module: Any) -> None:
    """Put waits under the scheduler in the place of ``select.select``, ``select.poll`` and ``select.epoll``."""
    descriptors.real_poll = module.poll
    real_select = module.select
    reading, writing, urgent = module.POLLIN, module.POLLOUT, module.POLLPRI

    def wait(*arguments: Any) -> Any:
        return _wait_for(descriptors, *arguments)

    def select(readers: Any, writers: Any, others: Any, timeout: Any = None, /) -> Any:
        groups = [list(readers), list(writers), list(others)]
        numbers = [[_number(item) for item in group] for group in groups]
        wanted = [
            (number, events)
            for group, events in zip(numbers, (reading, writing, urgent), strict=True)
            for number in group
        ]

        def look() -> list[tuple[int, int]]:
            ready = real_select(*numbers, 0)
            events: dict[int, int] = {}
            for which, group in enumerate(ready):
                for number in group:
                    events[number] = events.get(number, 0) | 1 << which
            return list(events.items())

        found = wait(sys._getframe(1), wanted, timeout, look)
        if found is None:
            return real_select(*groups, timeout)
        events = dict(found)
        return tuple(
            [item for item, number in zip(group, own, strict=True) if events.get(number, 0) & 1 << which]
            for which, (group, own) in enumerate(zip(groups, numbers, strict=True))
        )

    # As a function of C, it must not turn into a method where a class has it, as selectors.SelectSelector does.
    module.select = staticmethod(select)
    module.poll = _make_poll(module.poll, wait)
    if hasattr(module, "epoll"):
        told_once = module.EPOLLONESHOT | module.EPOLLET
        module.epoll = _make_epoll(module.epoll, wait, told_once, descriptors.before_opening)


def _wait_for(
    descriptors: Descriptors,
    frame: Any,
    wanted: list[tuple[int, int]],
    timeout_s: Any,
    look: Callable[[], Any],
    through: list[tuple[int, int]] | None = None,
) -> Any:
    """Wait for descriptors, and answer as in the recorded run if the log knows.

    Args:
        descriptors: those of this process.
        frame: who calls.
        wanted: (descriptor, events as ``poll`` takes them).
        timeout_s: virtual seconds; None or negative: forever.
        look: returns (descriptor, events) of what is ready now, in the order of the answer.
        through: what to poll instead.
    """
    if not descriptors.has_baton():
        return None
    wait = descriptors.make_wait(wanted, through=through)
    recorded = None if wait.expected is None else wait.expected.answer
    if isinstance(recorded, tuple) and any(number in descriptors.ahead for number, _ in recorded):
        wait.is_there = lambda: True
    if timeout_s is not None and timeout_s == 0:
        descriptors.yield_point(frame)
    elif not descriptors.wait(frame, wait, None if timeout_s is None or timeout_s < 0 else timeout_s):
        return []
    found = look()
    before = use_own(True)
    found = _as_recorded(wait, found, look, descriptors.ahead)
    descriptors.moments.answered(wait, tuple(found))
    use_own(before)
    return found


def _as_recorded(wait: OutsideWait, found: Any, look: Callable[[], Any], ahead: set[int]) -> Any:
    """What the recorded run found, if that is ready now too; otherwise what is."""
    expected = wait.expected
    if expected is None or not expected.by:
        return found
    if not isinstance(expected.answer, list | tuple):
        wait.leave()  # the recorded wait was of another kind
        return found
    recorded = list(expected.answer)
    certain = [(number, events) for number, events in recorded if number not in ahead]
    if not _contains(found, certain) and wait.nature > INSIDE:
        wait.is_there = lambda: _contains(look(), certain)
        wait.wait_really()
        found = look()
    # If both are equal, not ours: it becomes the program's object.
    return recorded if found != recorded and _contains(found, certain) else found


def _contains(found: Any, wanted: Any) -> bool:
    """Whether all these events are there, perhaps with more: a closed end is reported along with data."""
    events = dict(found)
    return all(events.get(number, 0) & wanted_events == wanted_events for number, wanted_events in wanted)


def _number(item: Any) -> int:
    if is_a(item, int):
        return int(item)
    if not hasattr(item, "fileno"):
        raise TypeError("argument must be an int, or have a fileno() method.")
    return int(item.fileno())


def _make_poll(real_poll: Any, wait: Any) -> Any:
    class Poll:
        """Stands in for ``select.poll``."""

        def __init__(self) -> None:
            self._real = real_poll()
            self._events: dict[int, int] = {}

        def register(self, descriptor: Any, *events: int) -> None:
            number = _number(descriptor)
            self._real.register(number, *events)
            self._events[number] = events[0] if events else 7

        def modify(self, descriptor: Any, events: int) -> None:
            number = _number(descriptor)
            self._real.modify(number, events)
            self._events[number] = events

        def unregister(self, descriptor: Any) -> None:
            number = _number(descriptor)
            self._real.unregister(number)
            self._events.pop(number, None)

        def poll(self, timeout: Any = None, /) -> Any:
            seconds = None if timeout is None else timeout / 1000
            found = wait(sys._getframe(1), list(self._events.items()), seconds, lambda: self._real.poll(0))
            return self._real.poll(timeout) if found is None else found

    return Poll


class _ToldOnce:
    """Descriptors of which ``epoll`` tells an event only once (``EPOLLONESHOT``, ``EPOLLET``).

    A replay looks again and again until it finds what the recorded run found, and leaves for later what that run found
    later. So what has been told to us but not to the program is asked for anew.

    Args:
        ask_anew: ``modify`` of the real ``epoll``.
    """

    def __init__(self, ask_anew: Callable[[int, int], object]) -> None:
        before = use_own(True)
        self._ask_anew = ask_anew
        self._masks: dict[int, int] = {}
        self._told: set[int] = set()
        use_own(before)

    def registered(self, number: int, mask: int) -> None:
        """The program watches a descriptor from now on."""
        before = use_own(True)
        self._masks[number] = mask
        self._told.discard(number)
        use_own(before)

    def unregistered(self, number: int) -> None:
        """It no longer does, or not so that it is told once."""
        if number in self._masks:
            del self._masks[number]
            self._told.discard(number)

    def look(self, poll: Callable[[], Any]) -> Any:
        """What there is now, whether or not we have been told of it before."""
        if not self._masks:
            return poll()
        self.ask_anew()
        found = poll()
        before = use_own(True)
        self._told.update(number for number, _ in found if number in self._masks)
        use_own(before)
        return found

    def given(self, found: Any) -> None:
        """The program has been told these."""
        if self._told:
            self._told.difference_update(number for number, _ in found)
            self.ask_anew()

    def ask_anew(self) -> None:
        """Let ``epoll`` tell again what the program does not know yet."""
        if self._told:
            before = use_own(True)
            for number in self._told:
                try:
                    self._ask_anew(number, self._masks[number])
                except OSError:
                    pass  # it has been closed
            self._told.clear()
            use_own(before)


def _make_epoll(real_epoll: Any, wait: Any, told_once: int, before_opening: Callable[[], None]) -> Any:
    class Epoll:
        """Stands in for ``select.epoll``."""

        def __init__(self, sizehint: int = -1, flags: int = 0) -> None:
            before_opening()
            self._real = real_epoll(sizehint, flags)
            self._events: dict[int, int] = {}
            self._once = _ToldOnce(self._real.modify)
            self.fileno = self._real.fileno

        @classmethod
        def fromfd(cls, descriptor: int) -> Any:
            return real_epoll.fromfd(descriptor)

        def register(self, fd: Any, eventmask: int = 7) -> None:
            number = _number(fd)
            self._real.register(number, eventmask)
            self._events[number] = eventmask & 0xFFFF
            self._note(number, eventmask)

        def modify(self, fd: Any, eventmask: int) -> None:
            number = _number(fd)
            self._real.modify(number, eventmask)
            self._events[number] = eventmask & 0xFFFF
            self._note(number, eventmask)

        def unregister(self, fd: Any) -> None:
            number = _number(fd)
            self._real.unregister(number)
            self._events.pop(number, None)
            self._once.unregistered(number)

        def poll(self, timeout: Any = None, maxevents: int = -1) -> Any:
            wanted = list(self._events.items())
            own = [(self.fileno(), READING)]
            once = self._once
            real_look = self._real.poll
            found = wait(sys._getframe(1), wanted, timeout, lambda: once.look(lambda: real_look(0, maxevents)), own)
            if found is None:
                return self._real.poll(timeout, maxevents)
            once.given(found)
            return found

        def _note(self, number: int, mask: int) -> None:
            if mask & told_once:
                self._once.registered(number, mask)
            else:
                self._once.unregistered(number)

        def close(self) -> None:
            self._real.close()

        @property
        def closed(self) -> bool:
            return bool(self._real.closed)

        def __enter__(self) -> Any:
            return self

        def __exit__(self, *_: object) -> None:
            self.close()

    return Epoll
