"""Writes where all threads are when the tool asks: at the time limit, just before it kills the process.

The interpreter's ``faulthandler`` writes the stacks in C, whoever has the GIL and whatever a library does with it. That
something stands in their file is also how the runtime notices that it is asked, where it comes by; it then adds that it
has told what it knows.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # without the classes that `signal` adds
import os

SIGNAL = _signal.SIGRTMAX - 2  # not one that programs are known to use
ASKED = b"# asked\n"  # the tool wants to know
TOLD = b"# told\n"  # the runtime has told what it knows
TRACED = b"# traced\n"  # and what ran since
_real_write, _real_fstat = os.write, os.fstat  # before the runtime puts its own in place
_written: list[int] = []  # the descriptor
_HIGH_DESCRIPTOR = 251  # beside that of the channel


def write_when_asked(path: str) -> int:
    """Write the stacks of all threads to this file whenever the signal comes.

    Returns:
        The descriptor of the file.
    """
    import faulthandler

    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        high = os.dup2(descriptor, _HIGH_DESCRIPTOR, inheritable=False)
        os.close(descriptor)
    except OSError:  # fewer are allowed here
        high = descriptor
        if _written:
            os.dup2(high, _written[0], inheritable=False)
            os.close(high)
            high = _written[0]
    faulthandler.register(SIGNAL, high, all_threads=True)
    _written[:] = [high]
    return high


def is_asked() -> bool:
    """Whether the tool has asked."""
    try:
        return bool(_written) and _real_fstat(_written[0]).st_size > 0
    except OSError:  # the program has closed it
        return False


def answer(text: bytes) -> None:
    """Write one of the words above."""
    try:
        _real_write(_written[0], text)
    except OSError:
        _written.clear()
