"""Tables of what the runtime replaces in the interpreter and its standard library, and with what.

Rules of this module:

* A row says when it applies and what does the work. The work itself is done in the rooms.
* Modules of the library are patched when the program imports them, never before.
"""

from __future__ import annotations

import _thread
import atexit
import gc
import os
import posix
import sys
import time

from .baton import garbage
from .io.buffers import adapt_buffers
from .io.file_locks import adapt_file_locks
from .io.select import adapt_select
from .points.frames import current_frames_replacement
from .process import child_processes
from .process.fork_server import hang_up
from .stdlib import locks, time_functions
from .stdlib.async_exceptions import adapt_ctypes
from .stdlib.audit_events import watch_events
from .stdlib.early_locks import replace_early_locks
from .stdlib.entropy import (
    adapt_foreign_libraries,
    adapt_random,
    adapt_random_bytes,
    adapt_uuid,
    entropy_replacements,
    fix_entropy_of_libraries,
)
from .stdlib.imports import make_imports_atomic
from .stdlib.interpreters import MODULES as INTERPRETERS
from .stdlib.interpreters import adapt_interpreters
from .stdlib.loaders import adapt_metadata, adapt_rewriting, keep_files_out
from .stdlib.replacing import replace
from .stdlib.simple_queue import adapt_queue
from .stdlib.stable_hash import adapt_futures, adapt_threads
from .stdlib.switch_interval import fix_switch_interval
from .stdlib.test_runners import (
    adapt_hypothesis_telling,
    adapt_pytest_calling,
    adapt_pytest_ending,
    adapt_pytest_loading,
    adapt_pytest_rewriting,
    adapt_pytest_running,
    adapt_unittest_loading,
    adapt_unittest_running,
)

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .parts import Parts
    from .stdlib.replacing import StandIns

    Applies = Callable[[Parts], bool]


def _always(parts: Parts) -> bool:
    return True


def _virtual_clock(parts: Parts) -> bool:
    return not parts.request["real_clock"]


def _fixed_entropy(parts: Parts) -> bool:
    return not parts.request["real_entropy"]


def _fixed_entropy_of_libraries(parts: Parts) -> bool:
    return _fixed_entropy(parts) and bool(parts.request["library_key"])


def _fork_server(parts: Parts) -> bool:
    return bool(parts.request["server"] >= 0)


def _of_os(stand_ins: dict[str, Any]) -> StandIns:
    return {os: stand_ins, posix: stand_ins}


# Functions and types that are replaced at the start.
_STAND_INS: tuple[tuple[Applies, Callable[[Parts], StandIns]], ...] = (
    (_always, lambda parts: {_thread: {**locks.stand_ins(), **parts.starter.stand_ins()}}),
    (_always, lambda parts: {time: {"sleep": time_functions.sleep_replacement(parts.clock, parts.scheduler)}}),
    (_virtual_clock, lambda parts: {time: time_functions.replacements(parts.clock)}),
    (_virtual_clock, lambda parts: _of_os(parts.file_times.replacements())),
    (_always, lambda parts: {gc: garbage.stand_ins()}),
    (_always, lambda parts: {sys: {"_current_frames": current_frames_replacement()}}),
    (_always, lambda parts: _of_os({"_exit": parts.run_end.exit_now})),
    (_fixed_entropy, lambda parts: _of_os(entropy_replacements(parts.scheduler, parts.request["entropy_seed"]))),
    (_always, lambda parts: _of_os(parts.pipes.replacements())),
    (_always, lambda parts: _of_os(child_processes.replacements(parts.descriptors))),
    (_fork_server, lambda parts: _of_os(parts.process_number.replacements())),
    (_always, lambda parts: parts.signals.replacements()),
)

# What else happens at the start, in this order.
_AT_START: tuple[tuple[Applies, Callable[[Parts], object]], ...] = (
    (_always, lambda parts: parts.pipes.adapt_fdopen()),
    (_always, lambda parts: adapt_buffers(parts.descriptors, parts.scheduler)),
    (_virtual_clock, lambda parts: parts.file_times.adapt()),
    (_always, lambda parts: parts.signals.take_over()),
    (_always, lambda parts: fix_switch_interval()),
    (_always, lambda parts: make_imports_atomic(parts.scheduler, _adapters(parts))),
    (_always, lambda parts: keep_files_out(os.path.dirname(parts.request["channel"]))),
    (_fixed_entropy_of_libraries, lambda parts: _seed_libraries(parts)),
    (_always, lambda parts: _watch_events(parts)),
    (_fork_server, lambda parts: parts.run_end.without_threads(lambda: _hang_up(parts))),
    (_always, lambda parts: parts.fork.watch()),
    (_always, lambda parts: parts.run_end.exits.install()),
    (_always, lambda parts: atexit.register(parts.run_end.at_exit)),  # registered first, so called last
)


def _adapt_threading(parts: Parts, module: Any) -> None:
    parts.run_end.adapt_threading(module)
    adapt_threads(module)
    locks.adapt_threading_lists(module)


def _adapt_sqlite(parts: Parts, module: Any) -> None:
    from .io.sqlite import Databases  # only now: most programs do not need it

    date = parts.clock.read_date if _virtual_clock(parts) else None
    seed = parts.request["entropy_seed"] if _fixed_entropy(parts) else None
    parts.databases = Databases(parts.scheduler, parts.descriptors, date, seed)
    parts.databases.adapt(module)


