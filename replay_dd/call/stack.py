"""How deep calls may go, wherever they are made from."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from types import FrameType


def stack_depth() -> int:
    """How many frames the caller's thread has, the caller's own included."""
    depth = 0
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    return depth


@contextlib.contextmanager
def recursion_room(frames: int) -> Iterator[None]:
    """Let what is called in the block go so many frames deeper than the function that has the block.

    Args:
        frames: how many; at least what the interpreter needs to enter the block at all.
    """
    before = sys.getrecursionlimit()
    # This frame and those of ``contextlib`` are gone, or as many each time, when the block runs.
    ours = stack_depth() + frames
    try:
        sys.setrecursionlimit(ours)
    except (RecursionError, ValueError):  # too little of it is left: then nothing is changed
        ours = before
    try:
        yield
    finally:
        if sys.getrecursionlimit() == ours:  # otherwise the call has set its own, which stays
            sys.setrecursionlimit(before)
