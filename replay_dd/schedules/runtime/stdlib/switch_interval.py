"""``sys.setswitchinterval``: the interpreter must not switch threads by itself."""

from __future__ import annotations

import sys

from ..compat import HAS_MONITORING

# Without `sys.monitoring`, a thread that begins a function is traced, and begins it anew as long as a signal waits for
# the main thread (`DO_TRACING` of ceval.c in 3.11). So that one has to get the GIL. What any other thread does with it
# then, it also does at each system call of the running one.
_LONGEST_S = 100_000.0 if HAS_MONITORING else 0.2


def fix_switch_interval() -> None:
    """Let no thread ask for the GIL in between, or only after a long wait; programs read back what they set."""
    shown = sys.getswitchinterval()
    sys.setswitchinterval(_LONGEST_S)

    def setswitchinterval(interval: float, /) -> None:
        nonlocal shown
        if interval <= 0:
            raise ValueError("switch interval must be strictly positive")
        shown = float(interval)

    def getswitchinterval() -> float:
        return shown

    sys.setswitchinterval = setswitchinterval
    sys.getswitchinterval = getswitchinterval
