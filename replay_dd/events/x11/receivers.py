"""Which windows are in which, as clients told the server when they made them.

Rules of this module:

* What an event was given to may be gone when one asks the server about it; so nothing is asked.
* What is known of windows that are gone is kept: events that were for them may still be looked at. A number that is
  used again belongs to the new window.
* Windows that were there before are unknown.
"""

from __future__ import annotations

import struct

CREATE_WINDOW, REPARENT_WINDOW = 1, 7
# Opcode, length in words, window, parent: both requests begin alike (X11 protocol, encoding of the requests).
_REQUEST = struct.Struct("=BxHII")
_DEEPEST = 50


class FamilyTree:
    """The parents of windows."""

    def __init__(self) -> None:
        self._parents: dict[int, int] = {}

    def learn(self, requests: bytes) -> None:
        """Learn from recorded requests, whatever they are."""
        while len(requests) >= _REQUEST.size:
            opcode, words, window, parent = _REQUEST.unpack_from(requests)
            if opcode in (CREATE_WINDOW, REPARENT_WINDOW):
                self._parents[window] = parent
            requests = requests[max(4 * words, _REQUEST.size) :]

    def of(self, window: int) -> tuple[int, ...]:
        """A window and those that it is in, from itself on, as far as they are known."""
        family = [window]
        while len(family) < _DEEPEST and family[-1] in self._parents:
            family.append(self._parents[family[-1]])
        return tuple(family)
