"""Who works on which future: the workers and the queues of thread pools, and the loops of asyncio."""

from __future__ import annotations

from ..observing import attribute, is_a, local_value
from .library import function_of

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

    from ..baton.thread import ManagedThread

_WORKER = ("concurrent.futures.thread", "_worker")
_RUNS = ("concurrent.futures.thread", "_WorkItem.run")
_LOOPS = (("asyncio.base_events", "BaseEventLoop.run_forever"), ("asyncio.base_events", "BaseEventLoop._run_once"))
_FUNCTION = type(lambda: 0)


class Pools:
    """Looks at the frames of all threads.

    Args:
        threads: those that have not ended, with their innermost frames.
    """

    def __init__(self, threads: list[tuple[ManagedThread, FrameType | None]]) -> None:
        self._running: dict[int, str] = {}
        self._queued: dict[int, tuple[int, list[str]]] = {}
        self._loops: list[tuple[Any, str]] = []
        workers: dict[int, tuple[Any, list[str]]] = {}
        for thread, innermost in threads:
            frame = innermost
            while frame is not None:
                function = function_of(frame)
                if function == _RUNS:
                    future = attribute(local_value(frame, "self"), "future")
                    self._running[id(future)] = thread.name
                elif function == _WORKER:
                    queue = local_value(frame, "work_queue")
                    workers.setdefault(id(queue), (queue, []))[1].append(thread.name)
                elif function in _LOOPS:
                    loop = local_value(frame, "self")
                    if all(known is not loop for known, _ in self._loops):
                        self._loops.append((loop, thread.name))
                frame = frame.f_back
        for queue, names in workers.values():
            items = attribute(queue, "_items")
            if items is None:
                items = attribute(queue, "queue")
            for position, item in enumerate(list(items or ())):
                self._queued[id(attribute(item, "future"))] = (position, names)

    def about(self, future: object) -> tuple[str, list[str]]:
        """What is known of a future in words, and the threads that would have to go on for it to be done."""
        state = attribute(future, "_state")
        running = self._running.get(id(future))
        if running is not None:
            return f"thread {running} runs its task", [running]
        if id(future) in self._queued:
            position, names = self._queued[id(future)]
            several = f"{len(names)} workers of its pool" if len(names) > 1 else "only worker of its pool"
            before = f", behind {position} other{'' if position == 1 else 's'}" if position else ""
            return (
                f"its task waits in the queue of the pool{before}, and the {several} ({', '.join(names)}) wait too",
                (names),
            )
        for loop, name in self._loops:
            if self._belongs(future, loop):
                return f"its coroutine runs in the event loop of thread {name}", [name]
        if state in ("PENDING", "RUNNING"):
            return "no thread that is left runs a task for it", []
        return "", []

    def last_to_run(self, futures: list[object]) -> object:
        """Of some futures, the one whose task comes last in the queue of its pool; the first one if none is queued."""
        queued = [(self._queued[id(one)][0], one) for one in futures if id(one) in self._queued]
        return max(queued, key=lambda one: one[0])[1] if queued else futures[0]

    def loop_of(self, thread: str) -> bool:
        """Whether this thread runs an event loop."""
        return any(name == thread for _, name in self._loops)

    def ready_in(self, thread: str) -> int:
        """How many callbacks are ready in the event loop of a thread: it sleeps if nobody has woken it for them."""
        return sum(len(attribute(loop, "_ready") or ()) for loop, name in self._loops if name == thread)

    def _belongs(self, future: Any, loop: Any) -> bool:
        for callback in list(attribute(future, "_done_callbacks") or ()):
            if any(cell is loop for cell in _cells(callback)):
                return True
        for handle in list(attribute(loop, "_ready") or ()):
            if any(cell is future for cell in _cells(attribute(handle, "_callback"))):
                return True
        return False


def _cells(function: Any) -> list[object]:
    if not is_a(function, _FUNCTION):
        return []
    found = []
    for cell in function.__closure__ or ():
        try:
            found.append(cell.cell_contents)
        except ValueError:  # it is empty
            continue
    return found
