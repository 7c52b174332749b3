"""The frames of the program, without those of the runtime."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType

RUNTIME = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep

# How the interpreter comes from any instruction to code that nobody calls: for functions of the runtime that stand
# there, the frame that a stack has in their place.
_SIGNAL_HANDLER = ("signal.py", "signal.py", 1, "<signal handler>", False)
_GARBAGE_COLLECTION = ("gc.py", "gc.py", 1, "<garbage collection>", False)
_INTERRUPTING = {
    "Signals._call": _SIGNAL_HANDLER,
    "collect": _GARBAGE_COLLECTION,
    "collect_all": _GARBAGE_COLLECTION,
}


def interruption(code: CodeType) -> tuple[str, str, int, str, bool] | None:
    """The frame in the place of this one: short file, file, line, function, counted; None if it is no such function."""
    return _INTERRUPTING.get(code.co_qualname) if code.co_filename.startswith(RUNTIME) else None


def program_frame(frame: FrameType | None) -> FrameType | None:
    """The innermost frame that is not the runtime's own."""
    while frame is not None and frame.f_code.co_filename.startswith(RUNTIME):
        frame = frame.f_back
    return frame


def current_frames_replacement() -> Callable[[], dict[int, FrameType]]:
    """``sys._current_frames`` without the runtime's own frames, in which each waiting thread stands."""
    real = sys._current_frames

    def _current_frames() -> dict[int, FrameType]:
        return {ident: program_frame(innermost) or innermost for ident, innermost in real().items()}

    return _current_frames
