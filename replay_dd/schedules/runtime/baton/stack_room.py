"""Room on the stack: the runtime's own calls count for the program's recursion limit.

They must not end half-way, with the baton neither kept nor given. So the runtime makes sure, before it changes
anything, that it can go as deep as it may need to.
"""

from __future__ import annotations

from ..accelerator import accelerator

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any


def _need_room(frames: int) -> None:
    """Go so many calls deep, and come back.

    Raises:
        RecursionError: the program stands right before its recursion limit.
    """
    if frames > 1:
        _need_room(frames - 1)


# The accelerator asks the interpreter how many calls are left.
need_room: Any = _need_room if accelerator is None else accelerator.need_room
