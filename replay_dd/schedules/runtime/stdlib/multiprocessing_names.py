"""Semaphores and shared memory of ``multiprocessing``: the system knows them by name, and keeps them after a process.

Rules of this module:

* Each run gives them names of its own: what another run has left behind must not be in the way.
* A process of Python's own, the resource tracker, removes what the program has left behind. It goes with the program
  where a run is killed. So the folder of the run gets all that the program tells its tracker, in the tracker's own
  words; whoever removes the folder removes what is left (:mod:`replay_dd.experiment.guard_process`).
"""

from __future__ import annotations

import os

from ..channel import real_write
from .entropy import real_urandom

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

    from ..baton.scheduler import Scheduler


def adapt(module: Any, scheduler: Scheduler, path: str) -> None:
    """Adapt the module of ``multiprocessing`` that has just been imported.

    Args:
        module: ``synchronize``, ``shared_memory``, or ``resource_tracker``.
        scheduler: whose threads make the names.
        path: the file that keeps what the tracker is told.
    """
    if module.__name__ == "multiprocessing.synchronize":
        module.SemLock._rand = _RandomNames()
    elif module.__name__ == "multiprocessing.shared_memory":
        names, length = _RandomNames(), module._SHM_SAFE_NAME_LENGTH
        module._make_filename = lambda: f"{module._SHM_NAME_PREFIX}{next(names)}"[:length]
    else:
        real_send = module.ResourceTracker._send

        def send(tracker: Any, command: str, name: str, kind: str) -> None:
            _keep(f"{command}:{name}:{kind}\n", scheduler, path)
            real_send(tracker, command, name, kind)

        module.ResourceTracker._send = send


def _keep(line: str, scheduler: Scheduler, path: str) -> None:
    thread = scheduler.present()
    thread.atomic += 1
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            real_write(descriptor, line.encode())
        finally:
            os.close(descriptor)
    except OSError:
        pass  # the disk is full: then something may stay behind
    finally:
        thread.atomic -= 1


class _RandomNames:
    def __iter__(self) -> _RandomNames:
        return self

    def __next__(self) -> str:
        return real_urandom(8).hex()
