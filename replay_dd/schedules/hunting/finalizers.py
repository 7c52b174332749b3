"""Whether a program has finalizers, and the runs of a hunt that collect garbage, which calls them.

Rules of this module:

* Finalizers are the methods ``__del__`` and the callbacks of weak references. The sources tell whether there may be
  any: a hunt of a program without them makes no such runs. Those of installed packages do not count: many have weak
  references, and such runs are lost to other failures.
* A collection is a choice of the schedule: see :class:`~replay_dd.schedules.model.Trigger`.
"""

from __future__ import annotations

import os

from replay_dd.schedules.model import Program
from replay_dd.schedules.observed.observation import is_installed
from replay_dd.schedules.running.target import Plan

COLLECT = "collect"  # see `runtime/strategies/collecting.py`
_MOST = 100  # runs of a hunt
_EVERY = 3  # plans
_SIGNS = (b"def __del__(", b"weakref")


def has_finalizers(program: Program) -> bool:
    """Whether sources of the program's own that a run counted speak of finalizers or of weak references.

    Args:
        program: as the log of that run describes it.
    """
    for short in program.files:
        path = program.paths.get(short, os.path.join(program.directory, short))
        if is_installed(path):
            continue
        try:
            with open(path, "rb") as file:
                text = file.read()
        except OSError:
            continue
        if any(sign in text for sign in _SIGNS):
            return True
    return False


def collecting_plans(number: int) -> int:
    """How many of the first plans of a hunt collect garbage, if any do: every third one, the first among them.

    Args:
        number: of how many plans.
    """
    return min(_MOST, -(-number // _EVERY))


def collecting(turn: int, seed: int) -> Plan:
    """The default schedule with garbage collections.

    Args:
        turn: which of these plans, from 0; it decides what kind of places are drawn.
        seed: of what is drawn.
    """
    return Plan("profile", {COLLECT: turn, "seed": seed + turn}, label=f"garbage collections (seed {seed + turn})")
