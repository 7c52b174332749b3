"""What to try where sleeps and time-outs kept their order in all runs."""

from __future__ import annotations

import math


def delay_hint(asleep_s: float, max_delay_s: float) -> str:
    """What ``--max-delay`` would change.

    Args:
        asleep_s: how much was left, in virtual seconds, of the shortest sleep or time-out too long to end early.
        max_delay_s: how much could be left, in seconds, of one that ended early.
    """
    enough = math.ceil(asleep_s * 10) / 10
    return (
        f"a sleep or time-out with more than {max_delay_s:g} s left only ended when no other thread could run. If "
        f"threads may be later than that, try `--max-delay {enough:g}`, which lets the shortest of those end early."
    )
