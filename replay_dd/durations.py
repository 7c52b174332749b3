"""Lengths of time as people write them, on the command line and in the options of pytest."""

from __future__ import annotations

import re

_UNITS_S = {"": 1, "ms": 0.001, "s": 1, "m": 60, "h": 3600}
_FORM = re.compile(r"(-?\d*\.?\d+)(ms|[smh]?)")


def seconds_of(text: str) -> float:
    """The seconds that ``90``, ``10ms``, ``60s``, ``1.5m`` or ``2h`` stand for.

    Raises:
        ValueError: it is no number, with or without one of these units.
    """
    found = _FORM.fullmatch(text)
    if found is None:
        raise ValueError(f"`{text}` is not a length of time")
    return float(found[1]) * _UNITS_S[found[2]]
