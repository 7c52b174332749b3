"""Imports under the scheduler.

An import is atomic: it has no yield points inside, because a thread preempted in an import would hold module locks. It
may still have to wait (for a module that another thread imports, or for a thread that the module starts).
Modules that need to be patched are patched as soon as the program has imported them, never before.
"""

from __future__ import annotations

import sys

from ..compat import is_being_imported
from ..observing import attributes_of
from .locks import RLock
from .replacing import hide_frames_of

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..baton.scheduler import Scheduler


_SPEC: Any = type(__spec__)


def make_imports_atomic(scheduler: Scheduler, after_import: dict[str, Callable[[Any], object]]) -> None:
    """Wrap the import system's only entry point for modules that are not loaded yet.

    Args:
        scheduler: whose running thread gets no yield points inside an import.
        after_import: what to do with a module once it is imported; done at once for those that are.
    """
    import _frozen_importlib

    _replace_global_lock()
    scheduler.places.importing.add(_replace_global_lock.__code__.co_filename)
    bootstrap: Any = _frozen_importlib
    find_and_load = bootstrap._find_and_load
    adapted: dict[str, Any] = {}

    def _find_and_load(name: str, import_: Any, *, lazy_submodule: bool = False) -> Any:
        thread = scheduler.present()
        thread.atomic += 1
        try:
            if lazy_submodule:  # which only interpreters with lazy imports give
                module = find_and_load(name, import_, lazy_submodule=True)
            else:
                module = find_and_load(name, import_)
        finally:
            thread.atomic -= 1
        adapt_imported(after_import, adapted)
        return module

    hide_frames_of(_find_and_load)
    bootstrap._find_and_load = _find_and_load
    adapt_imported(after_import, adapted)


def _replace_global_lock() -> None:
    """Put the lock that the import system holds around finders under the scheduler."""
    import _imp

    module: Any = _imp
    lock = RLock()

    def acquire_lock() -> None:
        lock.acquire()

    def release_lock() -> None:
        if not lock._is_owned():
            raise RuntimeError("not holding the import lock")
        lock.release()

    def lock_held() -> bool:
        return lock._count > 0

    for function in (acquire_lock, release_lock, lock_held):
        hide_frames_of(function)
        setattr(module, function.__name__, function)


def adapt_imported(after_import: dict[str, Callable[[Any], object]], adapted: dict[str, Any]) -> None:
    """Adapt the modules that are fully imported by now, each once; a module that is imported afresh is another one."""
    for name, adapt in after_import.items():
        module = sys.modules.get(name)
        if module is None or adapted.get(name) is module:
            continue
        # The program may have put something else there: a mock, or an empty module for a system that lacks this one.
        spec: Any = attributes_of(module).get("__spec__")
        if type(spec) is _SPEC and spec.name == name and not is_being_imported(spec):
            adapted[name] = module
            adapt(module)
