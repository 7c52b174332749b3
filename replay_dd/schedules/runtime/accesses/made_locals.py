"""Thread-local objects whose class has an ``__init__``: which of them the present thread has made values of.

To ask such an object for what a thread has runs that ``__init__`` where the thread has nothing yet. So it is asked only
where it has been seen to run: from then on, nothing runs any more.
"""

from __future__ import annotations

from _thread import _local
from _weakref import ref

from ..observing import local_value

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

_MOST_FRAMES = 20  # from what sets an attribute to the `__init__` that it works for
_mine = _local()  # a thread may have the number of one that has ended


def has_made(thing: object) -> bool:
    """Whether the present thread is known to have values of a thread-local object."""
    known = _of_thread().get(id(thing))
    return known is not None and known() is thing


def note_if_made(thing: object, frame: FrameType | None) -> None:
    """Note that the present thread has values of a thread-local object if its ``__init__`` is running.

    Args:
        thing: the thread-local object.
        frame: where the thread is.
    """
    for _ in range(_MOST_FRAMES):
        if frame is None:
            return
        code = frame.f_code
        if code.co_name == "__init__" and code.co_argcount and local_value(frame, code.co_varnames[0]) is thing:
            _of_thread()[id(thing)] = ref(thing)
            return
        frame = frame.f_back


def _of_thread() -> dict[int, Any]:
    try:
        made: dict[int, Any] = _mine.made
    except AttributeError:
        made = _mine.made = {}
    return made
