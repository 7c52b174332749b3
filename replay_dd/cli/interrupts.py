"""Ctrl-C: the first one ends what the command does, and the second one must not cost what was found.

Rules of this module:

* The first Ctrl-C is an exception, as usual. Whoever can catches it, and the command ends with its best result so far:
  it waits for processes that are ending, writes files and prints. All of that is short.
* The second one comes into that, where an exception would lose the result. So it only says what is going on.
* The third one is an exception again: whatever the command waits for, it can be left.
"""

from __future__ import annotations

import contextlib
import os
import signal
from types import FrameType

_SECOND = b"replay-dd: ending with what was found; Ctrl-C once more leaves without it\n"


class Interrupts:
    """Handles Ctrl-C.

    Attributes:
        count: how often it came.
    """

    def __init__(self) -> None:
        self.count = 0

    def take_over(self) -> None:
        """Handle it from now on, unless it is ignored, as shells have it in commands in the background."""
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self)

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Ctrl-C came.

        Raises:
            KeyboardInterrupt: it ends something.
        """
        self.count += 1
        if self.count == 2:
            with contextlib.suppress(OSError):  # it is closed
                os.write(2, _SECOND)  # the stream itself may be in the middle of a line
            return
        raise KeyboardInterrupt
