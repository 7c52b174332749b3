"""The oracle for schedules: decides whether two runs failed in the same way.

A failure signature is the exception that ended the run, its innermost frame in user code and its message; or the
deadlock and the places where its threads wait; or the signal; or the exit status, with where the program exits and
what it says. Two failures are the same if their signatures are.

Rules of this module:

* Messages vary from schedule to schedule even if the bug is the same: "the total is 7" or "8". So they are compared
  without what varies (:mod:`~replay_dd.schedules.failures.message`); whoever draws conclusions says where they changed.
* Old logs know of an exit only its status. They are compared by that.
* A program that exits with a number has mostly written why. Other threads write, too, so of the lines of two outputs
  that complain, one in common is enough for the same exit.
* A text that the user asks for must occur in the description of the failure, as written.
"""

from __future__ import annotations

import signal
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from replay_dd.errors.program import DoesNotFailError
from replay_dd.outcome import Outcome
from replay_dd.schedules.failures.message import without_addresses, without_data
from replay_dd.schedules.hang import NO_PROGRESS, Hang
from replay_dd.schedules.model import Ending, Log, UncaughtException

PASSED = "passed"
UNKNOWN = "unknown"
LIVELOCK = "livelock"
EXIT = "exit"
_LONGEST = 120  # characters of a message that are told


@dataclass(frozen=True)
class Signature:
    """What makes two endings the same.

    Attributes:
        kind: ``passed``, ``exception``, ``deadlock``, ``livelock``, ``signal``, ``exit`` or ``unknown``
            (time-out, no end reported).
        detail: what else must match.
        functions: the same without line numbers.
        text: for people.
        message: the message of the exception, without the data in it.
        said: the message as it was.
        is_told: of an exit, whether more is known than its status.
        complaints: of an exit without a message, the kinds of complaints in the output.
    """

    kind: str
    detail: tuple[object, ...]
    text: str
    functions: tuple[object, ...] = field(default=(), compare=False)
    message: str = ""
    said: str = field(default="", compare=False)
    is_told: bool = field(default=False, compare=False)
    complaints: frozenset[str] = field(default=frozenset(), compare=False)

    @property
    def failed(self) -> bool:
        """Whether this is a failure that another run can be compared with."""
        return self.kind not in (PASSED, UNKNOWN)

    def same(self, other: Signature) -> bool:
        """Whether both endings are the same."""
        if self.kind == other.kind == EXIT:
            return self._exits_like(other, self.key == other.key)
        return self.key == other.key

    @property
    def in_step(self) -> bool:
        """Whether threads must change all the time for it: none of its switches can be left out."""
        return (
            self.kind == LIVELOCK and len({function[0] for function in self.functions if type(function) is tuple}) > 1
        )

    @property
    def wording(self) -> str:
        """The message as it was, but for addresses, which mean nothing."""
        return without_addresses(self.said)

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for endings that are the same."""
        return (self.kind, self.message, *self.detail)

    def mentions(self, text: str) -> bool:
        """Whether a text occurs in the description of the ending, or in the whole message of its exception."""
        return text in self.text or text in self.said

    def same_but_for_lines(self, other: Signature) -> bool:
        """Whether both endings are the same, ignoring line numbers; for programs that were edited."""
        if self.kind == other.kind == EXIT:
            return self._exits_like(other, (self.message, self.functions) == (other.message, other.functions))
        return (self.kind, self.functions) == (other.kind, other.functions)

    def same_but_for_message(self, other: Signature) -> bool:
        """Whether both endings are the same, ignoring the message.

        A program may exit at one line for all reasons, so of an exit, most words of the message have to be the same.
        """
        if self.same(other):
            return True
        is_alike = self.kind != EXIT or _share_most_words(self.message, other.message)
        return is_alike and (self.kind, self.detail) == (other.kind, other.detail)

    def _exits_like(self, other: Signature, as_told: bool) -> bool:
        if self.detail[0] != other.detail[0] or (self.is_told and other.is_told and not as_told):
            return False
        return not (self.complaints and other.complaints) or not self.complaints.isdisjoint(other.complaints)


def signature_of(ending: Ending) -> Signature:
    """The signature of a run's ending."""
    if ending.deadlock and ending.hang is not None and ending.hang.why == NO_PROGRESS:
        return _of_circle(ending.hang)
    if ending.deadlock:
        frames = [(waiter.thread, waiter.innermost) for waiter in ending.deadlock]
        places = tuple(sorted((thread, frame.file, frame.line) for thread, frame in frames if frame is not None))
        threads = ", ".join(waiter.thread for waiter in ending.deadlock)
        functions = tuple(sorted((thread, frame.file, frame.function) for thread, frame in frames if frame is not None))
        return Signature("deadlock", places, f"deadlock of the threads {threads}", functions)
    if ending.timed_out:
        return Signature(UNKNOWN, ("time-out",), "still running at the time limit")
    if ending.stopped:
        return Signature(UNKNOWN, ("stopped",), "stopped, as it waited for what did not come again")
    if ending.signal is not None:
        number = (ending.signal,)
        interrupted = [one for one in ending.exceptions if (one.where, one.type) == ("main", "KeyboardInterrupt")]
        if ending.signal == signal.SIGINT and interrupted:  # the interpreter ends itself so, after the traceback
            return _of_exception(interrupted[-1])
        return Signature("signal", number, f"killed by {_signal_name(ending.signal)}", number)
    main = [exception for exception in ending.exceptions if exception.where == "main"]
    in_threads = [exception for exception in ending.exceptions if exception.where != "main"]
    if main and ending.status:
        found = _of_exception(main[-1])
        return replace(found, text=f"{found.text}, after {_in_short(in_threads[0])}") if in_threads else found
    if in_threads:
        return _of_exception(in_threads[0])
    if ending.status:
        return _of_exit(ending)
    if not ending.complete:
        return Signature(UNKNOWN, ("no end",), "the program was replaced or exited without reporting")
    return Signature(PASSED, (), "exit status 0")


