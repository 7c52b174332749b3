"""Tells the tool of a program that hangs: what each thread waits for since where, and who could end that.

Rules of this module:

* It looks at the objects themselves, at the moment of the hang; what happened before is the history's, if there is one.
* Whoever has a lock, runs a task or has to end is known. Who else could end a wait (by putting into a queue, by setting
  an event) is not: those are the threads that did so before, or whose next lines would.
"""

from __future__ import annotations

import sys

from ..channel import HANG
from ..observing import attribute, local_value, type_name
from ..points.frames import program_frame
from ..points.places import COUNTED
from ..stdlib.deadlock_text import explain
from ..stdlib.locks import Lock, RLock
from ..stdlib.threads import ThreadHandle
from .history import IMPORT_LOCK, History, only_signals
from .intentions import Intentions
from .library import GIVES_UP, futures_waited_for, import_lock, library_call
from .pools import Pools
from .stacks import NO_STACK

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

    from ..baton.scheduler import Scheduler
    from ..baton.thread import ManagedThread

_MOST_THREADS = 200
_MOST_STEPS = 400
_GIVES = {
    "Queue": ("put", "put_nowait"),
    "SimpleQueue": ("put", "put_nowait"),
    "Event": ("set",),
    "Condition": ("notify", "notify_all"),
    "Semaphore": ("release",),
    "BoundedSemaphore": ("release",),
    "Barrier": ("wait", "abort", "reset"),
    "Future": ("set_result", "set_exception", "cancel"),
}
_TAKES_FOR_CALLER = ("__enter__", "__aenter__", "acquire", "lock", "acquire_lock")
_TAKES_ITEMS = ("get", "get_nowait")


def tell(scheduler: Scheduler, why: str, history: History | None) -> None:
    """Send what is known of the hang.

    Args:
        scheduler: whose run.
        why: ``deadlock``, ``time limit``, or empty for a run that ends.
        history: what happened before; None if nothing was kept.
    """
    _Teller(scheduler, history).tell(why, history is not None)


