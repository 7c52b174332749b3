"""Puts the runtime in place, before the program's first line."""

from __future__ import annotations

import _thread
import atexit
import marshal
import os
import posix
import sys
import time

from .accelerator.own_memory import keep_apart, settle, use_own
from .backends.choose import choose_backend, load_backend
from .baton.clock import Clock
from .baton.garbage import collect_by_schedule
from .baton.scheduler import Scheduler
from .baton.strategy import Strategy
from .channel import HELLO, NOTE, THREAD, Channel
from .compat import DISABLE, HAS_JOINABLE_THREADS, UNTESTED, VERSION, uncontended_locks
from .io.buffers import adapt_buffers
from .io.descriptors import Descriptors
from .io.file_locks import adapt_file_locks
from .io.pipes import Pipes
from .io.sockets import Sockets
from .io.ssl import Tls
from .points.bytecode import SYNC
from .points.frames import current_frames_replacement
from .points.places import Places
from .process import child_processes
from .process.fork_server import hang_up, serve
from .process.getpid import getpid_replacement
from .process.run_end import Endings
from .stdlib import async_exceptions, locks, simple_queue, time_functions
from .stdlib.audit_events import watch_events
from .stdlib.early_locks import replace_earlier_locks
from .stdlib.entropy import adapt_random, adapt_random_bytes, adapt_uuid, entropy_replacements
from .stdlib.imports import make_imports_atomic, replace_everywhere
from .stdlib.signals import Signals
from .stdlib.stable_hash import hash_by_number
from .stdlib.threads import ThreadHandle, ThreadStarter
from .strategies.registry import make_strategy

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

FOREVER_S = 100_000.0
_FUNCTION = type(replace_everywhere)


def start(request_path: str) -> None:
    """Read the request and take over threads, locks, time and entropy of this process."""
    # All that a run may need is loaded before its request is there, and so stands at the same addresses in each.
    load_backend()
    keep_apart()
    settle()
    use_own(True)
    channel, preload = _take_over(request_path)
    use_own(False)
    for name in preload:
        try:
            __import__(name)
        except Exception as error:
            channel.send(NOTE, "preload", f"{name} could not be loaded before the program: {error}")


def _take_over(request_path: str) -> tuple[Channel, list[str]]:
    with open(request_path, "rb") as file:
        request: dict[str, Any] = marshal.load(file)
    channel = Channel(request["channel"])
    endings = Endings(channel)
    places = Places(
        os.getcwd(),
        tuple(request["include"]),
        tuple(request["exclude"]),
        command_line="-c" in sys.orig_argv[1:] and sys.argv[0] == "-c",
    )
    clock = Clock(request["start_ns"])
    scheduler = Scheduler(Strategy(), clock, places, channel.send, endings.deadlock, DISABLE)
    backend, reason = choose_backend(scheduler, request["granularity"])
    endings.scheduler = scheduler
    endings.backend = backend
    locks.use_scheduler(scheduler)

    descriptors = Descriptors(scheduler)
    signals = Signals(scheduler)
    descriptors.children_run = child_processes.children_run
    endings.fork_shares = descriptors.share_with_children
    sockets, pipes, tls = Sockets(descriptors), Pipes(descriptors), Tls(descriptors, clock)

    def follow(run: dict[str, Any]) -> None:
        arrivals = run["arrivals"]
        scheduler.arrivals.real_time = run["real_clock"] or run["strategy"] == "natural"
        scheduler.arrivals.follow(arrivals, following=run["strategy"] == "replay")
        scheduler.away.follow([record[-1] for record in arrivals])

    follow(request)

    def adapt_threading(module: Any) -> None:
        endings.adapt_threading(module)
        hash_by_number(module.Thread)
        for name in uncontended_locks():
            setattr(module, name, locks.Uncontended())

    def adapt_sqlite(module: Any) -> None:
        from .io.sqlite import Databases  # now, as most programs have none

        date = None if request["real_clock"] else clock.read_date
        seed = None if request["real_entropy"] else request["entropy_seed"]
        Databases(scheduler, descriptors, date, seed).adapt(module)

    def adapt_names(module: Any) -> None:
        from .stdlib.multiprocessing_names import adapt  # as above

        adapt(module, scheduler, request["system_names"])

    def adapt_ssl(module: Any) -> None:
        tls.adapt(module)
        if not request["real_entropy"]:
            adapt_random_bytes(module)

    def begin() -> None:
        if request["granularity"] != SYNC:
            scheduler.collects = True
            collect_by_schedule()
        use_own(True)
        settle()
        begin_run()
        use_own(False)
        backend.begin()

    def begin_run() -> None:
        run = request
        if request["server"] >= 0:
            run = serve(request["server"], {channel.descriptor}, effects[0] if effects else "")
            endings.new_process()
            signals.new_process()
            channel.go_on_in(run["channel"])
            follow(run)
        channel.forget()
        scheduler.follow(make_strategy(run))
        if run["watched"]:
            scheduler.counter.watched = frozenset(run["watched"])
        scheduler.traced_left = run["traced"]
        scheduler.counting = True
        scheduler.strategy.created(scheduler, scheduler.main)
        scheduler.set_next_question(scheduler.main)

    starter = ThreadStarter(scheduler, begin, backend.thread_started, endings.exception_in_thread)
    endings.forget_threads = starter.forked_child
    _replace_thread_functions(starter)
    after_import: dict[str, Callable[[Any], object]] = {}
    _replace_functions(time, {"sleep": time_functions.sleep_replacement(clock, scheduler)})
    if not request["real_clock"]:
        _replace_functions(time, time_functions.replacements(clock))
        after_import["datetime"] = time_functions.adapt_datetime
    sys._current_frames = current_frames_replacement()
    exits = {"_exit": endings.exit_now}
    entropy: dict[str, Any] = {}
    if not request["real_entropy"]:
        entropy = entropy_replacements(scheduler, request["entropy_seed"])
        after_import.update({"random": adapt_random, "uuid": adapt_uuid})
    for functions in (exits, entropy, pipes.replacements(), child_processes.replacements(descriptors)):
        for module in (os, posix):
            _replace_functions(module, functions)
    pipes.adapt_fdopen()
    adapt_buffers(descriptors, scheduler)
    for module, functions in signals.replacements().items():
        _replace_functions(module, functions)
    signals.take_over()
    _fix_switch_interval()
    make_imports_atomic(
        scheduler,
        {
            **after_import,
            "threading": adapt_threading,
            "concurrent.futures._base": _adapt_futures,
            "_queue": simple_queue.make_adapter(scheduler),
            "ctypes": async_exceptions.make_adapter(scheduler),
            "select": descriptors.adapt_select,
            "socket": sockets.adapt,
            "ssl": adapt_ssl,
            "fcntl": lambda module: adapt_file_locks(descriptors, module),
            "_posixsubprocess": pipes.adapt_fork_exec,
            "subprocess": pipes.adapt_subprocess,
            "_sqlite3": adapt_sqlite,
            "multiprocessing.synchronize": adapt_names,
            "multiprocessing.shared_memory": adapt_names,
            "multiprocessing.resource_tracker": adapt_names,
        },
    )
    effects = watch_events(scheduler, backend.program_traces, {os.devnull, request["system_names"]})
    if request["server"] >= 0:
        getpid = getpid_replacement(scheduler, effects)
        for module in (os, posix):
            _replace_functions(module, {"getpid": getpid})
        endings.at_end_without_threads = lambda: hang_up(request["server"], "it starts no thread")
    os.register_at_fork(
        before=endings.about_to_fork, after_in_child=endings.forked_child, after_in_parent=endings.forked_parent
    )
    # Registered first, so called last.
    atexit.register(endings.at_exit)
    channel.send(HELLO, VERSION, sys.executable, backend.name, reason, sys.flags.hash_randomization)
    if UNTESTED:
        channel.send(NOTE, "untested", UNTESTED)
    channel.send(THREAD, scheduler.main.name, "", 0)
    return channel, request["preload"]


