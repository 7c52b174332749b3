"""Values that are compared, as they are: who compares a container looks at all of it.

Rules of this module:

* Only what is compared before the next yield point counts: until then, no other thread changes what is found.
* The other side may be built in between, of constants and of local variables.
"""

from __future__ import annotations

from ..compat import ACCESSES, CONSTANT_LOADS, NAMES, PAIRS

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from ..points.bytecode import Instruction

_MOST_STEPS = 30  # from a value to where it is compared
_BUILDS = {"BUILD_LIST": 1, "BUILD_TUPLE": 1, "BUILD_SET": 1, "BUILD_MAP": 2}  # values taken for each in the argument
_ADDS_ONE = ("LIST_EXTEND", "SET_UPDATE", "DICT_UPDATE", "LIST_APPEND", "SET_ADD")
_NOTHING = ("NOP", "CACHE")


def is_compared(listing: list[Instruction], index: int) -> bool:
    """Whether the value that is on top of the stack before an instruction is compared with another one.

    Perhaps through a local variable, as in an assertion that a test runner has rewritten.

    Args:
        listing: the instructions of a code object.
        index: the number of the instruction.
    """
    stack = [True]  # which values are that one, above what was there before
    variables: set[int] = set()  # who has it, too
    for _, operation, argument, _ in listing[index : index + _MOST_STEPS]:
        name = NAMES[operation]
        if name == "COMPARE_OP":
            if any(stack[-2:]):
                return True
            if len(stack) < 2:
                return False
            stack[-2:] = [False]
            continue
        if operation in ACCESSES:
            return False
        if name in PAIRS:
            first, second = PAIRS[name]
            known = _follow(first, argument >> 4, stack, variables) and _follow(second, argument & 15, stack, variables)
        else:
            known = _follow(name, argument, stack, variables)
        if not known or not (any(stack) or variables):
            return False
    return False


def _follow(name: str, argument: int, stack: list[bool], variables: set[int]) -> bool:
    """Do to the values what the instruction does; whether that is known, and what is compared may follow."""
    if name == "LOAD_FAST":
        stack.append(argument in variables)
    elif name in CONSTANT_LOADS:
        stack.append(False)
    elif name == "STORE_FAST" and stack:
        variables.discard(argument)
        if stack.pop():
            variables.add(argument)
    elif name == "COPY" and argument <= len(stack):
        stack.append(stack[-argument])
    elif name == "SWAP" and argument <= len(stack):
        stack[-1], stack[-argument] = stack[-argument], stack[-1]
    elif name in _BUILDS and _BUILDS[name] * argument <= len(stack):
        taken = _BUILDS[name] * argument
        del stack[len(stack) - taken :]
        stack.append(False)
    elif name == "BUILD_CONST_KEY_MAP" and argument < len(stack):
        del stack[len(stack) - argument - 1 :]
        stack.append(False)
    elif name in _ADDS_ONE and len(stack) > 1:
        stack.pop()
    else:
        return name in _NOTHING
    return True
