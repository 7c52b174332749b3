"""What the scheduler knows about a thread, and about what it waits for."""

from __future__ import annotations

import _thread
import os

from ..accelerator import accelerator
from ..counting.counter import ThreadCounts
from ..counting.digest import text_hash

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType
    from typing import Any, Protocol

    class Waitable(Protocol):
        """What a thread can wait for."""

        def ready_for(self, thread: ManagedThread) -> bool:
            """Whether the pending operation of this thread could proceed now."""

        def explain(self) -> str:
            """What is waited for and why it is not there, for the report of a deadlock."""


_stat, _yield_processor = os.stat, os.sched_yield  # as the program may replace them
allocate_real_lock = _thread.allocate_lock  # taken before the runtime puts its own in place

NEVER = 1 << 62  # a thread time that no thread reaches


class Patient:
    """A wait whose deadline passes only when nobody else can run, however near it is."""

    __slots__ = ()


class ManagedThread(ThreadCounts):  # type: ignore[misc]  # one of two classes with the same attributes
    """One thread of the program, as the scheduler knows it."""

    __slots__ = (
        *("path", "name", "gate", "returned", "waiting", "deadline", "real_deadline_ns", "interrupted", "ended"),
        *("acquire_gate", "collects", "exception", "signalled", "expects_to_be_away"),
        *("children", "due_at", "waits", "starter", "starting", "base_time", "sentinel", "daemon", "priority"),
        *("open_gate", "opens", "origin", "title", "due_ns", "waits_since_ns"),
    )

    def __init__(self, path: tuple[int, ...]) -> None:
        super().__init__()
        self.path = path
        self.name = ".".join(map(str, path))
        self.hash = text_hash(self.name)
        self.time = 0
        self.ask_at = NEVER
        self.due_at = NEVER  # as ask_at, where every yield point asks
        self.atomic = 0  # inside an import or the runtime itself: no yield points
        self.gate = allocate_real_lock()
        self.gate.acquire()
        self.acquire_gate = (
            self.gate.acquire
        )  # kept: when it is needed, another thread may be running, and no object must be made
        self.open_gate = self.gate.release
        self.opens: Callable[[], None] | None = None  # what lets the thread run that it has given the baton to
        self.ident = self.handle = 0  # 0 also while it is away; see stuck_calls.py
        self.returned = False
        self.expects_to_be_away = False
        self.waiting: Waitable | None = None
        self.deadline: int | None = None  # on the virtual clock
        self.real_deadline_ns = 0  # the same on the real one, where that counts
        self.signalled = False  # the main thread: a signal is pending
        self.collects = False  # garbage, before it goes on
        self.interrupted = False  # the main thread: one that ends its wait
        self.ended = False
        self.exception: Any = None  # set by another thread in this one
        self.children = 0
        self.waits = 0  # for things from outside, so far
        self.starter: ManagedThread | None = None  # who waits in Thread.start() for this thread to have come up
        self.starting: Callable[[], bool] | None = None  # whether it has
        self.base_time = 0  # the thread time at which it last got the baton
        self.sentinel: object = None
        self.daemon = False
        self.origin: tuple[tuple[CodeType, int], ...] = ()  # the lines that started it, the innermost first
        self.title = ""  # what the program calls it
        self.priority = 0
        self.due_ns = 0  # see lateness.py
        self.waits_since_ns: int | None = None  # the same clock, where the last hand-over found it waiting


def meet(thread: ManagedThread) -> None:
    """Note that a thread meets the runtime between two of its yield points."""
    if thread.contacts_at != thread.time:
        thread.contacts_at = thread.time
        thread.contacts = 0
    thread.contacts += 1


def contacts(thread: ManagedThread) -> int:
    """How often a thread met the runtime since its last yield point."""
    return thread.contacts if thread.contacts_at == thread.time else 0


def wait_until_gone(native_id: int) -> None:
    """Wait until the operating system has forgotten a thread of this process (at once where it cannot be asked)."""
    if accelerator is not None:
        # What Python allocates here while the other thread frees its own would mix up the order of free memory.
        accelerator.wait_until_gone(native_id)
        return
    path = f"/proc/self/task/{native_id}"
    while True:
        try:
            _stat(path)
        except OSError:
            return
        _yield_processor()  # the thread may need this very processor to go
