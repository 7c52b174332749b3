"""``os.fork``, called by the program: only the first process stays under control."""

from __future__ import annotations

import os

from ..baton.thread_life import start_anew
from ..channel import FORKED, NOTE
from ..stdlib.entropy import go_on_in_child

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..baton.scheduler import Scheduler
    from ..channel import Channel
    from ..io.descriptors import Descriptors
    from ..stdlib.threads import ThreadStarter
    from .run_end import RunEnd


class ProgramFork:
    """Handles forks by the program.

    Args:
        channel: to the tool.
        run_end: knows which process the run is.
        scheduler: who hands the baton around.
        end_counting: ends the counting of yield points.
        descriptors: whose other ends may be in the child from then on.
        starter: knows the threads, which the child does not have.
    """

    def __init__(
        self,
        channel: Channel,
        run_end: RunEnd,
        scheduler: Scheduler,
        end_counting: Callable[[], None],
        descriptors: Descriptors,
        starter: ThreadStarter,
    ) -> None:
        self._channel = channel
        self._run_end = run_end
        self._scheduler = scheduler
        self._end_counting = end_counting
        self._descriptors = descriptors
        self._starter = starter
        self._was_busy = False
        self._forks = 0

    def watch(self) -> None:
        """Register the handlers."""
        os.register_at_fork(before=self._before, after_in_child=self._in_child, after_in_parent=self._in_parent)

    def _before(self) -> None:
        """Other handlers of forks must not switch, as the child has one thread only."""
        self._was_busy = self._scheduler.busy
        self._scheduler.busy = True
        self._forks += 1

    def _in_child(self) -> None:
        """The child continues under the default schedule, on its own, and reports nothing."""
        self._scheduler.busy = self._was_busy
        go_on_in_child(self._forks)
        start_anew(self._scheduler)
        self._starter.forked_child()
        self._scheduler.moments.forget()
        self._descriptors.share_with_children()
        self._descriptors.forked = True
        self._end_counting()

    def _in_parent(self) -> None:
        self._scheduler.busy = self._was_busy
        self._descriptors.share_with_children()
        self._descriptors.forked = True
        if self._run_end.is_own_process():
            self._channel.send(NOTE, "fork", FORKED)
