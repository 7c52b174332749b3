"""Puts the runtime in place, before the program's first line, and begins the run at the program's first thread."""

from __future__ import annotations

import marshal
import os
import sys

from . import loading
from .accelerator.own_memory import FIRST_THREAD, PROGRAM, begin_anew, keep_apart, settle, settle_imports, use_own
from .backends.choose import load_backend, load_executed_backend
from .baton.garbage import collect_by_schedule
from .channel import HELLO, NOTE, THREAD
from .compat import FULL_NAME, UNTESTED
from .parts import Parts
from .points.bytecode import SYNC
from .process.fork_server import ALONE, keep_aside, learn_streams, serve
from .process.late_variables import restore
from .process.stacks import write_when_asked
from .process.suite import offer
from .stdlib.signals import ignore_no_signals
from .strategies.registry import make_strategy
from .take_over import take_over

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any


# Taken before the runtime puts its own in place.
_getpid = os.getpid


def start(request_path: str, number: int) -> None:
    """Read the request and take over threads, locks, time and entropy of this process.

    Args:
        request_path: the file with the request.
        number: which of the Python processes of the run this is, from 1.
    """
    # All that a run may need is loaded before its request is there, and so stands at the same addresses in each.
    load_backend()
    load_executed_backend()
    loading.collect_again()
    keep_apart()
    use_own(True)
    settle()
    parts = _put_in_place(request_path, number)
    settle_imports()
    loading.end()
    begin_anew(PROGRAM)
    use_own(False)
    for name in parts.request["preload"]:
        try:
            __import__(name)
        except Exception as error:
            parts.channel.send(NOTE, "preload", f"{name} could not be loaded before the program: {error}")
    parts.early.occasion()


def _put_in_place(request_path: str, number: int) -> Parts:
    restore(request_path)
    with open(request_path, "rb") as file:
        request: dict[str, Any] = marshal.load(file)
    if number > 1:
        request["channel"] += f"-{number}"
    parts = Parts(request, lambda: _begin(parts), lambda: _take_run(parts))
    parts.own_descriptors.add(write_when_asked(request["stacks"]))
    parts.follow(request)
    # Every run loads what only some need (4 ms): the names in it are known from then on, and that decides where the
    # program's next ones stand. A copy, a fresh process and an observed run must not differ in it.
    from .accesses import follower, observer  # noqa: F401
    from .hangs import history  # noqa: F401
    from .virtual import guard  # noqa: F401

    if request["server"] >= 0:
        request["server"] = keep_aside(request["server"])
        learn_streams()
        offer(parts, lambda: _take_run(parts))
    if number == 1:
        ignore_no_signals()  # what processes of the program ignore is its own matter
    take_over(parts)
    parts.channel.send(
        *(HELLO, FULL_NAME, sys.executable, parts.backend.name, parts.backend_reason, sys.flags.hash_randomization),
        _getpid(),
    )
    if UNTESTED:
        parts.channel.send(NOTE, "untested", UNTESTED)
    parts.channel.send(THREAD, parts.scheduler.main.name, "", 0)
    return parts


def _begin(parts: Parts) -> None:
    """The program is about to start its first thread."""
    parts.early.end()
    if parts.request["granularity"] != SYNC:
        parts.scheduler.collects = True
        collect_by_schedule()
    use_own(True)
    settle()
    begin_anew(FIRST_THREAD)
    _begin_run(parts)
    use_own(False)
    parts.backend.begin()


def _begin_run(parts: Parts) -> None:
    scheduler = parts.scheduler
    # In every run, as it decides in whose turn frames become objects, and functions of the runtime are first monitored.
    parts.backend.prepare(sys._getframe(1))
    if parts.request["server"] < 0:
        scheduler.follow(make_strategy(parts.request))
    elif parts.run is None:
        _take_run(parts)
    run = parts.run or parts.request
    parts.channel.forget()
    if run["watched"]:
        scheduler.counter.watched = scheduler.places.watch(run["watched"])
    scheduler.traced_left = run["traced"]
    if run is parts.run:
        parts.report_instructions(run)
    if run["observed"]:
        from .accesses.observer import Observer  # loaded already; most runs do not need it

        scheduler.observer = Observer(scheduler, run["observed"])
    if run["history"]:
        from .hangs.history import History  # loaded already

        scheduler.history = parts.run_end.history = History(scheduler)
        scheduler.counter.every_operation = True
    if run["virtual"]:
        from .virtual.guard import make_guard  # loaded already

        scheduler.guard = make_guard(scheduler, run["virtual"])
    if scheduler.executed is not None or scheduler.observer is not None:
        scheduler.counter.every_operation = True
    scheduler.counting = True
    scheduler.strategy.created(scheduler, scheduler.main)
    scheduler.set_next_question(scheduler.main)


def _take_run(parts: Parts) -> None:
    """Wait for runs; goes on in copies of this process, each with the request of its run, or in this process itself."""
    before = use_own(True)
    reason = parts.effects[0] if parts.effects else ""
    parts.run = serve(
        *(parts.request["server"], parts.own_descriptors, reason, lambda run: _prepare(parts, run), parts.early.last)
    )
    parts.run_end.begins(is_copy=not parts.run[ALONE])
    if not parts.run[ALONE]:
        parts.process_number.new_process()
    use_own(before)


def _prepare(parts: Parts, run: dict[str, Any]) -> int:
    """Bring this process to where the copies of another run left off from it; returns where the run tells."""
    write_when_asked(run["stacks"])
    if run["streams"]:
        parts.descriptors.learn_standard_streams(run["streams"])
        parts.channel.go_on_in(run["channel"], run["told"])
    parts.follow(run)
    parts.scheduler.follow(make_strategy(run))
    return parts.channel.descriptor
