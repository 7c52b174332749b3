"""Signals that end a command. The first Ctrl-C ends what it does, and the second one must not cost what was found.

Rules of this module:

* The first Ctrl-C is an exception, as usual. Whoever can catches it, and the command ends with its best result so far:
  it waits for processes that are ending, writes files and prints. All of that is short.
* The second one comes into that, where an exception would lose the result. So it only says what is going on.
* The third one is an exception again: whatever the command waits for, it can be left.
* Where a signal comes while a finalizer or the callback of a weak reference runs, Python drops its exception. Then the
  signal is sent once more, for SIGTERM comes only once. It waits until Python has left the hook that is told of that,
  in which the exception would be dropped again, and for good.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from types import FrameType
from typing import Any

_LEAVES_S = 0.05
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


class DroppedSignals:
    """Sends signals again whose exceptions Python has dropped.

    Args:
        interrupts: handles Ctrl-C.
    """

    def __init__(self, interrupts: Interrupts) -> None:
        self._interrupts = interrupts
        self._before = sys.unraisablehook

    def take_over(self) -> None:
        """Hear from now on of exceptions that are dropped."""
        sys.unraisablehook = self

    def __call__(self, dropped: Any) -> None:
        """Python has dropped an exception."""
        number = _signal_of(dropped.exc_value)
        if number is None:
            self._before(dropped)
            return
        if number == signal.SIGINT:
            self._interrupts.count -= 1
        arguments = number, threading.get_ident()
        threading.Thread(target=_send, args=arguments, name="replay-dd-signal", daemon=True).start()


def _signal_of(error: BaseException | None) -> int | None:
    """The signal whose handler has raised this."""
    if isinstance(error, KeyboardInterrupt):
        return signal.SIGINT
    ends = {128 + number: number for number in (signal.SIGTERM, signal.SIGHUP)}
    return ends.get(error.code) if isinstance(error, SystemExit) and isinstance(error.code, int) else None


def _send(number: int, thread: int) -> None:
    time.sleep(_LEAVES_S)
    while _is_in_hook(thread):
        time.sleep(_LEAVES_S)
    os.kill(os.getpid(), number)


def _is_in_hook(thread: int) -> bool:
    frame = sys._current_frames().get(thread)
    while frame is not None and frame.f_code is not DroppedSignals.__call__.__code__:
        frame = frame.f_back
    return frame is not None
