"""Semaphores and shared memory of ``multiprocessing``, which the system knows by name and keeps after a process ends.

Rules of this module:

* Each run uses unique names: what another run left behind must not be in the way.
* Python's resource tracker, another process, removes what the program leaves behind. If a run is killed, the tracker
  dies with it. So everything the program tells its tracker is also written to the run's folder, in the tracker's
  format; whoever removes the folder removes what is left (:mod:`replay_dd.experiment.guard_process`).
* The tracker outlives the program. What it says of things left behind would be part of the output of one run, and come
  too late for that of another, and it names them as no other run does. So it says nothing.
"""

from __future__ import annotations

import os
import sys

from ..channel import real_write
from .entropy import real_urandom

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..baton.scheduler import Scheduler


_SILENT = "ignore::UserWarning:multiprocessing.resource_tracker"


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
        class_ = module.ResourceTracker
        real_send, real_ensure_running = class_._send, class_.ensure_running

        def send(tracker: Any, command: str, name: str, kind: str) -> None:
            _keep(f"{command}:{name}:{kind}\n", scheduler, path)
            _silently(lambda: real_send(tracker, command, name, kind))

        class_._send = send
        class_.ensure_running = lambda tracker: _silently(lambda: real_ensure_running(tracker))
        module.ensure_running = module._resource_tracker.ensure_running


def _silently(start: Callable[[], object]) -> None:
    """Do what may start the tracker, so that it says nothing: it has the options of this process."""
    sys.warnoptions.append(_SILENT)
    try:
        start()
    finally:
        sys.warnoptions.remove(_SILENT)


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
        pass  # the disk is full: something may stay behind
    finally:
        thread.atomic -= 1


class _RandomNames:
    def __iter__(self) -> _RandomNames:
        return self

    def __next__(self) -> str:
        return real_urandom(8).hex()
