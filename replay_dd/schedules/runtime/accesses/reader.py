"""Reads what the program is about to access."""

from __future__ import annotations

from .access import CALLS, FILE, ITEM, ITERATES, READS, WHOLE, Access
from .call import AnyInstruction
from .compared import is_compared
from .later_looks import look_after
from .made_items import position_of
from .names import Names
from .operands import Operands

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType

    from .later_looks import LaterLook

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
        self._compared: dict[tuple[int, int], bool] = {}
        self._later: dict[tuple[int, int], LaterLook | None] = {}
        self.names = Names()

    def operands(self, code: CodeType) -> Operands:
        """The instructions of a code object."""
        known = self._operands.get(id(code))
        if known is None:
            known = self._operands[id(code)] = (code, Operands(code))
        return known[1]

    def tested(self, frame: FrameType, offset: int) -> bool:
        """Whether a jump depends on the result of an instruction, here or where it is returned to."""
        return self._in_function_or_callers(frame, offset, lambda operands: (operands.tested, operands.returned))

    def _is_tested_for_truth(self, frame: FrameType, offset: int) -> bool:
        """Whether what an instruction loads is tested for being empty, here or where it is returned to at once."""
        # What a caller keeps in a variable is told of its own line.
        in_callers = self._in_function_or_callers(
            frame, offset, lambda operands: (operands.truth_unkept, operands.handed_on)
        )
        return in_callers or offset in self.operands(frame.f_code).truth

    def _is_compared(self, code: CodeType, offset: int) -> bool:
        """Whether what an instruction loads is compared as it is."""
        key = id(code), offset  # the code is kept with its operands
        if key not in self._compared:
            listing = self.operands(code).listing
            index = next((number for number, one in enumerate(listing) if one[0] == offset), len(listing))
            self._compared[key] = is_compared(listing, index + 1)
        return self._compared[key]

    def _in_function_or_callers(
        self,
        frame: FrameType,
        offset: int,
        wanted_and_returned: Callable[[Operands], tuple[frozenset[int], frozenset[int]]],
    ) -> bool:
        """Whether an instruction is a wanted one, or its result is returned to one that is."""
        asked: FrameType | None = frame
        for _ in range(_MOST_CALLERS):
            assert asked is not None
            wanted, returned = wanted_and_returned(self.operands(asked.f_code))
            if offset in wanted:
                return True
            if offset not in returned or asked.f_back is None:
                return False
            asked = asked.f_back
            offset = position_of(asked)
        return False

    def look_after(self, code: CodeType, offset: int, told: list[Access]) -> LaterLook | None:
        """The test of a local variable that comes straight after an instruction.

        Args:
            code: the function's.
            offset: where the instruction is.
            told: what is told of it; None is returned if the test is among that.
        """
        operands = self.operands(code)
        looks = any(one.does == READS and one.sort == WHOLE for one in told)
        if looks and (offset in operands.truth or self._is_compared(code, offset)):
            return None
        key = id(code), offset  # the code is kept with its operands
        if key not in self._later:
            index = next((number for number, one in enumerate(operands.listing) if one[0] == offset), None)
            self._later[key] = None if index is None else look_after(code, operands.listing, index)
        return self._later[key]

    def look_at_variable(self, frame: FrameType, variable: str) -> Access | None:
        """A look at the whole container that a local variable has; None if it has none."""
        self.names.begin(frame)
        one = AnyInstruction(self.names, frame, "LOAD_FAST", 0, (), self._of_library)
        expression = "local", variable
        return one.whole(one.evaluate(expression), expression, READS)

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
        got = access.does == CALLS and access.sort == ITEM and access.reads and not access.writes  # as `get` does
        if got or (access.does == READS and access.sort != WHOLE):
            looked_at = self._is_tested_for_truth(frame, offset) or self._is_compared(frame.f_code, offset)
            does = ITERATES if offset in operands.taken_apart else READS if looked_at else ""
            whole = one.whole(access.old, None, does) if does else None
            if whole is not None:
                whole.detail = "begins" if does == ITERATES else ""
                return [access, whole]
        return [access]
