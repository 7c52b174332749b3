"""Where a chain from cause to effect ends: the step of the failing run that failed, or in which a thread died before.

Rules of this module:

* The failure of the main thread is the failure of the run. If another thread failed before, and does not in the passing
  run, that is a stage on the way there.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace

from replay_dd.schedules.failures.signature import exit_in_words
from replay_dd.schedules.model import Ending
from replay_dd.schedules.observed.flow import ENDS, Flow

RAISES = ("RAISE_VARARGS", "RERAISE")
_BEGINS_HANDLER = "PUSH_EXC_INFO"
_CLEANS_UP = ("RERAISE", _BEGINS_HANDLER, "POP_EXCEPT", "COPY", "WITH_EXCEPT_START", "CHECK_EXC_MATCH", "POP_TOP")


def thread_that_died(flow: Flow, ending: Ending, passed: Ending | None) -> tuple[int, str] | None:
    """Where a thread has failed on the way to the failure of the main thread, which the passing run does not.

    Args:
        flow: the instructions of the failing run.
        ending: how it ended.
        passed: how the passing run ended; None if that is not known.
    """
    of_threads = tuple(one for one in ending.exceptions if one.where != "main")
    if len(of_threads) == len(ending.exceptions) or not ending.status:
        return None
    known = () if passed is None else tuple(one.type for one in passed.exceptions)
    new = tuple(one for one in of_threads if one.type not in known)
    return failing_step(flow, replace(ending, exceptions=new)) if new else None


def failing_step(flow: Flow, ending: Ending) -> tuple[int, str] | None:
    """(the step that failed, how it did in words); None if there is none.

    Args:
        flow: the instructions of the failing run.
        ending: how it ended.
    """
    of_main = [one for one in ending.exceptions if one.where == "main"]
    of_threads = [one for one in ending.exceptions if one.where != "main"]
    exception = of_main[-1] if of_main and ending.status else of_threads[0] if of_threads else None
    if exception is None:
        exiting = "0" if ending.exit is None or ending.exit.where == "main" else ending.exit.where
        last = max(
            (steps[-1] for steps in (one.steps for one in flow.activations if one.thread == exiting)), default=-1
        )
        exits = last >= 0 and bool(ending.status) and flow.instruction(last).name in ("CALL", *RAISES)
        return (last, exit_in_words(ending)) if exits else None
    frame = exception.innermost
    if frame is None:
        return None
    thread = "0" if exception.where == "main" else exception.where
    found = None
    for number in range(len(flow.steps) - 1, -1, -1):
        instruction, code = flow.instruction(number), flow.activation(number).code
        here = (code.function, code.file, instruction.line) == (frame.function, frame.file, frame.line)
        if here and instruction.name not in _CLEANS_UP:
            if flow.steps[number].thread == thread:
                return number, exception.type
            # Raised in a thread, and once more where its result was asked for.
            if found is None and instruction.name not in ENDS and _raised(flow, number):
                found = number, exception.type
    return found


def _raised(flow: Flow, number: int) -> bool:
    """Whether this step raised an exception, and its function ended with that, or kept it in a handler for later."""
    steps = flow.activation(number).steps
    last = steps[-1]
    if last == number or flow.instruction(last).name == "RERAISE":
        return True
    return flow.instruction(steps[bisect_right(steps, number)]).name == _BEGINS_HANDLER
