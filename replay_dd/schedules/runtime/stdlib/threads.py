"""Threads under the scheduler: what stands in for the functions of ``_thread`` that start and join them."""

from __future__ import annotations

import _thread
import sys

from ..accelerator import processors
from ..accelerator.own_memory import in_own_turn
from ..baton import thread_life
from ..baton.thread import allocate_real_lock
from ..compat import HAS_JOINABLE_THREADS, UNRAISABLE_NAMES_FUNCTION, start_event_of
from .lock_operations import deadline_after
from .locks import Lock, make_end_lock

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..baton.scheduler import Scheduler
    from ..baton.thread import ManagedThread

_settrace, _gettrace = sys.settrace, sys.gettrace  # the real ones; see tracing.py


class ThreadHandle:
    """Stands in for ``_thread._ThreadHandle`` (3.13), which ``threading.Thread`` joins through."""

    def __init__(self) -> None:
        self._thread: ManagedThread | None = None
        self._done = False
        self._daemon = True
        self._ident = 0

    @property
    def ident(self) -> int:
        return self._ident

    def ready_for(self, thread: ManagedThread) -> bool:
        return self._done

    def explain(self) -> str:
        name = "?" if self._thread is None else self._thread.name
        return f"waits for thread {name} to end"

    def is_done(self) -> bool:
        return self._done

    def _set_done(self) -> None:
        if self._thread is None:
            raise RuntimeError("thread not started")
        self._done = True

    def __getstate__(self) -> object:
        raise TypeError("cannot pickle '_thread._ThreadHandle' object")

    def join(self, timeout: float | None = None, /) -> None:
        if self._thread is None:
            raise RuntimeError("thread not started")
        if self._thread is _scheduler.present() and not self._done:
            raise RuntimeError("Cannot join current thread")
        deadline = None if timeout is None or timeout < 0 else deadline_after(timeout)
        _scheduler.operation(sys._getframe(1), self, deadline)


ThreadHandle.__name__ = ThreadHandle.__qualname__ = "_ThreadHandle"
ThreadHandle.__module__ = "_thread"


_scheduler: Scheduler


