"""Which instructions of a code object are yield points, at each granularity.

``access``: every instruction that can touch state another thread sees: attribute, item, global, closure cell, name,
call, iteration, containment. Locals never count. ``line``: the first instruction of each line. ``gil``: only where
this interpreter looks whether another thread wants to run. ``sync``: none; operations on locks, queues, files and
sleeps are yield points of their own, at every granularity.

A yield point is *before* its instruction.
"""

from __future__ import annotations

import sys
from opcode import opmap, opname

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from types import CodeType

SYNC, GIL, LINE, ACCESS = "sync", "gil", "line", "access"

_ACCESS_NAMES = {
    *("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR", "STORE_ATTR", "DELETE_ATTR"),
    *("LOAD_GLOBAL", "STORE_GLOBAL", "DELETE_GLOBAL", "LOAD_NAME", "STORE_NAME", "DELETE_NAME"),
    *("LOAD_DEREF", "STORE_DEREF", "DELETE_DEREF", "LOAD_CLASSDEREF"),
    *("LOAD_FROM_DICT_OR_GLOBALS", "LOAD_FROM_DICT_OR_DEREF"),
    *("BINARY_SUBSCR", "STORE_SUBSCR", "DELETE_SUBSCR", "BINARY_SLICE", "STORE_SLICE"),
    *("FOR_ITER", "CONTAINS_OP"),
    *("CALL", "CALL_KW", "CALL_FUNCTION_EX", "BEFORE_WITH"),
}
_CALL_NAMES = {"CALL", "CALL_KW", "CALL_FUNCTION_EX"}
ACCESS_OPCODES = frozenset(opmap[name] for name in _ACCESS_NAMES if name in opmap)
CALL_OPCODES = frozenset(opmap[name] for name in _CALL_NAMES if name in opmap)
_RESUME = opmap["RESUME"]
_EXTENDED_ARG = opmap["EXTENDED_ARG"]
_CACHE = opmap["CACHE"]
_JUMPS_BACK = frozenset(
    number
    for name, number in opmap.items()
    if name == "JUMP_BACKWARD" or name.startswith("POP_JUMP_BACKWARD")  # JUMP_BACKWARD_NO_INTERRUPT does not look
)
# Until 3.11 the event of an instruction with EXTENDED_ARG comes at the prefix; later also at the instruction itself.
_EVENT_AT_PREFIX = sys.version_info < (3, 12)


def instructions(code: CodeType) -> list[tuple[int, int]]:
    """(event offset in bytes, opcode) of each instruction, prefixes and caches left out."""
    units = code.co_code
    result = []
    prefix = -1
    for offset in range(0, len(units), 2):
        operation = units[offset]
        if operation == _CACHE:
            continue
        if operation == _EXTENDED_ARG:
            if prefix < 0:
                prefix = offset
            continue
        result.append((prefix if prefix >= 0 and _EVENT_AT_PREFIX else offset, operation))
        prefix = -1
    return result


def points(code: CodeType, granularity: str) -> list[int]:
    """The event offsets of the yield points of a code object, at granularity ``access`` or ``gil``."""
    if granularity == ACCESS:
        return [offset for offset, operation in instructions(code) if operation in ACCESS_OPCODES]
    return sorted(gil_points(code))


def gil_points(code: CodeType) -> set[int]:
    """Where the interpreter may hand the GIL over: at function entry, at backward jumps, and after calls."""
    always, after_calls = _gil_checks(code)
    return always | after_calls


def _gil_checks(code: CodeType) -> tuple[set[int], set[int]]:
    """Where the interpreter looks whether another thread wants to run: (always, if what was called is written in C).

    From a function in Python it returns without looking: that call is no call of the interpreter itself.
    """
    always, after_calls = set(), set()
    after_call = False
    for offset, operation in instructions(code):
        if operation == _RESUME:
            always.add(offset)
        if after_call:
            after_calls.add(offset)
        if operation in _JUMPS_BACK:
            # The interpreter looks after the jump is taken; nothing shared is touched between the two.
            always.update((offset, _jump_target(code.co_code, offset)))
        after_call = operation in CALL_OPCODES
    return always, after_calls - always


def _jump_target(units: bytes, offset: int) -> int:
    distance = units[offset + 1]
    while units[offset] == _EXTENDED_ARG:
        offset += 2
        distance = distance << 8 | units[offset + 1]
    position, factor = offset - 2, 8
    while not _EVENT_AT_PREFIX and position >= 0 and units[position] == _EXTENDED_ARG:
        distance |= units[position + 1] << factor
        position, factor = position - 2, factor + 8
    after = offset + 2
    while after < len(units) and units[after] == _CACHE:
        after += 2
    target = after - 2 * distance
    while not _EVENT_AT_PREFIX and units[target] == _EXTENDED_ARG:
        target += 2
    return target


def reachable_under_gil(code: CodeType, offset: int) -> tuple[bool, bool]:
    """Whether a switch before this instruction is possible under the GIL of this interpreter.

    It is, if between a place where the interpreter looks for switches and this instruction no other access stands: a
    switch there has the same effect.

    Returns:
        (possible, only if the call before it was of a function in C).
    """
    listing = instructions(code)
    always, after_calls = _gil_checks(code)
    index = next((i for i, (start, _) in enumerate(listing) if start == offset), -1)
    while index >= 0:
        start, _ = listing[index]
        if start in always or start in after_calls:
            return True, start not in always
        index -= 1
        if index >= 0 and listing[index][1] in ACCESS_OPCODES:
            # The access before has no check between it and us, or the loop would have ended there.
            return False, False
    return True, False


def describe(code: CodeType, offset: int) -> tuple[int, int, str]:
    """(line, column, instruction) of an instruction; the column counts from 1, 0 where it is not known."""
    units = code.co_code
    while offset > 0 and units[offset] == _CACHE:
        offset -= 2  # an instruction in progress stands at its last cache entry
    index = offset // 2
    for number, (line, _, column, _) in enumerate(code.co_positions()):
        if number >= index:
            while units[offset] == _EXTENDED_ARG:
                offset += 2
            return line or code.co_firstlineno, 0 if column is None else column + 1, opname[units[offset]]
    return code.co_firstlineno, 0, "?"
