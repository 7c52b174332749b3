"""Where the values come from that each instruction works on: which instructions produced them.

Rules of this module:

* It is said of code, not of a run: on the way to an instruction, its operand was produced by the latest of these
  instructions that its function executed.
* The depth of the stack is that of ``operands.py``, by the interpreter's own ``stack_effect``. Where it is not known
  how many of its values an instruction takes, what it leaves counts as made of the topmost one.
"""

from __future__ import annotations

from ..compat import (
    ATTR_HAS_METHOD_BIT,
    COMPARE_SHIFT,
    EFFECTS,
    ENTER_EFFECT,
    ITERATOR_PLACES,
    JUMPS,
    NAMES,
    PAIRS,
    STAR_CALL_HAS_FLAG,
    cmp_op,
)
from ..points.bytecode import instructions, successors
from .operands import effect_on_depth, handlers, variables

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from types import CodeType

    # Which results of which instructions: index of the instruction times 2, plus 1 for the second thing it leaves.
    Producers = frozenset[int]
    Stack = tuple[Producers, ...]
    # (name, argument in words, line, producers of each operand, local variables that it loads, that it stores,
    # indices of what can come next)
    Row = tuple[str, str, int, tuple[tuple[int, ...], ...], tuple[str, ...], tuple[str, ...], tuple[int, ...]]

_NOTHING: Producers = frozenset()
_TAKES_ARGUMENT = frozenset(["BUILD_TUPLE", "BUILD_LIST", "BUILD_SET", "BUILD_STRING", "BUILD_SLICE", "RAISE_VARARGS"])
_TAKES = {
    **dict.fromkeys(("LOAD_ATTR", "LOAD_METHOD", "FORMAT_SIMPLE", "CONVERT_VALUE", "UNPACK_SEQUENCE", "UNPACK_EX"), 1),
    **dict.fromkeys(("LIST_APPEND", "SET_ADD", "LIST_EXTEND", "SET_UPDATE", "DICT_UPDATE", "DICT_MERGE"), 1),
    **dict.fromkeys(("RETURN_VALUE", "YIELD_VALUE", "CALL_INTRINSIC_1", "GET_LEN"), 1),
    "BEFORE_WITH": ENTER_EFFECT[0],
    **dict.fromkeys(("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_CLOSURE", "IMPORT_FROM"), 0),
    **dict.fromkeys(
        ("LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_LOAD_FAST", "LOAD_BUILD_CLASS", "LOAD_ASSERTION_ERROR"), 0
    ),
    **dict.fromkeys(("MAP_ADD", "CALL_INTRINSIC_2", "IMPORT_NAME", "FORMAT_WITH_SPEC", "STORE_FAST_STORE_FAST"), 2),
    "STORE_FAST_LOAD_FAST": 1,
    "LOAD_SUPER_ATTR": 3,
    "SEND": 1 + ITERATOR_PLACES,
}
_POPS = ("END_FOR", "POP_EXCEPT", "POP_TOP", "POP_ITER")
_LOADS = ("LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_AND_CLEAR")


