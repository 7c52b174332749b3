"""Bytes in pieces: how much of a stream an operation takes or gives.

Rules of this module:

* No schedule determines in which pieces a stream arrives, nor for how much of it there is room. So the log has the
  amounts, and a replay takes and gives as much, no more and no less, however the pieces come.
* How many attempts that needs is a matter of real time. So they are made in the runtime's own memory; what the program
  gets has the same size, and is made at the same moment, as in the recorded run.
* Where the recorded run found the end of a stream from outside, a replay does too: a process that has been stopped may
  have come further by then. What it wrote beyond is left out, and told.
* Who writes what nobody will read finds out sooner or later. In a replay, it is where the recorded run did.
"""

from __future__ import annotations

import errno
import os

from ..accelerator import accelerator
from ..accelerator.own_memory import use_own
from ..baton.patience import OUTSIDE
from ..channel import TO

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..baton.moments import Moments, OutsideWait

_real_read = os.read  # before the runtime puts its own in place

WOULD_BLOCK = -1  # the answer of an operation that does not wait, and has nothing
BROKEN = -errno.EPIPE  # that of one that writes what nobody will read
FAILED = None  # that of one that failed otherwise


def recorded_amount(wait: OutsideWait) -> int:
    """How many bytes the operation took or gave in the recorded run; 0 if that is not known, below 0 if it failed."""
    expected = wait.expected
    return expected.answer if expected is not None and isinstance(expected.answer, int) else 0


def refuse_as_recorded(wait: OutsideWait, moments: Moments) -> None:
    """What an operation that does not wait does before its first attempt.

    Raises:
        BlockingIOError: it had nothing in the recorded run.
    """
    if recorded_amount(wait) == WOULD_BLOCK:
        moments.answered(wait, WOULD_BLOCK)
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
    # There may be room although the system says there is none: it waits for more than the least. `give` tries first.
    if wait.expected is not None and not wait.which.startswith(TO):
        wait.wait_really()


def take(
    wait: OutsideWait, moments: Moments, size: int, attempt: Callable[[int, int], int], whole: bool = False
) -> int:
    """Take bytes that are there; returns how many.

    Args:
        wait: the operation.
        moments: those of all waits.
        size: how many at most.
        attempt: takes up to so many bytes for a position, and tells how many it got.
        whole: whether it is a message, which is taken at once.

    Raises:
        OSError: what the first attempt raises.
    """
    recorded = 0 if whole else recorded_amount(wait)
    wanted = recorded if 0 < recorded <= size else size
    before = use_own(True)
    try:
        if size and not whole:
            _skip_to_end(wait, moments)
        taken = attempt(0, wanted)
        then = ", and then its end" if not taken and recorded > 0 else ""
        while recorded and 0 < taken < wanted:
            more = attempt(taken, wanted - taken) if wait.wait_for_rest() else None
            if not more:
                then = ", and then its end" if more == 0 else ", and no more"
                break
            taken += more
        if taken == recorded < size:
            taken += _more_of_reply(wait, taken, size, attempt)
        if wait.expected is not None and 0 < recorded <= size and taken != recorded:
            _tell_difference(wait, moments, recorded, taken, then)
    except OSError as error:
        moments.answered(wait, WOULD_BLOCK if isinstance(error, BlockingIOError) else FAILED)
        raise
    finally:
        use_own(before)
    moments.answered(wait, taken)
    return taken


def _skip_to_end(wait: OutsideWait, moments: Moments) -> None:
    """Leave out what comes now where the recorded run found the end of a stream from outside."""
    expected, skipped = wait.expected, 0
    if expected is None or type(expected.answer) is not int or expected.answer or wait.nature != OUTSIDE:
        return
    descriptor = wait.descriptors[0][0]
    while accelerator is not None and wait.wait_for_rest() and (more := accelerator.waiting_bytes(descriptor)) > 0:
        skipped += len(_real_read(descriptor, more))
    if skipped:
        moments.differs(wait.amount_in_words(0, skipped, ", which are left out"))


def _more_of_reply(wait: OutsideWait, taken: int, size: int, attempt: Callable[[int, int], int]) -> int:
    """Take what a reply is longer than the recorded one; returns how many bytes."""
    reply = None if wait.expected is None else wait.expected.reply
    if reply is None or not reply.ends or accelerator is None or wait.nature != OUTSIDE:
        return 0
    more: int = accelerator.waiting_bytes(wait.descriptors[0][0])
    return attempt(taken, min(more, size - taken)) if more > 0 and reply.has_grown(more) else 0


def _tell_difference(wait: OutsideWait, moments: Moments, recorded: int, taken: int, then: str) -> None:
    """Note that a stream brought another amount; where this was not the end of a reply, no replay is possible."""
    reply = None if wait.expected is None else wait.expected.reply
    if taken < recorded and (reply is None or not reply.ends or wait.nature != OUTSIDE):
        moments.lose(wait.amount_in_words(recorded, taken, then))
        wait.leave()
    else:
        moments.differs(wait.amount_in_words(recorded, taken, then))


def joined(pieces: list[bytes]) -> bytes:
    """What came in pieces, as one new object."""
    if len(pieces) == 1:
        return memoryview(pieces[0]).tobytes()
    return b"".join(pieces)


def give(
    wait: OutsideWait,
    moments: Moments,
    size: int,
    attempt: Callable[[int, int], int],
    is_broken: Callable[[], object],
    whole: bool = False,
) -> int:
    """Give as many bytes as there is room for; returns how many.

    Args:
        wait: the operation.
        moments: those of all waits.
        size: how many at most.
        attempt: gives up to so many bytes from a position, and tells how many.
        is_broken: whether nobody will read them.
        whole: whether it is a message, which is given at once.

    Raises:
        OSError: what the first attempt raises.
    """
    recorded = recorded_amount(wait)
    wanted = recorded if 0 < recorded <= size and not whole else size
    if recorded == BROKEN:
        wait.is_there = is_broken
        wait.wait_really()
    before = use_own(True)
    given = 0
    try:
        while True:
            try:
                given += attempt(given, wanted - given)
            except BlockingIOError:
                if given == 0 and not (recorded > 0 and wait.wait_really()):
                    raise
            if given >= wanted or recorded <= 0 or not wait.wait_really():
                break
    except (BrokenPipeError, ConnectionResetError):
        if recorded <= 0:
            moments.answered(wait, BROKEN)
            raise
        given = wanted  # nobody read it in the recorded run either
    except OSError as error:
        moments.answered(wait, WOULD_BLOCK if isinstance(error, BlockingIOError) else FAILED)
        raise
    finally:
        use_own(before)
    moments.answered(wait, given)
    return given
