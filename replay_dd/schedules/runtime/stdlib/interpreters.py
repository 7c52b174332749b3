"""Other interpreters in this process: what runs there is not under control, and the log says so.

Rules of this module:

* A thread of the program that executes code in another interpreter does so with the baton, in one step from sleep to
  sleep: `time.sleep` gives the baton up there as it does here, and clocks are virtual. So code there may wait for
  others by looking again and again, as the queues of ``concurrent.interpreters`` do.
* That needs the accelerator: without it, and before Python 3.13, code in other interpreters sleeps in real time.
* Threads that are started there are nobody's: no events of theirs are seen, and their locks and clocks are real.
* As without replay-dd, what would interrupt a sleep there (a signal's handler) is raised once the thread is back.
"""

from __future__ import annotations

import _thread
import sys

from ..accelerator import accelerator
from ..baton.clock import NEVER_READY
from ..channel import NOTE
from .replacing import hide_frames_of
from .time_functions import MONOTONIC_OFFSET_NS

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..baton.scheduler import Scheduler

MODULES = ("_interpreters", "_xxsubinterpreters")  # since 3.13, and before

# What executes code there; the last two run what is registered for the end, and finalizers.
_EXECUTING = ("exec", "call", "run_string", "run_func", "set___main___attrs", "destroy", "decref")
_SLEEP, _DATE = 0, 1  # as in accelerator/interpreters.c; else it asks for the monotonic clock


def adapt_interpreters(scheduler: Scheduler, virtual_clock: bool, module: Any) -> None:
    """Note that the program makes interpreters, once it does, and let code in them sleep under the scheduler."""
    real = getattr(module, "create", None)
    if real is None:
        return
    told = False
    raised: dict[int, BaseException] = {}

    def create(*arguments: Any, **named: Any) -> Any:
        nonlocal told
        if not told and not scheduler.over:
            told = True
            scheduler.send(NOTE, "interpreters", "code ran in other interpreters, where replay-dd switches no threads")
        number = real(*arguments, **named)
        if accelerator is not None:
            accelerator.adapt_interpreter(number, virtual_clock, answer)
        return number

    def answer(question: int, wait_ns: int) -> int:
        if question != _SLEEP:
            return scheduler.clock.read_date() if question == _DATE else MONOTONIC_OFFSET_NS + scheduler.clock.read()
        frame = sys._getframe(1)
        try:
            if wait_ns == 0:
                scheduler.operation(frame, gives_way=True)
            else:
                scheduler.operation(frame, NEVER_READY, scheduler.clock.read() + wait_ns)
        except BaseException as problem:  # it cannot be raised there
            raised[_thread.get_ident()] = problem
        return 0

    hide_frames_of(create)
    module.create = create
    if accelerator is not None:
        for name in _EXECUTING:
            if hasattr(module, name):
                setattr(module, name, _coming_home(getattr(module, name), raised))


def _coming_home(real: Callable[..., Any], raised: dict[int, BaseException]) -> Callable[..., Any]:
    """A function that executes code elsewhere; what was raised in the meantime is raised when it returns."""
    leave_home = accelerator.leave_home

    def execute(*arguments: Any, **named: Any) -> Any:
        leave_home()
        try:
            return real(*arguments, **named)
        finally:
            if raised:
                problem = raised.pop(_thread.get_ident(), None)
                if problem is not None:
                    raise problem

    hide_frames_of(execute)
    execute.__name__ = execute.__qualname__ = real.__name__
    return execute
