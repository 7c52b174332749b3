"""Reads what the program is about to access."""

from __future__ import annotations

from .access import FILE, ITERATES, READS, WHOLE, Access
from .call import AnyInstruction
from .made_items import position_of
from .names import Names
from .operands import Operands

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType

_MOST_CALLERS = 4  # through which a result is handed on


class Reader:
    """Describes accesses.

    Attributes:
        names: how objects are called.

    Args:
        of_library: whether a file of code belongs to the standard library.
    """

    def __init__(self, of_library: Callable[[str], bool]) -> None:
        self._of_library = of_library
        self._operands: dict[int, tuple[CodeType, Operands]] = {}
        self.names = Names()

    def operands(self, code: CodeType) -> Operands:
        """The instructions of a code object."""
        known = self._operands.get(id(code))
        if known is None:
            known = self._operands[id(code)] = (code, Operands(code))
        return known[1]

    def tested(self, frame: FrameType, offset: int) -> bool:
        """Whether a jump depends on the result of an instruction, here or where it is returned to."""
        asked: FrameType | None = frame
        for _ in range(_MOST_CALLERS):
            assert asked is not None
            operands = self.operands(asked.f_code)
            if offset in operands.tested:
                return True
            if offset not in operands.returned or asked.f_back is None:
                return False
            asked = asked.f_back
            offset = position_of(asked)
        return False

    def accesses(self, frame: FrameType, offset: int) -> list[Access]:
        """What the instruction at an offset, and those up to the next yield point, are about to do."""
        operands = self.operands(frame.f_code)
        found = operands.at.get(offset)
        if found is None:
            return []
        name, argument, stack = found
        self.names.begin(frame)
        one = AnyInstruction(self.names, frame, name, argument, stack, self._of_library)
        one.keywords = operands.keywords.get(offset, ())
        access = one.access()
        if access is None:
            return []
        if one.also:
            return [access, *one.also] if access.sort in (WHOLE, FILE) else [*one.also, access]
        if one.through is not None:
            # The instance has no such attribute yet, but another thread may give it one.
            own = Access(access.does, access.sort, one.through, access.key, access.name)
            own.old = access.old
            return [access, own]
        if access.does == READS and access.sort != WHOLE:
            does = ITERATES if offset in operands.taken_apart else READS if offset in operands.truth else ""
            whole = one.whole(access.old, None, does) if does else None
            if whole is not None:
                whole.detail = "begins" if does == ITERATES else ""
                return [access, whole]
        return [access]