def _seed_libraries(parts: Parts) -> None:
    date_ns = parts.request["start_ns"] if _virtual_clock(parts) else -1
    fix_entropy_of_libraries(bytes.fromhex(parts.request["library_key"]), date_ns, parts.scheduler.main.hash)


def _adapt_interpreters(parts: Parts, module: Any) -> None:
    adapt_interpreters(parts.scheduler, _virtual_clock(parts), module)


def _adapt_names(parts: Parts, module: Any) -> None:
    from .stdlib.multiprocessing_names import adapt  # as above

    adapt(module, parts.scheduler, parts.request["system_names"])


def _adapt_process_locks(parts: Parts, module: Any) -> None:
    from .stdlib.process_locks import adapt_process_locks  # as above

    adapt_process_locks(parts.descriptors, module)


# Modules that are patched when the program imports them. If a name has several rows, all that apply are used.
_AFTER_IMPORT: tuple[tuple[str, Applies, Callable[[Parts, Any], object]], ...] = (
    ("datetime", _virtual_clock, lambda parts, module: time_functions.adapt_datetime(parts.clock, module)),
    ("random", _fixed_entropy, lambda parts, module: adapt_random(module)),
    ("uuid", _fixed_entropy, lambda parts, module: adapt_uuid(module)),
    ("threading", _always, _adapt_threading),
    ("concurrent.futures._base", _always, lambda parts, module: adapt_futures(module)),
    ("_queue", _always, lambda parts, module: adapt_queue(parts.scheduler, module)),
    ("ctypes", _always, lambda parts, module: adapt_ctypes(parts.scheduler, module)),
    ("ctypes", _fixed_entropy_of_libraries, lambda parts, module: adapt_foreign_libraries(module)),
    ("select", _always, lambda parts, module: adapt_select(parts.descriptors, module)),
    ("socket", _always, lambda parts, module: parts.sockets.adapt(module)),
    ("ssl", _always, lambda parts, module: parts.tls.adapt(module)),
    ("ssl", _fixed_entropy, lambda parts, module: adapt_random_bytes(module)),
    ("fcntl", _always, lambda parts, module: adapt_file_locks(parts.descriptors, module)),
    ("_posixsubprocess", _always, lambda parts, module: parts.pipes.adapt_fork_exec(module)),
    ("subprocess", _always, lambda parts, module: parts.pipes.adapt_subprocess(module)),
    ("importlib.metadata", _always, lambda parts, module: adapt_metadata(module)),
    ("_pytest.assertion.rewrite", _always, lambda parts, module: adapt_rewriting(module)),
    ("unittest.result", _always, lambda parts, module: parts.run_end.adapt_results(module.TestResult)),
    ("_pytest.unittest", _always, lambda parts, module: parts.run_end.adapt_results(module.TestCaseFunction)),
    ("_pytest.assertion.rewrite", _always, lambda parts, module: adapt_pytest_rewriting(parts.scheduler, module)),
    ("_pytest.pathlib", _always, lambda parts, module: adapt_pytest_loading(parts.scheduler, module)),
    ("_pytest.runner", _always, lambda parts, module: parts.run_end.adapt_reports(module)),
    ("_pytest.runner", _always, lambda parts, module: adapt_pytest_running(parts.scheduler, module)),
    ("_pytest.python", _always, lambda parts, module: adapt_pytest_calling(parts.scheduler, module)),
    ("_pytest.unraisableexception", _always, lambda parts, module: adapt_pytest_ending(parts.scheduler, module)),
    ("_hypothesis_pytestplugin", _always, lambda parts, module: adapt_hypothesis_telling(module)),
    ("unittest.loader", _always, lambda parts, module: adapt_unittest_loading(parts.scheduler, module)),
    ("unittest.case", _always, lambda parts, module: adapt_unittest_running(parts.scheduler, module)),
    ("_sqlite3", _always, _adapt_sqlite),
    *((name, _always, _adapt_interpreters) for name in INTERPRETERS),
    ("multiprocessing.synchronize", _always, _adapt_names),
    ("multiprocessing.synchronize", _always, _adapt_process_locks),
    ("multiprocessing.shared_memory", _always, _adapt_names),
    ("multiprocessing.resource_tracker", _always, _adapt_names),
)


def take_over(parts: Parts) -> None:
    """Take over threads, locks, time, entropy and input and output of this process."""
    lock_type, rlock_type = type(_thread.allocate_lock()), _thread.RLock
    replace([stand_ins(parts) for applies, stand_ins in _STAND_INS if applies(parts)])
    replace_early_locks(lock_type, rlock_type)
    for applies, install in _AT_START:
        if applies(parts):
            install(parts)


def _adapters(parts: Parts) -> dict[str, Callable[[Any], object]]:
    """For each module, what adapts it."""
    rows: dict[str, list[Callable[[Parts, Any], object]]] = {}
    for name, applies, adapt in _AFTER_IMPORT:
        if applies(parts):
            rows.setdefault(name, []).append(adapt)

    def make(adapts: list[Callable[[Parts, Any], object]]) -> Callable[[Any], object]:
        def adapt_module(module: Any) -> None:
            for adapt in adapts:
                adapt(parts, module)

        return adapt_module

    return {name: make(adapts) for name, adapts in rows.items()}


def _watch_events(parts: Parts) -> None:
    about_to_change = parts.file_times.about_to_change if _virtual_clock(parts) else None
    watch_events(
        *(parts.scheduler, lambda: parts.backend.program_traces(), parts.harmless, parts.effects, parts.early),
        about_to_change,
    )


def _hang_up(parts: Parts) -> None:
    hang_up(parts.request["server"], "it starts no thread")