class _Teller:
    def __init__(self, scheduler: Scheduler, history: History | None) -> None:
        self._scheduler = scheduler
        self._history = history or History(scheduler)
        if history is None:
            self._history.find_locks()
        self._frames = sys._current_frames()
        self._intentions = Intentions(scheduler.places)
        self._pools = Pools([(thread, self._frame(thread)) for thread in scheduler.threads])

    def tell(self, why: str, kept: bool) -> None:
        history, scheduler = self._history, self._scheduler
        rows = []
        facts: dict[int, tuple[str, tuple[str, ...], tuple[str, ...]]] = {}
        for thread in list(scheduler.known.values())[:_MOST_THREADS]:
            frame = None if thread.ended else self._frame(thread)
            number, other = -1, ""
            explanation = ""
            state = "ended" if thread.ended else "runs" if thread is scheduler.current else "can run"
            if not thread.ended and thread.waiting is not None and not scheduler.is_ready(thread):
                state = "waits"
                explanation = explain(thread.waiting, frame)
                ready = self._pools.ready_in(thread.name)
                if ready:
                    explanation += f"; {ready} callback{' is' if ready == 1 else 's are'} ready in its event loop"
                thing, other = self._awaited(thread, frame)
                if thing is not None:
                    number = history.number(thing)
                    facts[number] = self._facts(thing, thread)
            held = [] if thread.ended else history.held_by(thread)
            for lock in held:
                facts.setdefault(history.number(lock), self._facts(lock, thread))
            rows.append(
                (
                    *(thread.name, thread.title, state, number, other, explanation),
                    *(history.stacks.of_frame(frame), history.stacks.of_lines(thread.origin)),
                    tuple([history.number(lock) for lock in held]),
                    self._pools.loop_of(thread.name),
                )
            )
        steps = list(history.steps)
        things = []
        for number, (kind, name, what, made) in history.things.items():
            fact, known, likely = facts.get(number, ("", (), ()))
            taken = history.taken.get(number, NO_STACK)
            things.append((number, kind, name, what, made or (), fact, known, likely, taken))
        if why:
            wanted = set(facts)
            steps = [step for step in steps if step[0] in wanted or step[4] == GIVES_UP]
        scheduler.send(
            HANG,
            (why, kept and not history.failed, tuple(rows), tuple(things), tuple(steps[-_MOST_STEPS:])),
            tuple(history.stacks.rows),
            tuple(scheduler.places.counted_files()),
        )

    def _frame(self, thread: ManagedThread) -> FrameType | None:
        return program_frame(self._frames.get(thread.ident))

    def _awaited(self, thread: ManagedThread, frame: FrameType | None) -> tuple[object, str]:
        """The object that a thread waits for, and the thread, if it waits for its end."""
        waiting: Any = thread.waiting
        ends = None
        if type(waiting) is Lock:
            ends = waiting._ends_with
        elif type(waiting) is ThreadHandle:
            ends = waiting._thread
        if ends is not None:
            return None, ends.name
        if type(waiting) in (Lock, RLock):
            importing = import_lock(frame)
            if importing is not None:
                return importing, ""
            futures = futures_waited_for(frame, self._scheduler.places)
            if futures:
                return self._pools.last_to_run(futures), ""
            called = library_call(frame, self._scheduler.places)
            if called is not None and only_signals(waiting):
                return local_value(called[1], "self"), ""
        is_thing = type(waiting) in (Lock, RLock) or type_name(waiting) == "SimpleQueue"
        return (waiting if is_thing else None), ""

    def _facts(self, thing: Any, waiter: ManagedThread) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        """What is known of an object in words; who has to act; who is likely to."""
        kind = type_name(thing)
        if kind == IMPORT_LOCK:
            owner = attribute(thing, "owner")
            found = [thread.name for thread in self._scheduler.threads if thread.ident == owner]
            return f"thread {found[0]} imports it" if found else "", tuple(found), ()
        if type(thing) in (Lock, RLock):
            holder = thing._holder
            if holder is None:
                return "free", (), ()
            return self._facts_of_lock(thing, holder), (holder.name,), ()
        if kind == "Future":
            fact, threads = self._pools.about(thing)
            return fact, tuple(threads), () if threads else self._who_would(_GIVES[kind], thing, waiter)
        fact = _state_of(kind, thing)
        methods = _GIVES.get(kind, ())
        if "Queue" in kind and fact.startswith("full"):
            methods = _TAKES_ITEMS
        return fact, (), self._who_would(methods, thing, waiter)

    def _facts_of_lock(self, lock: Any, holder: ManagedThread) -> str:
        if holder.ended:
            return f"thread {holder.name} has it and has ended"
        taken = lock._taken
        frame = self._frame(holder)
        while frame is not None and taken is not None:
            if frame.f_code is taken.code:
                return f"thread {holder.name} has it"
            frame = frame.f_back
        if (
            taken is None
            or taken.code.co_name in _TAKES_FOR_CALLER
            or self._scheduler.places.kind(taken.code.co_filename) != COUNTED
        ):
            return f"thread {holder.name} has it"
        return f"thread {holder.name} has it, and has left {taken.code.co_qualname}, which took it"

    def _who_would(self, methods: tuple[str, ...], thing: object, waiter: ManagedThread) -> tuple[str, ...]:
        """The threads that would call one of these methods, should they go on."""
        others = [thread for thread in self._scheduler.threads if thread is not waiter]
        return tuple([one.name for one in others if self._intentions.will(self._frame(one), methods, thing)])


def _state_of(kind: str, thing: Any) -> str:
    if kind in ("Queue", "LifoQueue", "PriorityQueue"):
        items, most = attribute(thing, "queue"), attribute(thing, "maxsize")
        count = len(items) if items is not None else 0
        if most and count >= most:
            return f"full: it has {count} of at most {most} items"
        return "empty" if not count else f"it has {count} items"
    if kind == "SimpleQueue":
        return "empty"
    if kind == "Event":
        return "set" if attribute(thing, "_flag") else "not set"
    if kind in ("Semaphore", "BoundedSemaphore"):
        most = attribute(thing, "_initial_value")
        return f"no permit left{'' if most is None else f' of {most}'}"
    if kind == "Barrier":
        count, parties = attribute(thing, "_count"), attribute(thing, "_parties")
        return f"{count} of {parties} threads are there"
    if kind == "Condition":
        waiters = attribute(thing, "_waiters")
        return f"{len(waiters or ())} threads wait" if waiters is not None and len(waiters) > 1 else ""
    return ""
