"""What threads do with the objects of the standard library that they wait at, by the function that does it.

Rules of this module:

* The object is the ``self`` of the outermost of these functions between the program's code and a lock: a queue, not
  the condition inside of it.
"""

from __future__ import annotations

from ..observing import local_value
from ..points.frames import program_frame
from ..points.places import COUNTED

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from types import FrameType

    from ..points.places import Places

WAITS, TAKES, GIVES_UP = "waits", "takes", "gives up"
_DOES = {
    ("threading", "Condition.wait"): "waits for",
    ("threading", "Condition.wait_for"): "waits for",
    ("threading", "Condition.notify"): "notifies",
    ("threading", "Condition.notify_all"): "notifies all of",
    ("threading", "Event.set"): "sets",
    ("threading", "Event.clear"): "clears",
    ("threading", "Event.wait"): "waits for",
    ("threading", "Semaphore.acquire"): "acquires",
    ("threading", "Semaphore.release"): "releases",
    ("threading", "BoundedSemaphore.release"): "releases",
    ("threading", "Barrier.wait"): "arrives at",
    ("threading", "Barrier.reset"): "resets",
    ("threading", "Barrier.abort"): "breaks",
    ("queue", "Queue.get"): "gets from",
    ("queue", "Queue.put"): "puts into",
    ("queue", "Queue.get_nowait"): "gets from",
    ("queue", "Queue.put_nowait"): "puts into",
    ("queue", "Queue.task_done"): "is done with an item of",
    ("queue", "Queue.join"): "waits for all items of",
    ("concurrent.futures._base", "Future.result"): "waits for",
    ("concurrent.futures._base", "Future.exception"): "waits for",
    ("concurrent.futures._base", "Future.set_result"): "sets the result of",
    ("concurrent.futures._base", "Future.set_exception"): "sets an exception in",
    ("concurrent.futures._base", "Future.cancel"): "cancels",
    ("multiprocessing.pool", "ApplyResult.wait"): "waits for",
}
_OF_SEVERAL = {  # functions that wait for several futures, and the variable with those that are not done
    ("concurrent.futures._base", "as_completed"): "pending",
    ("concurrent.futures._base", "wait"): "not_done",
}
_MODULES = {module for module, _ in _DOES}
_STARTS = ("Thread.start", "Thread._bootstrap_inner", "Thread._bootstrap")
_NOTIFIES = ("Condition.notify", "Condition.notify_all")


def function_of(frame: FrameType) -> tuple[str, str]:
    """(module, qualified name) of the function that runs in a frame."""
    return str(frame.f_globals.get("__name__")), frame.f_code.co_qualname


def library_call(frame: FrameType | None, places: Places) -> tuple[str, FrameType] | None:
    """What the library does for the program in this frame: the words for it, and the outermost frame that is told."""
    found = None
    frame = program_frame(frame)
    while frame is not None and places.kind(frame.f_code.co_filename) != COUNTED:
        function = function_of(frame)
        if function in _DOES:
            found = (_DOES[function], frame)
        elif found is not None and function[0] not in _MODULES:
            break  # one part of the library uses another one
        frame = frame.f_back
    return found


def futures_waited_for(frame: FrameType | None, places: Places) -> list[object]:
    """The futures that the library waits for in this frame, of which none is done; none if it waits for one alone."""
    frame = program_frame(frame)
    while frame is not None and places.kind(frame.f_code.co_filename) != COUNTED:
        variable = _OF_SEVERAL.get(function_of(frame))
        if variable is not None:
            futures = local_value(frame, variable)
            return list(futures) if type(futures) is set else []
        frame = frame.f_back
    return []


def starts_thread(frame: FrameType | None) -> bool:
    """Whether the library starts a thread here, or a new one tells that it is up."""
    frame = program_frame(frame)
    while frame is not None and function_of(frame)[0] == "threading":
        if frame.f_code.co_qualname in _STARTS:
            return True
        frame = frame.f_back
    return False


def import_lock(frame: FrameType | None) -> object:
    """The lock of a module that is being imported, if a thread waits for that; None if it waits for something else."""
    frame = program_frame(frame)
    while frame is not None and function_of(frame)[0] == "importlib._bootstrap":
        if frame.f_code.co_qualname == "_ModuleLock.acquire":
            return local_value(frame, "self")
        frame = frame.f_back
    return None


def is_notification(frame: FrameType) -> bool:
    """Whether the program itself calls ``notify``, and not an event or a queue for it."""
    return frame.f_code.co_qualname in _NOTIFIES
