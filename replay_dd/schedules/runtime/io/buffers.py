"""Buffered file objects: a critical section of our own around their locks.

The buffered objects of ``io`` hold a lock in C while they call the raw object below. If that is written in Python,
threads may be switched inside it; so a critical section of our own encloses the lock.
"""

from __future__ import annotations

import io
import sys

from ..observing import attribute, set_attribute

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

    from ..baton.scheduler import Scheduler
    from ..baton.thread import ManagedThread
    from .descriptors import Descriptors


class _Section:
    """Around a lock written in C: who is inside."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self.holder: ManagedThread | None = None

    def ready_for(self, thread: ManagedThread) -> bool:
        return self.holder is None

    def explain(self) -> str:
        name = "?" if self.holder is None else self.holder.name
        return f"waits for a file object that thread {name} reads or writes"

    def enter(self, frame: Any) -> bool:
        """Wait until nobody is inside; False where this thread is inside already."""
        current = self._scheduler.current
        if self.holder is current:
            return False
        if self.holder is not None:
            self._scheduler.operation(frame, self)
        self.holder = current
        return True


_LOCKED = (
    *("read", "read1", "readinto", "readinto1", "readline", "peek", "__next__"),
    *("write", "flush", "seek", "tell", "truncate", "close", "detach"),
)


def guarded(real: Any, descriptors: Descriptors, scheduler: Scheduler) -> Any:
    """A subclass of one of the buffered classes, with such a section."""

    class Same(type):
        """Objects that ``open`` made are instances, too."""

        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, real) if cls is made else type.__instancecheck__(cls, instance)

    def method(name: str) -> Any:
        call = getattr(real, name)

        def guarded_call(self: Any, *arguments: Any, **named: Any) -> Any:
            section = attribute(self, "_replay_dd_section")
            if section is None:
                section = _Section(scheduler)
                set_attribute(self, "_replay_dd_section", section)
            if not descriptors.has_baton() or not section.enter(sys._getframe(1)):
                return call(self, *arguments, **named)
            try:
                return call(self, *arguments, **named)
            finally:
                section.holder = None

        guarded_call.__name__ = name
        return guarded_call

    methods = {name: method(name) for name in _LOCKED if hasattr(real, name)}
    made: Any = Same(real.__name__, (real,), {**methods, "__module__": real.__module__, "__doc__": real.__doc__})
    return made


def adapt_buffers(descriptors: Descriptors, scheduler: Scheduler) -> None:
    """Put subclasses with a section of ours in the place of the buffered classes of ``io``."""
    for name in ("BufferedReader", "BufferedWriter", "BufferedRandom", "BufferedRWPair"):
        setattr(io, name, guarded(getattr(io, name), descriptors, scheduler))
