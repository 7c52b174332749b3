"""``sys.setswitchinterval``: the interpreter must not switch threads by itself."""

from __future__ import annotations

import sys

_FOR_EVER_S = 100_000.0


def fix_switch_interval() -> None:
    """Let no thread ask for the GIL in between; programs that set the interval read back what they set."""
    shown = sys.getswitchinterval()
    sys.setswitchinterval(_FOR_EVER_S)

    def setswitchinterval(interval: float, /) -> None:
        nonlocal shown
        if interval <= 0:
            raise ValueError("switch interval must be strictly positive")
        shown = float(interval)

    def getswitchinterval() -> float:
        return shown

    sys.setswitchinterval = setswitchinterval
    sys.getswitchinterval = getswitchinterval
