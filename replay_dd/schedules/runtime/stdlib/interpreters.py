"""Other interpreters in this process: what runs there is not under control, and the log says so.

A thread of the program that executes code in another interpreter does so in one step, with the baton. Threads that are
started there are nobody's: no events of theirs are seen, and their locks are real.
"""

from __future__ import annotations

from ..channel import NOTE
from .replacing import hide_frames_of

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

    from ..baton.scheduler import Scheduler

MODULES = ("_interpreters", "_xxsubinterpreters")  # since 3.13, and before


def adapt_interpreters(scheduler: Scheduler, module: Any) -> None:
    """Note that the program makes interpreters, once it does."""
    real = getattr(module, "create", None)
    if real is None:
        return
    told = False

    def create(*arguments: Any, **named: Any) -> Any:
        nonlocal told
        if not told and not scheduler.over:
            told = True
            scheduler.send(NOTE, "interpreters", "code ran in other interpreters, where replay-dd switches no threads")
        return real(*arguments, **named)

    hide_frames_of(create)
    module.create = create
