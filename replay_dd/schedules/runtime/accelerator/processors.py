"""One processor for all threads of a run; see processors.c, without which nothing happens.

Only the thread with the baton runs. Woken on another processor, it would find none of its memory in the caches there,
and a forked copy would take each page that it copies out of the tables of several processors.
"""

from __future__ import annotations

from . import accelerator

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable


def _nothing() -> None:
    pass


# The calling thread stays where it is, as it is about to start another thread or process, which begins there.
stay: Callable[[], None] = _nothing if accelerator is None else accelerator.stay_on_processor
# It may go wherever it could before. In that other process, too.
roam: Callable[[], None] = _nothing if accelerator is None else accelerator.use_any_processor
# A thread begins whose starter stays: it may go wherever that one could, once it has the baton.
begin: Callable[[], None] = _nothing if accelerator is None else accelerator.begin_on_processor
