"""The frames of the program, without those of the runtime."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

RUNTIME = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


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
