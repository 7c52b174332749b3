"""What a deadlocked thread waits for, in the program's terms: a queue, an event, a future.

Nearly everything that threads wait for in the standard library is built on ``Condition.wait``. It creates a lock for
each wait, acquires it, and waits until somebody else releases it. Reporting that lock, and who took it, would read as
if the thread had locked itself out.
"""

from __future__ import annotations

from ..compat import CONDITION_LOCK
from ..observing import attribute, is_a, type_name
from ..points.frames import program_frame
from .locks import Lock, RLock, made_at

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from types import FrameType

    from ..baton.thread import Waitable

_CONDITION = ("threading", "Condition.wait")

# What a thread in one of these functions waits for: the `self` of the outermost of them.
_TOLD = {
    _CONDITION: "waits to be notified of the {}",
    ("threading", "Event.wait"): "waits for the {} to be set",
    ("threading", "Semaphore.acquire"): "waits for the {} to be released",
    ("threading", "Barrier.wait"): "waits for other threads at the {}",
    ("queue", "Queue.get"): "waits for an item in the {}",
    ("queue", "Queue.put"): "waits for room in the {}",
    ("queue", "Queue.join"): "waits for all items of the {} to be done",
    ("concurrent.futures._base", "Future.result"): "waits for the result of the {}",
    ("concurrent.futures._base", "Future.exception"): "waits for the result of the {}",
    ("concurrent.futures._base", "wait"): "waits for the results of Futures",
    ("concurrent.futures._base", "as_completed"): "waits for the results of Futures",
    ("multiprocessing.pool", "ApplyResult.wait"): "waits for the {}",
}
_MODULES = {module for module, _ in _TOLD}


def explain(waiting: Waitable, frame: FrameType | None) -> str:
    """What is waited for, for the report of a deadlock.

    Args:
        waiting: what the pending operation of a thread needs.
        frame: the innermost frame of that thread.
    """
    frame = program_frame(frame)
    if frame is None or _function(frame) != _CONDITION or frame.f_locals.get("waiter") is not waiting:
        return waiting.explain()
    condition = thing = frame.f_locals["self"]
    text = _TOLD[_CONDITION]
    while frame is not None and _function(frame)[0] in _MODULES:
        told = _TOLD.get(_function(frame))
        if told is not None:
            text, thing = told, frame.f_locals.get("self")
        frame = frame.f_back
    return text.format(type_name(thing) + _made(condition, thing))


def _function(frame: FrameType) -> tuple[str, str]:
    """(module, qualified name) of the function that runs in a frame."""
    return str(frame.f_globals.get("__name__")), frame.f_code.co_qualname


def _made(condition: object, thing: object) -> str:
    """Where a thing that waits on this condition was made: there it made the lock of the condition, too.

    A condition may also have got its lock from outside; then that is known, and not where the condition was made.
    """
    lock = attribute(condition, CONDITION_LOCK)
    if not is_a(lock, (Lock, RLock)) or lock._made is None:
        return ""
    if thing is not condition or lock._made[2] == "Condition.__init__":
        return made_at(lock._made)
    return f" with the {'RLock' if is_a(lock, RLock) else 'Lock'}{made_at(lock._made)}"
