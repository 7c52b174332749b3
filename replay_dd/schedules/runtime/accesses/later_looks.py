"""Looks at containers that no yield point stands before: tests of local variables for being empty.

Rules of this module:

* A function often gets a container, keeps it in a local variable, and then asks whether it is empty. It asks between
  two yield points, so nothing tells when. What it has asked is told at the next event of its thread, before any other
  thread can change anything.
* Whether it was asked is seen from where the function is by then: only the yield points that follow the test count, so
  an exception on the way there is no test.
* A function that has ended meanwhile is left out. Its frame is not kept: that would keep what it held alive.
"""

from __future__ import annotations

from ..compat import ACCESSES, BACKWARD_JUMPS, JUMPS, LEAVES, NAMES
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
_MOST_AFTER = 60  # and from there to all next yield points


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
    begins = _begins(listing)
    number: int | None = index + 1
    for _ in range(_MOST_STEPS):
        if number is None or number >= len(listing):
            return None
        start, operation, argument, _ = listing[number]
        if operation in ACCESSES:
            return None
        name, before = NAMES[operation], NAMES[listing[number - 1][1]]
        if (name == "LOAD_FAST" or (name == "STORE_FAST" and before == "COPY")) and is_asked_for_truth(
            listing, number + 1
        ):
            return start, variables(code)[argument], _next_points(listing, begins, number)
        if operation in JUMPS and operation not in LEAVES:
            return None
        number = _target(listing, begins, number) if operation in JUMPS else number + 1
        if operation in LEAVES and operation not in JUMPS:
            return None
    return None


def _begins(listing: list[Instruction]) -> dict[int, int]:
    """The number of the instruction that begins at an offset, prefixes counted in."""
    begins, offset = {}, 0
    for index, (_, _, _, end) in enumerate(listing):
        begins[offset], offset = index, end
    return begins


def _target(listing: list[Instruction], begins: dict[int, int], index: int) -> int | None:
    _, operation, argument, end = listing[index]
    return begins.get(end + (-2 if operation in BACKWARD_JUMPS else 2) * argument)


def _next_points(listing: list[Instruction], begins: dict[int, int], index: int) -> frozenset[int]:
    """The yield points that can come next, whichever way is taken."""
    found: set[int] = set()
    seen: set[int] = set()
    pending = [index]
    while pending and len(seen) < _MOST_AFTER:
        number = pending.pop()
        if number in seen or number >= len(listing):
            continue
        seen.add(number)
        start, operation, _, _ = listing[number]
        if operation in ACCESSES:
            found.add(start)
            continue
        target = _target(listing, begins, number) if operation in JUMPS else None
        if target is not None:
            pending.append(target)
        if operation not in LEAVES:
            pending.append(number + 1)
    return frozenset(found)