def flow_of(code: CodeType) -> list[Row]:
    """The instructions of a code object, each with what produced its operands."""
    listing = instructions(code)
    stacks, following = _stacks(code, listing), successors(listing)
    lines = [position[0] or code.co_firstlineno for position in code.co_positions()]
    rows = []
    for index, (start, operation, argument, _) in enumerate(listing):
        name, stack = NAMES[operation], stacks[index]
        operands: tuple[tuple[int, ...], ...] = ()
        if stack:
            takes = _takes(name, argument, 1)
            operands = tuple([tuple(sorted(one)) for one in stack[-takes:]]) if takes else ()
        loads, stores = _locals(code, name, argument)
        rows.append((name, _text(code, name, argument), lines[start // 2], operands, loads, stores, following[index]))
    return rows


def depths(code: CodeType) -> dict[int, tuple[int, str, int, int]]:
    """For each event offset whose stack is known: (index, name, values on the stack, values taken)."""
    listing = instructions(code)
    found = {}
    for index, ((start, operation, argument, _), stack) in enumerate(zip(listing, _stacks(code, listing), strict=True)):
        name = NAMES[operation]
        found[start] = (index, name, -1 if stack is None else len(stack), _takes(name, argument, 0))
    return found


def _takes(name: str, argument: int, unknown: int) -> int:
    """How many values an instruction takes from the stack."""
    if name in _TAKES:
        return _TAKES[name]
    if name in EFFECTS:
        return EFFECTS[name][0]
    if name in _TAKES_ARGUMENT:
        return argument
    if name in ("CALL", "CALL_KW"):
        return argument + 2 + (name == "CALL_KW")
    if name == "CALL_FUNCTION_EX":
        return 3 + (argument & 1 if STAR_CALL_HAS_FLAG else 1)
    if name == "BUILD_MAP":
        return 2 * argument
    if name == "BUILD_CONST_KEY_MAP":
        return argument + 1
    if name == "FORMAT_VALUE":
        return 2 if argument & 4 else 1
    if name == "FOR_ITER":
        return ITERATOR_PLACES
    if name.startswith("POP_JUMP") or name.endswith("_OR_POP"):
        return 1
    return unknown


def _text(code: CodeType, name: str, argument: int) -> str:
    if name == "COMPARE_OP":
        return cmp_op[argument >> COMPARE_SHIFT]
    if name == "IS_OP":
        return "is not" if argument else "is"
    if name == "CONTAINS_OP":
        return "not in" if argument else "in"
    if name in ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "DELETE_ATTR"):
        return code.co_names[argument >> 1 if name == "LOAD_ATTR" and ATTR_HAS_METHOD_BIT else argument]
    if name in ("LOAD_GLOBAL", "LOAD_NAME", "STORE_NAME", "STORE_GLOBAL"):
        return code.co_names[argument >> 1 if name == "LOAD_GLOBAL" else argument]
    if name in ("CALL", "CALL_KW", "CALL_FUNCTION_EX", "RAISE_VARARGS"):
        return str(argument)
    return ""


def _locals(code: CodeType, name: str, argument: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(the local variables that an instruction loads, those that it stores), in the order in which it does."""
    if name in PAIRS:
        first, second = PAIRS[name]
        one, other = _locals(code, first, argument >> 4), _locals(code, second, argument & 15)
        return one[0] + other[0], one[1] + other[1]
    if name in _LOADS:
        return (variables(code)[argument],), ()
    return (), ((variables(code)[argument],) if name == "STORE_FAST" else ())


def _stacks(code: CodeType, listing: list[tuple[int, int, int, int]]) -> list[Stack | None]:
    """The stack before each instruction; None where it is not known."""
    stacks: list[Stack | None] = [None] * len(listing)
    ways = successors(listing)
    ends = [end for _, _, _, end in listing]
    pending: list[tuple[int, Stack]] = [(0, ())]
    for target, depth in handlers(code):
        pending += [(number, (_NOTHING,) * depth) for number, end in enumerate(ends) if end > target][:1]
    while pending:
        index, stack = pending.pop()
        known = stacks[index]
        if known is not None:
            if len(known) != len(stack):
                continue
            stack = tuple([one | other for one, other in zip(known, stack, strict=True)])
            if stack == known:
                continue
        stacks[index] = stack
        following = ways[index]
        for number in following:
            jumps = number != index + 1 or (len(following) == 1 and listing[index][1] in JUMPS)
            after = _after(listing[index], index, stack, jumps)
            if after is not None and number < len(listing):
                pending.append((number, after))
    return stacks


def _after(instruction: tuple[int, int, int, int], index: int, stack: Stack, jump: bool) -> Stack | None:
    """The stack after an instruction."""
    _, operation, argument, _ = instruction
    name = NAMES[operation]
    effect = effect_on_depth(operation, argument, jump=jump)
    if effect is None or len(stack) + effect < 0:
        return None
    depth = len(stack) + effect
    if name == "COPY" and 0 < argument <= len(stack):
        return (*stack, stack[-argument])
    if name == "SWAP" and 0 < argument <= len(stack):
        values = list(stack)
        values[-1], values[-argument] = values[-argument], values[-1]
        return tuple(values)
    if name in _POPS:
        return stack[:depth]
    if name == "END_SEND" and len(stack) > ITERATOR_PLACES:
        return (*stack[: -1 - ITERATOR_PLACES], stack[-1])
    if name == "SEND" and effect == 0:  # it leaves the iterator below what that gave
        return (*stack[:-1], frozenset([2 * index]))
    if jump and depth <= len(stack):
        return stack[:depth]
    takes = (
        0
        if name in ("FOR_ITER", "PRECALL", "GET_LEN")
        else _takes(name, argument, max(0, 1 - effect) if effect < 0 else 0)
    )
    kept = min(max(0, len(stack) - takes), depth)
    own = [frozenset([2 * index]), *[frozenset([2 * index + 1])] * (depth - kept - 1)] if depth > kept else []
    return (*stack[:kept], *own)
