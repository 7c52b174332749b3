"""Waiting for descriptors: ``select``, and with it ``selectors`` and ``asyncio``.

Rules of this module:

* A thread that waits for descriptors gives the baton away until one is ready; moments.py knows what a log says of it.
* When nobody can run, the process really waits for the descriptors of all threads, and no longer than to the next
  deadline of the virtual clock, so that a time-out never comes before what is waited for could.
* What only this process can make ready is not worth waiting for: then the clock jumps at once. A thread that listens on
  a socket is given a moment, since it usually listens to threads of this process. What the system's network still has
  on its way is worth waiting for.
"""

from __future__ import annotations

import _thread
import os
import sys

from ..accelerator.own_memory import use_own
from ..baton.moments import GRACE_S, INSIDE, LISTENING, NEAR, OUTSIDE, PATIENCE_S, OutsideWait
from .tcp_in_flight import are_in_flight

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..baton.scheduler import Scheduler
    from ..baton.thread import ManagedThread

_STEP_S = 0.002  # between two looks at what no descriptor tells
_get_ident = _thread.get_ident
READING, URGENT, WRITING = 1, 2, 4  # POLLIN, POLLPRI and POLLOUT of poll(2)


class Descriptors:
    """Knows the descriptors of this process, and adapts the module ``select``."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self.arrivals = scheduler.arrivals
        self.arrivals.bytes_in_flight = are_in_flight
        self._natures: dict[int, int] = {}  # by inode, where it is not OUTSIDE
        self._partners: dict[int, int] = {}  # of each end of a pair of sockets, the inode of the other one
        self._real_poll: Any = None
        self.children_run: Callable[[], bool] = lambda: False
        scheduler.wait_outside = self.wait_outside

    # -- what a descriptor is ----------------------------------------------------------------------------------------

    def set_nature(self, descriptor: int, nature: int) -> None:
        """Note where the other end of a descriptor is."""
        try:
            inode = os.fstat(descriptor).st_ino
        except OSError:
            return
        self._natures[inode] = nature

    def pair(self, one: int, other: int) -> None:
        """Note that two sockets are the ends of one connection inside of this process."""
        for descriptor, partner in ((one, other), (other, one)):
            self.set_nature(descriptor, INSIDE)
            self._partners[os.fstat(descriptor).st_ino] = os.fstat(partner).st_ino

    def give_to_child(self, descriptor: int) -> None:
        """Another process gets a descriptor: whoever has the other end may hear from there now."""
        try:
            inode = os.fstat(descriptor).st_ino
        except OSError:
            return
        if self._natures.get(inode, OUTSIDE) != INSIDE:
            # Of a connection through the system's network the other end is not known.
            self._natures = {other: nature for other, nature in self._natures.items() if nature == INSIDE}
        self._natures.pop(inode, None)
        self._natures.pop(self._partners.get(inode, 0), None)

    def nature(self, descriptor: int) -> int:
        """INSIDE, NEAR, LISTENING or OUTSIDE."""
        try:
            return self._natures.get(os.fstat(descriptor).st_ino, OUTSIDE)
        except OSError:
            return INSIDE  # closed meanwhile: nothing will come

    def share_with_children(self) -> None:
        """The process forked: every other end may be in the child now."""
        self._natures.clear()
        for thread in self._scheduler.threads:
            if isinstance(thread.waiting, OutsideWait):
                thread.waiting.nature = OUTSIDE

    # -- waiting -----------------------------------------------------------------------------------------------------

    def has_baton(self) -> bool:
        """Whether the calling thread is under control; a call of any other one is none of ours."""
        scheduler = self._scheduler
        if scheduler.over:
            return False
        if scheduler.current.ident == _get_ident():
            return not scheduler.busy
        return scheduler.come_back()  # whatever the scheduler is at: a thread that was away waits until it is done

    def yield_point(self, frame: Any) -> None:
        """A yield point before a call that never blocks."""
        self._scheduler.operation(frame)

    def poll(self, descriptors: list[tuple[int, int]], milliseconds: float | None = 0) -> bool:
        """Whether any of these is ready (or closed, or in error) within a real time."""
        if self._real_poll is None:
            import select  # noqa: F401  adapted as soon as it is there

        poll = self._real_poll()
        wanted: dict[int, int] = {}
        for number, events in descriptors:
            wanted[number] = wanted.get(number, 0) | events
        for number, events in wanted.items():
            try:
                poll.register(number, events)
            except (OverflowError, ValueError):
                return True  # closed: the call itself will tell
        return bool(poll.poll(milliseconds))

    def make_wait(
        self, descriptors: list[tuple[int, int]], what: str = "", through: list[tuple[int, int]] | None = None
    ) -> OutsideWait:
        """A wait of the running thread until one of some descriptors is ready.

        Args:
            descriptors: what is waited for.
            what: the same for people.
            through: what to poll for it instead (an epoll descriptor tells of many).
        """
        natures = [(self.nature(number), number) for number, _ in descriptors]
        nature = max(natures, default=(INSIDE, 0))[0]
        if not what:
            what = f"the descriptors {sorted(number for number, _ in descriptors)}"
        polled = descriptors if through is None else through
        wait = OutsideWait(self.arrivals, self._scheduler.current, lambda: self.poll(polled), polled, nature, what)
        wait.near = [number for own, number in natures if own == NEAR]
        return wait

    def make_other_wait(self, is_there: Callable[[], object], what: str) -> OutsideWait:
        """A wait of the running thread for something outside that no descriptor tells."""
        return OutsideWait(self.arrivals, self._scheduler.current, is_there, [], OUTSIDE, what)

    def wait_outside(self, threads: list[ManagedThread], wait_ns: int | None) -> bool:
        """Nobody can run: really wait until something came that a thread waits for.

        Args:
            threads: all of them.
            wait_ns: to the next deadline, in nanoseconds; None where there is none.

        Returns:
            False where nothing came in time, or nothing can come.
        """
        waits = [thread.waiting for thread in threads if isinstance(thread.waiting, OutsideWait)]
        known = [wait for wait in waits if wait.expected is not None]
        # The recorded way leads nowhere: this is another one.
        for wait in known if wait_ns is None else self.arrivals.without_a_moment(known):
            wait.leave()
        if wait_ns is not None:
            waits = [wait for wait in waits if wait.expected is None]
        limit_s = self._limit_s(waits, wait_ns, bool(self.arrivals.expected))
        if limit_s is None:
            return self._wait_for(waits, None)
        if limit_s > 0 and self._wait_for(waits, limit_s):
            return True
        last_s = PATIENCE_S if wait_ns is None else min(PATIENCE_S, wait_ns / 1e9)
        while limit_s < last_s and self.arrivals.are_in_flight(waits):
            if self._wait_for(waits, min(GRACE_S, last_s - limit_s)):
                return True
            limit_s += GRACE_S
        return False

    def _wait_for(self, waits: list[OutsideWait], limit_s: float | None) -> bool:
        """Really wait for one of these, for so many seconds at most."""
        silent = [wait for wait in waits if not wait.descriptors]
        # A thread that is away in C may go on filling or emptying what is inside.
        pollable = [pair for wait in waits for pair in wait.descriptors if wait.nature > INSIDE or silent]
        self._scheduler.counter.idle = True
        try:
            if not silent:
                return self.poll(pollable, None if limit_s is None else limit_s * 1000)
            while limit_s is None or limit_s > 0:
                if self.poll(pollable, _STEP_S * 1000) or any(self.arrivals.look(wait) for wait in silent):
                    return True
                limit_s = None if limit_s is None else limit_s - _STEP_S
            return False
        finally:
            self._scheduler.counter.idle = False

    def _limit_s(self, waits: list[OutsideWait], wait_ns: int | None, replaying: bool) -> float | None:
        """How long to wait for the best of these; None: for ever."""
        whole_s = None if wait_ns is None else wait_ns / 1e9
        real = self.arrivals.real_time or (not replaying and wait_ns is not None and self.children_run())
        nature = max((wait.nature for wait in waits), default=INSIDE)
        if nature == OUTSIDE or (real and wait_ns is not None):
            return whole_s
        if nature == LISTENING:
            return whole_s if whole_s is None else min(whole_s, GRACE_S)
        if nature == NEAR:
            return GRACE_S if whole_s is None else min(whole_s, GRACE_S)
        return 0

    # -- the module select -------------------------------------------------------------------------------------------

    def select(
        self,
        frame: Any,
        wanted: list[tuple[int, int]],
        timeout_s: Any,
        look: Callable[[], Any],
        through: list[tuple[int, int]] | None = None,
    ) -> Any:
        """Wait for descriptors, and answer as the recorded run did where the log knows.

        Args:
            frame: who calls.
            wanted: (descriptor, events as ``poll`` takes them).
            timeout_s: virtual seconds; None or below 0: for ever.
            look: tells (descriptor, events) of what is ready now, in the order of the answer.
            through: what to poll instead.
        """
        if not self.has_baton():
            return None
        wait = self.make_wait(wanted, through=through)
        if timeout_s is not None and timeout_s == 0:
            self._scheduler.operation(frame)
        elif not self.arrivals.wait(frame, wait, None if timeout_s is None or timeout_s < 0 else timeout_s):
            return []
        found = look()
        before = use_own(True)
        found = _as_recorded(wait, found, look)
        self.arrivals.answered(wait, tuple(found))
        use_own(before)
        return found

    def adapt_select(self, module: Any) -> None:
        """Put waits under the scheduler in the place of ``select.select``, ``select.poll`` and ``select.epoll``."""
        self._real_poll = module.poll
        real_select = module.select
        wait = self.select
        reading, writing, urgent = module.POLLIN, module.POLLOUT, module.POLLPRI

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

        module.select = select
        module.poll = _make_poll(module.poll, wait)
        if hasattr(module, "epoll"):
            module.epoll = _make_epoll(module.epoll, wait)


def _as_recorded(wait: OutsideWait, found: Any, look: Callable[[], Any]) -> Any:
    """What the recorded run found, if that is there, too; else what was found now."""
    expected = wait.expected
    if expected is None or not expected.by:
        return found
    if not isinstance(expected.answer, list | tuple):
        wait.leave()  # for the recorded one was no wait of this kind
        return found
    recorded = list(expected.answer)
    if not _contains(found, recorded) and wait.nature > INSIDE:
        wait.is_there = lambda: _contains(look(), recorded)
        wait.wait_really()
        found = look()
    # If it is the same, not ours, as it becomes the program's.
    return recorded if found != recorded and _contains(found, recorded) else found


def _contains(found: Any, wanted: Any) -> bool:
    """Whether all these events are there; more may be: an end that was closed meanwhile is told with the data."""
    events = dict(found)
    return all(events.get(number, 0) & wanted_events == wanted_events for number, wanted_events in wanted)


def _number(item: Any) -> int:
    return item if isinstance(item, int) else int(item.fileno())


def _make_poll(real_poll: Any, wait: Any) -> Any:
    class Poll:
        """Stands in for ``select.poll``."""

        def __init__(self) -> None:
            self._real = real_poll()
            self._events: dict[int, int] = {}

        def register(self, descriptor: Any, *events: int) -> None:
            self._real.register(descriptor, *events)
            self._events[_number(descriptor)] = events[0] if events else 7

        def modify(self, descriptor: Any, events: int) -> None:
            self._real.modify(descriptor, events)
            self._events[_number(descriptor)] = events

        def unregister(self, descriptor: Any) -> None:
            self._real.unregister(descriptor)
            self._events.pop(_number(descriptor), None)

        def poll(self, timeout: Any = None, /) -> Any:
            seconds = None if timeout is None else timeout / 1000
            found = wait(sys._getframe(1), list(self._events.items()), seconds, lambda: self._real.poll(0))
            return self._real.poll(timeout) if found is None else found

    return Poll


def _make_epoll(real_epoll: Any, wait: Any) -> Any:
    class Epoll:
        """Stands in for ``select.epoll``."""

        def __init__(self, sizehint: int = -1, flags: int = 0) -> None:
            self._real = real_epoll(sizehint, flags)
            self._events: dict[int, int] = {}
            self.fileno = self._real.fileno

        @classmethod
        def fromfd(cls, descriptor: int) -> Any:
            return real_epoll.fromfd(descriptor)

        def register(self, fd: Any, eventmask: int = 7) -> None:
            self._real.register(fd, eventmask)
            self._events[_number(fd)] = eventmask & 0xFFFF

        def modify(self, fd: Any, eventmask: int) -> None:
            self._real.modify(fd, eventmask)
            self._events[_number(fd)] = eventmask & 0xFFFF

        def unregister(self, fd: Any) -> None:
            self._real.unregister(fd)
            self._events.pop(_number(fd), None)

        def poll(self, timeout: Any = None, maxevents: int = -1) -> Any:
            wanted = list(self._events.items())
            own = [(self.fileno(), READING)]
            found = wait(sys._getframe(1), wanted, timeout, lambda: self._real.poll(0, maxevents), own)
            return self._real.poll(timeout, maxevents) if found is None else found

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
