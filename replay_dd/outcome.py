"""The three outcomes that a test can have (POSIX 1003.3; Zeller's tick, cross and question mark)."""

from __future__ import annotations

import enum


class Outcome(enum.Enum):
    """The result of testing one configuration.

    ``PASS`` and ``FAIL`` are *resolved*: the run behaved as the passing or as the failing run did.
    ``UNRESOLVED`` is everything else: a different failure, a time-out, a configuration that cannot be run.
    """

    PASS = "PASS"
    FAIL = "FAIL"
    UNRESOLVED = "UNRESOLVED"

    @property
    def resolved(self) -> bool:
        """Whether the test decided between passing and failing."""
        return self is not Outcome.UNRESOLVED

    @property
    def symbol(self) -> str:
        """One character for tables: ``+`` (PASS), ``-`` (FAIL), ``?`` (UNRESOLVED)."""
        return _SYMBOLS[self]


_SYMBOLS = {Outcome.PASS: "+", Outcome.FAIL: "-", Outcome.UNRESOLVED: "?"}
