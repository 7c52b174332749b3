"""Looks at containers that no yield point stands before: local variables tested for being empty, or compared.

Rules of this module:

* A function often gets a container, keeps it in a local variable, and then asks whether it is empty. It asks between
  two yield points, so nothing tells when. What it has asked is told at the next event of its thread, before any other
  thread can change anything.
* Whether it was asked is seen from where the function is by then: only the yield points that follow the test count, so
  an exception on the way there is no test.
* A function that has ended meanwhile is left out. Its frame is not kept: that would keep what it held alive.
"""

from __future__ import annotations

from ..compat import ACCESSES, NAMES
from ..points.bytecode import successors
from .compared import is_compared
from .made_items import position_of
from .operands import is_asked_for_truth, variables

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from types import CodeType, FrameType

    from ..baton.thread import ManagedThread
    from ..points.bytecode import Instruction

    # A test of a local variable: its position, the variable, the positions of the first yield points after it.
    LaterLook = tuple[int, str, frozenset[int]]
    # The thread, the identity of a frame with its code, the position of the instruction before the test, the test.
    Begun = tuple[ManagedThread, int, CodeType, int, LaterLook]

_MOST_STEPS = 20  # instructions from a yield point to the test
_MOST_AFTER = 300  # and from there to all next yield points


class LaterLooks:
    """Knows which tests are still to come."""

    def __init__(self) -> None:
        self._begun: list[Begun] = []

    def begin(self, thread: ManagedThread, frame: FrameType, position: int, look: LaterLook) -> None:
        """A thread is about to run the instruction that such a test follows."""
        self._begun.append((thread, id(frame), frame.f_code, position, look))

    def made(
        self, present: ManagedThread, frame: FrameType | None, arrived: int | None
    ) -> list[tuple[FrameType, LaterLook]]:
        """The tests that a thread has made since the last call, with their frames.

        Args:
            present: the thread, which runs.
            frame: where it runs.
            arrived: the position of the instruction that it is about to run; None within one.
        """
        own = [one for one in self._begun if one[0] is present]
        if not own:
            return []
        self._begun = [one for one in self._begun if one[0] is not present]
        made = []
        for one in own:
            _, number, code, position, look = one
            depth, asked = 0, frame
            while asked is not None and not (id(asked) == number and asked.f_code is code):
                depth, asked = depth + 1, asked.f_back
            if asked is None:
                continue
            at = position_of(asked)
            if at == position and (depth or arrived is None):
                self._begun.append(one)  # the instruction still runs
            elif at in look[2]:
                made.append((asked, look))
        return made


def look_after(code: CodeType, listing: list[Instruction], index: int) -> LaterLook | None:
    """The test of a local variable that the function comes to straight after a yield point; None if there is none.

    Args:
        code: the function's.
        listing: its instructions.
        index: which of them the yield point stands before.
    """
    following = successors(listing)
    ways: tuple[int, ...] = (index + 1,)  # also of a loop, which asks about what it takes next
    for _ in range(_MOST_STEPS):
        if len(ways) != 1 or ways[0] >= len(listing):
            return None
        before, (index,) = NAMES[listing[index][1]], ways
        start, operation, argument, _ = listing[index]
        if operation in ACCESSES:
            return None
        name = NAMES[operation]
        loads = name == "LOAD_FAST" or (name == "STORE_FAST" and before == "COPY")
        if loads and (is_asked_for_truth(listing, index + 1) or is_compared(listing, index + 1)):
            return start, variables(code)[argument], _next_points(listing, following, index)
        ways = following[index]
    return None


def _next_points(listing: list[Instruction], following: list[tuple[int, ...]], index: int) -> frozenset[int]:
    """The yield points that can come next, whichever way is taken."""
    found: set[int] = set()
    seen: set[int] = set()
    pending = [index]
    while pending and len(seen) < _MOST_AFTER:
        number = pending.pop()
        if number in seen:
            continue
        seen.add(number)
        start, operation, _, _ = listing[number]
        if operation in ACCESSES:
            found.add(start)
        else:
            pending += following[number]
    return frozenset(found)
