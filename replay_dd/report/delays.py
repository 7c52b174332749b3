"""What to try where sleeps and time-outs kept their order in all runs."""

from __future__ import annotations

import math


def delay_hint(asleep_s: float, max_delay_s: float) -> str:
    """What ``--max-delay`` would change.

    Args:
        asleep_s: how late a thread would have been, at least, in seconds, if one had ended early that could not.
        max_delay_s: how late a thread could be, in seconds.
    """
    enough = math.ceil(asleep_s * 10) / 10
    return (
        f"a sleep or time-out only ended when no other thread could run, as it would have made one more than "
        f"{max_delay_s:g} s late. If threads may be later than that, try `--max-delay {enough:g}`."
    )