def _replace_functions(module: Any, replacements: dict[str, Any]) -> None:
    pairs = []
    for name, replacement in replacements.items():
        original = getattr(module, name)
        if isinstance(replacement, _FUNCTION):
            for attribute in ("__name__", "__qualname__", "__module__", "__doc__"):
                setattr(replacement, attribute, getattr(original, attribute))
            # A function of C does not turn into a method where a class has it as an attribute; nor must its stand-in.
            replacement = staticmethod(replacement)
        pairs.append((original, replacement))
        setattr(module, name, replacement)
    replace_everywhere(pairs)


def _replace_thread_functions(starter: ThreadStarter) -> None:
    lock_type, rlock_type = type(_thread.allocate_lock()), _thread.RLock
    replacements: dict[str, Any] = {
        "allocate_lock": locks.allocate_lock,
        "allocate": locks.allocate_lock,
        "LockType": locks.Lock,
        "RLock": locks.RLock,
        "start_new_thread": starter.start_new_thread,
        "start_new": starter.start_new_thread,
    }
    if not HAS_JOINABLE_THREADS:
        replacements["_set_sentinel"] = starter.set_sentinel
    else:
        replacements["lock"] = locks.Lock
        replacements["_ThreadHandle"] = ThreadHandle
        replacements["start_joinable_thread"] = starter.start_joinable_thread
        replacements["_shutdown"] = starter.shutdown
    _replace_functions(_thread, replacements)
    replace_earlier_locks(lock_type, rlock_type)


def _adapt_futures(module: Any) -> None:
    number = hash_by_number(module.Future)

    def __init__(self: Any, futures: Any) -> None:
        self.futures = sorted(futures, key=number)  # the original sorts them by address

    module._AcquireFutures.__init__ = __init__


def _fix_switch_interval() -> None:
    """The interpreter must not switch threads by itself; programs that set the interval read back what they set."""
    shown = sys.getswitchinterval()
    sys.setswitchinterval(FOREVER_S)

    def setswitchinterval(interval: float, /) -> None:
        nonlocal shown
        if interval <= 0:
            raise ValueError("switch interval must be strictly positive")
        shown = float(interval)

    def getswitchinterval() -> float:
        return shown

    sys.setswitchinterval = setswitchinterval
    sys.getswitchinterval = getswitchinterval