def _of_circle(hang: Hang) -> Signature:
    """The same lines are the same failure: where in the circle it was ended means nothing."""
    lines = tuple(sorted(set(hang.turns)))
    threads = sorted({thread for thread, _, _ in lines})
    what = "livelock of the threads" if len(threads) > 1 else "endless loop of thread"
    functions = tuple(sorted({(thread, file) for thread, file, _ in lines}))
    return Signature(LIVELOCK, lines, f"{what} {', '.join(threads)}", functions)


def _of_exception(exception: UncaughtException) -> Signature:
    frame = exception.innermost
    where = "" if exception.where == "main" else f" in thread {exception.where}"
    text = f"{exception.type}{where}"
    summary = exception.text.splitlines()[0] if exception.text else ""
    if summary:
        text += f": {_cut(summary)}"
    message = (without_data(exception.text), exception.text)
    if frame is None:
        return Signature("exception", (exception.type,), text, (exception.type,), *message)
    functions = (exception.type, frame.file, frame.function)
    told = f"{text} ({frame.file}:{frame.line} in {frame.function})"
    return Signature("exception", (*functions, frame.line), told, functions, *message)


def exit_in_words(ending: Ending) -> str:
    """How a program ended itself: its exit status, and what it said of that."""
    found = ending.exit
    text = f"exit status {ending.status}"
    if found is not None and found.where != "main":
        text += f" in thread {found.where}"
    said = found.text.strip() if found is not None else ""
    told = said.splitlines()[0] if said else ending.complaints[-1] if ending.complaints else ""
    return f"{text}: {_cut(told)}" if told else text


def _of_exit(ending: Ending) -> Signature:
    found, text = ending.exit, exit_in_words(ending)
    kinds = frozenset(map(without_data, ending.complaints))
    if found is None:
        return Signature(EXIT, (ending.status,), text, (ending.status,), complaints=kinds)
    frame = found.innermost
    place: tuple[object, ...] = ()
    functions: tuple[object, ...] = ()
    if frame is not None:
        functions = (frame.file, frame.function)
        place = (*functions, frame.line)
        text += f" ({frame.file}:{frame.line} in {frame.function})"
    return Signature(
        *(EXIT, (ending.status, *place), text, (ending.status, *functions), without_data(found.text), found.text),
        is_told=True,
        complaints=kinds,
    )


def _share_most_words(one: str, other: str) -> bool:
    """Whether two texts begin and end alike, and only less than half of their words are between."""
    words, others = one.split(), other.split()
    shortest, longest = sorted((len(words), len(others)))
    first = next((at for at in range(shortest) if words[at] != others[at]), shortest)
    last = next((at for at in range(shortest - first) if words[-1 - at] != others[-1 - at]), shortest - first)
    return 2 * (first + last) > longest


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def _in_short(exception: UncaughtException) -> str:
    frame = exception.innermost
    where = "" if frame is None else f" ({frame.file}:{frame.line})"
    return f"{exception.type} in thread {exception.where}{where}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


class ChangedMessage(NamedTuple):
    """The message of one failure in two runs: as it was recorded, and in the run that the answer is about."""

    recorded: str
    found: str


def message_changed(recorded: Ending, found: Ending) -> ChangedMessage | None:
    """Both messages if they are not the same, although the failure is."""
    one, other = signature_of(recorded), signature_of(found)
    return None if one.wording == other.wording else ChangedMessage(one.said, other.said)


def check_failed(log: Log, file: object) -> None:
    """Check that a log is of a run that failed.

    Args:
        log: the log.
        file: where it was read from.

    Raises:
        DoesNotFailError: it is not.
    """
    found = signature_of(log.ending)
    if not found.failed:
        raise DoesNotFailError(
            f"The run of {file} did not fail: {found.text}.",
            "Give the log of a run that failed, such as one of `hunt`.",
        )


def text_sought(log: Log, text: str | None) -> str:
    """The text that the description of the failure must contain: the one given, or that of the log.

    Raises:
        DoesNotFailError: that of the log itself does not contain it.
    """
    wanted = log.failure if text is None else text
    found = signature_of(log.ending)
    if not found.mentions(wanted):
        raise DoesNotFailError(
            f"The failure of the log does not contain `{wanted}`. It is: {found.text}.",
            "Give a part of this description with `--failure`, as it is written here.",
        )
    return wanted


def outcome_of(ending: Ending, failing: Signature, text: str = "") -> Outcome:
    """PASS, FAIL or UNRESOLVED, compared with the failure sought; ``text`` must occur in the failure's description."""
    found = signature_of(ending)
    if found.kind == PASSED:
        return Outcome.PASS
    if found.failed and found.same(failing) and found.mentions(text):
        return Outcome.FAIL
    return Outcome.UNRESOLVED
