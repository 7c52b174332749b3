"""Writes where all threads are when the tool asks: at the time limit, just before it kills the process.

The interpreter's ``faulthandler`` writes the stacks in C, whoever has the GIL and whatever a library does with it.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # without the classes that `signal` adds
import os

SIGNAL = _signal.SIGRTMAX - 2  # not one that programs are known to use
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
    except OSError:
        high = descriptor
    faulthandler.register(SIGNAL, high, all_threads=True)
    return high
