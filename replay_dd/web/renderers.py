"""The browser's processes that run pages, and how to end one that answers no more.

Most calls to a page have no time-out, and a script that never ends keeps them from being answered. Killing the process
ends the call, and the browser goes on.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Collection, Iterator
from pathlib import Path

from replay_dd.experiment.process_tree import children_of


class RendererKiller:
    """Ends calls that are never answered, by killing the processes of pages.

    Args:
        roots: the processes that are above them.

    Attributes:
        killed: whether it had to.
    """

    def __init__(self, roots: Collection[int]) -> None:
        self._roots = roots
        self.killed = False

    @contextlib.contextmanager
    def after(self, seconds: float) -> Iterator[None]:
        """Kill if the block takes longer than this."""
        timer = threading.Timer(seconds, self._kill)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _kill(self) -> None:
        self.killed = True
        for process in _below(self._roots):
            with contextlib.suppress(OSError):
                if b"--type=renderer" in Path("/proc", str(process), "cmdline").read_bytes():
                    os.kill(process, signal.SIGKILL)


def _below(roots: Collection[int]) -> Iterator[int]:
    for root in roots:
        children = children_of(root)
        yield from children
        yield from _below(children)