class ThreadStarter:
    """Starts real threads that run only with the baton in hand.

    Args:
        scheduler: who hands the baton around.
        begin: called once, before the first thread starts.
        thread_started: called in each new thread, before its function (settrace is per thread).
        exception_in_thread: called with type, value and traceback of what a thread did not catch.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        begin: Callable[[], None],
        thread_started: Callable[[], None],
        exception_in_thread: Callable[..., None],
    ) -> None:
        global _scheduler
        _scheduler = scheduler
        self._scheduler = scheduler
        self._begin = begin
        self._thread_started = thread_started
        self._start_real = _thread.start_new_thread
        self._exception_in_thread = exception_in_thread
        self._handles: list[ThreadHandle] = []  # what the end of the program waits for
        self._alive: list[ThreadHandle] = []

    def stand_ins(self) -> dict[str, Any]:
        """What stands in for the functions of ``_thread`` that start threads, number them, and wait for them."""
        names: dict[str, Any] = {"start_new_thread": self.start_new_thread, "start_new": self.start_new_thread}
        # The system numbers them from 1 again one day. A small number takes no memory, and a large one is kept.
        names["get_native_id"] = in_own_turn(_thread.get_native_id)
        if HAS_JOINABLE_THREADS:
            names["_ThreadHandle"] = ThreadHandle
            names["start_joinable_thread"] = self.start_joinable_thread
            names["_shutdown"] = self.shutdown
        else:
            names["_set_sentinel"] = self.set_sentinel
        return names

    # -- what the program calls --------------------------------------------------------------------------------------

    def start_new_thread(
        self, function: Callable[..., object], args: tuple[Any, ...], kwargs: dict[str, Any] | None = None, /
    ) -> int:
        """Stands in for ``_thread.start_new_thread``."""
        if not callable(function):
            raise TypeError("first arg must be callable")
        if not isinstance(args, tuple):
            raise TypeError("2nd arg must be a tuple")
        if kwargs is not None and not isinstance(kwargs, dict):
            raise TypeError("optional 3rd arg must be a dictionary")
        return self._start(function, args, kwargs or {}, None, sys._getframe(1))

    def start_joinable_thread(
        self, function: Callable[[], object], handle: ThreadHandle | None = None, daemon: bool = True
    ) -> ThreadHandle:
        """Stands in for ``_thread.start_joinable_thread`` (3.13)."""
        if not callable(function):
            raise TypeError("thread function must be callable")
        if handle is None:
            handle = ThreadHandle()
        elif not isinstance(handle, ThreadHandle):
            raise TypeError("'handle' must be a _ThreadHandle")
        if handle._thread is not None:
            raise RuntimeError("thread already started")
        handle._daemon = daemon
        handle._ident = self._start(function, (), {}, handle, sys._getframe(1))
        return handle

    def set_sentinel(self) -> Lock:
        """Stands in for ``_thread._set_sentinel`` (until 3.12): a lock that is released when the thread has ended."""
        thread = self._scheduler.present()
        thread.sentinel = lock = make_end_lock(thread)
        return lock

    def shutdown(self) -> None:
        """Stands in for ``_thread._shutdown`` (3.13): waits for all threads that are no daemons, old and new."""
        while True:
            present = self._scheduler.present()
            left = [handle for handle in self._handles if not handle._done and handle._thread is not present]
            if not left:
                return
            left[0].join()

    def forked_child(self) -> None:
        """In the child of a fork: the other threads are gone, and the child must not begin a run."""
        self._begin = _nothing
        current = self._scheduler.current
        for handle in self._alive:
            if handle._thread is not current:
                handle._done = True

    # -- how they run ------------------------------------------------------------------------------------------------

    def _start(
        self,
        function: Callable[..., object],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        handle: ThreadHandle | None,
        frame: Any,
    ) -> int:
        scheduler = self._scheduler
        parent = scheduler.present()
        if parent.ident != _thread.get_ident():
            return self._start_real(function, args, kwargs)
        scheduler.operation(frame)
        if not scheduler.counting:
            self._begin()
        child = thread_life.create(parent)
        thread_life.note_origin(child, frame)
        # What a new thread makes before it waits for the baton must not stand now here, now there among what we make.
        waits = allocate_real_lock()
        waits.acquire()
        processors.stay()
        try:
            ident = self._start_real(self._run, (child, function, args, kwargs, handle, waits))
        except BaseException:  # the system has no room for another thread
            processors.roam()
            parent.children -= 1
            raise
        waits.acquire()
        processors.roam()
        if handle is not None:
            self._keep(handle, child, ident)
        child.ident = ident
        thread_life.add(scheduler, child)
        started = start_event_of(function)
        if started is not None:
            # threading.Thread.start() waits for the new thread to say that it is up. That is no blocking as the
            # program sees it: the new thread runs so far, and its creator goes on.
            child.starting = lambda: started.is_set() and started._cond._lock._holder is None
            thread_life.run_until_up(scheduler, parent, child)
        # An exception of a signal handler would look to `threading` as if the thread had not started.
        scheduler.holds_signals = True
        scheduler.operation(frame)
        scheduler.holds_signals = False
        if parent.signalled:
            parent.ask_at = 0
        return ident

    def _keep(self, handle: ThreadHandle, thread: ManagedThread, ident: int) -> None:
        handle._thread, handle._ident = thread, ident  # now, as the thread may fork before its starter goes on
        # In place: the lists themselves are of the runtime's memory; see own_memory.py.
        self._alive[:] = [known for known in self._alive if not known._done]
        self._alive.append(handle)
        if not handle._daemon:
            self._handles[:] = [known for known in self._handles if not known._done]
            self._handles.append(handle)

    def _run(
        self,
        thread: ManagedThread,
        function: Callable[..., object],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        handle: ThreadHandle | None,
        waits: _thread.LockType,
    ) -> None:
        scheduler = self._scheduler
        processors.begin()
        waits.release()
        thread_life.entered(scheduler, thread)
        self._thread_started()
        try:
            function(*args, **kwargs)
        except SystemExit:
            pass
        except BaseException:
            self._report(function)
        finally:
            if scheduler.current is not thread:
                scheduler.come_back()
            if _gettrace() is not None:
                _settrace(None)
            if handle is not None:
                handle._set_done()
            if isinstance(thread.sentinel, Lock):
                thread.sentinel._at_fork_reinit()
            thread_life.ended(scheduler, thread)

    def _report(self, function: Callable[..., object]) -> None:
        """Tell of an exception in a function that was started without ``threading``, as the interpreter does."""
        error_type, error, trace = sys.exc_info()
        if trace is not None and error is not None:
            trace = error.__traceback__ = trace.tb_next  # without our own frame
        self._exception_in_thread(error_type, error, trace)
        if sys.unraisablehook is not sys.__unraisablehook__:
            arguments: Any = type(sys.implementation)()  # types.SimpleNamespace, without the import
            arguments.exc_type, arguments.exc_value, arguments.exc_traceback = error_type, error, trace
            arguments.err_msg, arguments.object = "Exception ignored in thread started by", function
            if UNRAISABLE_NAMES_FUNCTION:
                arguments.err_msg, arguments.object = f"{arguments.err_msg} {function!r}", None
            sys.unraisablehook(arguments)
        elif sys.stderr is not None and error_type is not None and error is not None:
            print(f"Exception ignored in thread started by: {function!r}", file=sys.stderr)
            sys.__excepthook__(error_type, error, trace)


def _nothing() -> None:
    """What a forked child does in the place of beginning a run."""
