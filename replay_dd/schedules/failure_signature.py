"""The oracle for schedules: decides whether two runs failed in the same way.

A failure signature is the exception that ended the run and its innermost frame in user code; or the deadlock and the
places where its threads wait; or the signal; or the exit status. Two failures are the same if their signatures are.
"""

from __future__ import annotations

import signal
from dataclasses import dataclass, field

from replay_dd.outcome import Outcome
from replay_dd.schedules.model import Ending, UncaughtException

PASSED = "passed"
UNKNOWN = "unknown"


@dataclass(frozen=True)
class Signature:
    """What makes two endings the same.

    Attributes:
        kind: ``passed``, ``exception``, ``deadlock``, ``signal``, ``exit`` or ``unknown`` (time-out, no end reported).
        detail: what else must match.
        functions: the same without line numbers.
        text: for people.
    """

    kind: str
    detail: tuple[object, ...]
    text: str
    functions: tuple[object, ...] = field(default=(), compare=False)

    @property
    def failed(self) -> bool:
        """Whether this is a failure that another run can be compared with."""
        return self.kind not in (PASSED, UNKNOWN)

    def same(self, other: Signature) -> bool:
        """Whether both endings are the same."""
        return (self.kind, self.detail) == (other.kind, other.detail)

    def same_but_for_lines(self, other: Signature) -> bool:
        """Whether both endings are the same, ignoring line numbers; for programs that were edited."""
        return (self.kind, self.functions) == (other.kind, other.functions)


def signature_of(ending: Ending) -> Signature:
    """The signature of a run's ending."""
    if ending.deadlock:
        frames = [(waiter.thread, waiter.innermost) for waiter in ending.deadlock]
        places = tuple(sorted((thread, frame.file, frame.line) for thread, frame in frames if frame is not None))
        threads = ", ".join(waiter.thread for waiter in ending.deadlock)
        functions = tuple(sorted((thread, frame.file, frame.function) for thread, frame in frames if frame is not None))
        return Signature("deadlock", places, f"deadlock of the threads {threads}", functions)
    if ending.timed_out:
        return Signature(UNKNOWN, ("time-out",), "still running at the time limit")
    if ending.signal is not None:
        number = (ending.signal,)
        return Signature("signal", number, f"killed by {_signal_name(ending.signal)}", number)
    main = [exception for exception in ending.exceptions if exception.where == "main"]
    if main and ending.status:
        return _of_exception(main[-1])
    in_threads = [exception for exception in ending.exceptions if exception.where != "main"]
    if in_threads:
        return _of_exception(in_threads[0])
    if ending.status:
        return Signature("exit", (ending.status,), f"exit status {ending.status}", (ending.status,))
    if not ending.complete:
        return Signature(UNKNOWN, ("no end",), "the program was replaced or exited without reporting")
    return Signature(PASSED, (), "exit status 0")


def _of_exception(exception: UncaughtException) -> Signature:
    frame = exception.innermost
    where = "" if exception.where == "main" else f" in thread {exception.where}"
    text = f"{exception.type}{where}"
    summary = exception.text.splitlines()[0] if exception.text else ""
    if summary:
        text += f": {summary[:120]}"
    if frame is None:
        return Signature("exception", (exception.type,), text, (exception.type,))
    functions = (exception.type, frame.file, frame.function)
    told = f"{text} ({frame.file}:{frame.line} in {frame.function})"
    return Signature("exception", (*functions, frame.line), told, functions)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def outcome_of(ending: Ending, failing: Signature) -> Outcome:
    """PASS, FAIL or UNRESOLVED, compared with the failure sought."""
    found = signature_of(ending)
    if found.kind == PASSED:
        return Outcome.PASS
    if found.failed and found.same(failing):
        return Outcome.FAIL
    return Outcome.UNRESOLVED
