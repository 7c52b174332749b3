"""The program's signals while its process waits to be copied, or for a copy to end: they are held back.

Rules of this module:

* A server is not the program any more. A handler of the program that ran in it would let the program go on there, or
  take from it how a copy ended; a program that ignores the end of its children would have the system forget that.
* Copies begin with what the program had set. Signals that came to the server meanwhile are not for them.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # without the classes that `signal` adds

# Taken before the runtime puts its own in place.
_pthread_sigmask, _signal_now, _getsignal = _signal.pthread_sigmask, _signal.signal, _signal.getsignal


class HeldSignals:
    """Holds back all signals of this process, from when it is made."""

    def __init__(self) -> None:
        self._mask = _pthread_sigmask(_signal.SIG_BLOCK, _signal.valid_signals())
        self._ignores_children = _getsignal(_signal.SIGCHLD) == _signal.SIG_IGN
        if self._ignores_children:
            _signal_now(_signal.SIGCHLD, _signal.SIG_DFL)

    def release(self) -> None:
        """In a copy: handle signals as the program does."""
        if self._ignores_children:
            _signal_now(_signal.SIGCHLD, _signal.SIG_IGN)
        _pthread_sigmask(_signal.SIG_SETMASK, self._mask)
