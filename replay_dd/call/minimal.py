"""Whether the arguments of a failing call are minimal."""

from __future__ import annotations

from typing import Any

from replay_dd.call.debugger import DeltaDebugger
from replay_dd.call.spaces import Level, levels_below
from replay_dd.dd import IntervalSet
from replay_dd.outcome import Outcome


def smaller_failure(collected: DeltaDebugger) -> dict[str, Any] | None:
    """The arguments without one of their parts, if the call still fails in the same way; None if it never does."""
    collected.check_reproducibility()
    arguments, names = collected.args(), collected.reducible
    for level in (Level(arguments, 0, names), *levels_below(lambda: arguments, names)):
        for part in level.all:
            smaller = level.build(level.all - IntervalSet.range(part, part + 1))
            if collected.test(smaller) is Outcome.FAIL:
                return smaller
    return None
