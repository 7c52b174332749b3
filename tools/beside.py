"""Threads of work that start commands, and end together with them."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

from replay_dd.experiment.process_tree import children_of

ONCE_MORE_S = 0.5


@contextmanager
def beside_each_other(*numbers: int) -> Iterator[list[ThreadPoolExecutor]]:
    """Groups of so many threads each, which end with the block, and the commands that they have started with them."""
    groups = [ThreadPoolExecutor(number) for number in numbers]
    try:
        yield groups
    except BaseException:
        for group in groups:
            group.shutdown(wait=False, cancel_futures=True)
        waiting = threading.Thread(target=wait_for, args=(groups,))
        waiting.start()
        while waiting.is_alive():  # a thread may start another command after the one that was ended
            end_children()
            waiting.join(ONCE_MORE_S)
        raise
    finally:
        wait_for(groups)


def wait_for(groups: list[ThreadPoolExecutor]) -> None:
    for group in groups:
        group.shutdown()


def end_children() -> None:
    for child in children_of(os.getpid()):
        with suppress(ProcessLookupError):
            # Tests have a process group of their own, of all that they have started.
            end = os.killpg if os.getpgid(child) == child else os.kill
            end(child, signal.SIGTERM)
