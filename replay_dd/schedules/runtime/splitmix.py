"""Random numbers that a seed determines."""

from __future__ import annotations

from .constants import SPLITMIX_FIRST, SPLITMIX_SECOND, SPLITMIX_STEP


class Generator:
    """A small random number generator (SplitMix64: Steele, Lea and Flood, OOPSLA 2014)."""

    def __init__(self, seed: int) -> None:
        self._state = seed & 0xFFFFFFFFFFFFFFFF

    def next(self) -> int:
        """A number of 64 bits."""
        self._state = (self._state + SPLITMIX_STEP) & 0xFFFFFFFFFFFFFFFF
        value = self._state
        value = ((value ^ (value >> 30)) * SPLITMIX_FIRST) & 0xFFFFFFFFFFFFFFFF
        value = ((value ^ (value >> 27)) * SPLITMIX_SECOND) & 0xFFFFFFFFFFFFFFFF
        return value ^ (value >> 31)

    def below(self, limit: int) -> int:
        """A number from 0 to ``limit`` - 1."""
        return self.next() % limit
