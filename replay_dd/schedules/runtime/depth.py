"""Room on the stack: the runtime's own calls count for the program's recursion limit.

They must not end half-way, with the baton neither kept nor given. So the runtime makes sure, before it changes
anything, that it can go as deep as it may need to.
"""

from __future__ import annotations

# How deep the runtime's own calls go, with some to spare: those of strategies, of waiting, of the log.
ROOM_FRAMES = 16


def need_room(frames: int = ROOM_FRAMES) -> None:
    """Go so many calls deep, and come back.

    Raises:
        RecursionError: the program stands right before its recursion limit.
    """
    if frames:
        need_room(frames - 1)
