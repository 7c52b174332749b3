"""How copies of this process are made, and how each gets the memory that it will write to.

Rules of this module:

* The fork is the bare system call. The handlers that ``os.fork`` runs would reseed generators and notify the program of
  a fork that is not its own; with a single thread there is nothing for them to repair.
* A copy shares all memory with this process. Each page that it writes to is copied then, which interrupts it: some 600
  times for the smallest program. As copies write to much the same pages, one of the first tells at its end which these
  were, and the system copies them for each later one in a few calls. That is a matter of speed alone.
"""

from __future__ import annotations

import os

from ..accelerator import accelerator
from ..channel import WRITTEN, records_in

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable

# Taken before the program, or the runtime, puts others in their place.
_hard_exit, _pread, _size_of = os._exit, os.pread, os.fstat

# Which copies are asked, until one has told: few programs are run once only, and some runs do not come to their end.
_ASKED = range(2, 5)
_MOST_BYTES = 1 << 20  # of what a run tells: to look through more takes longer than it saves

_is_asked = False  # whether this process is such a copy, or has just made one


class Copies:
    """Copies of this process, one after another."""

    def __init__(self) -> None:
        self._made = 0
        self._pages = b""

    def make(self) -> int:
        """Fork; returns the number of the copy, and 0 in the copy."""
        global _is_asked
        self._made += 1
        _is_asked = not self._pages and self._made in _ASKED
        return bare_fork(self._pages)

    def learn(self, descriptor: int) -> None:
        """Remember what the copy that has ended told, if it was asked.

        Args:
            descriptor: the file in which it told.
        """
        if _is_asked:
            try:
                bytes_told = _size_of(descriptor).st_size
                told = _pread(descriptor, bytes_told, 0) if bytes_told <= _MOST_BYTES else b""
            except OSError:
                return  # not to be read
            self._pages = next((record[1] for record in records_in(told) if record[0] == WRITTEN), b"")  # type: ignore[assignment]


def tell_pages(send: Callable[..., None]) -> None:
    """Called by a copy at its end: tell the next ones what it has written to, if it is asked."""
    if _is_asked and accelerator is not None:
        send(WRITTEN, accelerator.written_pages())


def bare_fork(pages: bytes = b"") -> int:
    """Fork without the handlers of ``os.fork``.

    Args:
        pages: what the copy will write to.
    """
    if accelerator is not None:
        pid: int = accelerator.fork(pages)
    else:
        import ctypes

        pid = ctypes.PyDLL(None).fork()
    if pid < 0:
        _hard_exit(1)
    return pid
