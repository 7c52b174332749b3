"""Waiting for files and sockets: ``select``, and with it ``selectors`` and ``asyncio``.

A thread that waits for descriptors gives the baton away until one is ready. When nobody can run, the process really
waits: for the descriptors of all threads, and no longer than to the next deadline of the virtual clock. Descriptors
that only this process can make ready (both ends of a socket pair, such as ``asyncio`` wakes itself through) are not
worth waiting for: then the clock jumps at once.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .managed import ManagedThread
    from .scheduler import Scheduler


class Readiness:
    """What a thread waits for that waits for descriptors.

    Args:
        look: tells what is ready at this moment, without waiting.
        descriptors: (descriptor, events as ``poll`` takes them) of all that it waits for.
    """

    def __init__(self, look: Callable[[], Any], descriptors: Callable[[], list[tuple[int, int]]]) -> None:
        self._look = look
        self.descriptors = descriptors

    def ready_for(self, thread: ManagedThread) -> bool:
        return any(self._look())

    def explain(self) -> str:
        return f"waits for the descriptors {sorted(number for number, _ in self.descriptors())}"


class Descriptors:
    """Adapts the modules ``select`` and ``socket`` of the program."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._inside: set[int] = set()  # inodes of sockets whose other end is in this process
        self._real_poll: Any = None
        scheduler.wait_outside = self.wait_outside

    def wait(self, frame: Any, look: Callable[[], Any], of: Callable[[], list[tuple[int, int]]], wait_s: Any) -> None:
        """A yield point that lasts until something is ready, or so many virtual seconds have passed."""
        if wait_s is not None and wait_s == 0:
            self._scheduler.operation(frame)
            return
        forever = wait_s is None or wait_s < 0
        deadline = None if forever else self._scheduler.clock.now_ns + int(wait_s * 1_000_000_000)
        self._scheduler.operation(frame, Readiness(look, of), deadline)

    def wait_outside(self, threads: list[ManagedThread], wait_ns: int | None) -> bool:
        """Really wait until a descriptor that some thread waits for is ready; False if none is worth it, or in time."""
        poll = None
        for thread in threads:
            if isinstance(thread.waiting, Readiness):
                for number, events in thread.waiting.descriptors():
                    if not self._is_inside(number):
                        poll = poll or self._real_poll()
                        poll.register(number, events)
        return poll is not None and bool(poll.poll(None if wait_ns is None else wait_ns / 1e6))

    def _is_inside(self, number: int) -> bool:
        try:
            return os.fstat(number).st_ino in self._inside
        except OSError:
            return True  # closed meanwhile: nothing will come

    def adapt_socket(self, module: Any) -> None:
        """Know the pairs of sockets whose both ends are here."""
        real = module._socket.socketpair

        def socketpair(*arguments: Any) -> Any:
            pair = real(*arguments)
            self._inside.update(os.fstat(end.fileno()).st_ino for end in pair)
            return pair

        module._socket.socketpair = socketpair

    def adapt_subprocess(self, module: Any) -> None:
        """Let ``communicate`` wait with the baton in hand.

        A child process does not wait for threads of ours, and the pieces in which its output comes are no doing of the
        schedule: as yield points they would make every replay another run.
        """
        base: Any = getattr(getattr(module, "selectors", None), "PollSelector", None)
        real_poll = self._real_poll
        if base is None or real_poll is None:
            return

        class PopenSelector(base):  # type: ignore[misc]  # known at run time only
            _selector_cls = real_poll

        module._PopenSelector = PopenSelector

    def adapt_select(self, module: Any) -> None:
        """Put waits under the scheduler in the place of ``select.select``, ``select.poll`` and ``select.epoll``."""
        self._real_poll = module.poll
        real_select = module.select
        wait = self.wait
        reading, writing, urgent = module.POLLIN, module.POLLOUT, module.POLLPRI

        def select(readers: Any, writers: Any, others: Any, timeout: Any = None, /) -> Any:
            readers, writers, others = list(readers), list(writers), list(others)

            def of() -> list[tuple[int, int]]:
                groups = ((readers, reading), (writers, writing), (others, urgent))
                return [(_number(item), events) for group, events in groups for item in group]

            wait(sys._getframe(1), lambda: real_select(readers, writers, others, 0), of, timeout)
            return real_select(readers, writers, others, 0)

        module.select = select
        module.poll = _make_poll(module.poll, wait)
        if hasattr(module, "epoll"):
            module.epoll = _make_epoll(module.epoll, wait)


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
            wait(sys._getframe(1), lambda: self._real.poll(0), lambda: list(self._events.items()), seconds)
            return self._real.poll(0)

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
            wait(sys._getframe(1), lambda: self._real.poll(0, maxevents), lambda: list(self._events.items()), timeout)
            return self._real.poll(0, maxevents)

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
