"""What stands on the stack before each instruction: how much, and where it came from.

Rules of this module:

* The bytecode is followed along all its paths, so the depth of the stack is known wherever it is known at all: the
  interpreter's own ``stack_effect`` tells what an instruction does to it.
* Expressions say how the code reached a value, in the program's own names. They are for people, and for reading values
  where the stack itself cannot be read. Where two paths meet with different ones, or after an instruction that is not
  known here, there is none.
"""

from __future__ import annotations

from _opcode import stack_effect  # type: ignore[import-not-found]

from ..compat import (
    ATTR_HAS_METHOD_BIT,
    BACKWARD_JUMPS,
    CONSTANT_LOADS,
    EFFECTS,
    ENTER_EFFECT,
    HAVE_ARGUMENT,
    ITERATOR_PLACES,
    JUMPS,
    LOCAL_LOADS,
    NAMES,
    NULL_ABOVE_GLOBAL,
    PAIRS,
    UNCONDITIONAL,
    constant_of,
    number_of_interpreter,
)
from ..points.bytecode import instructions

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

    from ..points.bytecode import Instruction

    # ("local", name), ("global", name), ("name", name), ("cell", name), ("constant", value),
    # ("attribute", base, name), ("method", base, name), ("item", base, key), ("call", callable, arguments); or None.
    Expression = tuple[Any, ...] | None
    Stack = tuple[Expression, ...]

_MOST_STEPS = 20  # instructions followed to see whether a value is tested
_MOST_TO_TRUTH = 5  # and to see whether that is for its truth, as it is
_BUILDS = frozenset({"BUILD_TUPLE", "BUILD_LIST", "BUILD_SET", "BUILD_STRING"})
# No yield points, but they look at a whole container.
_GOES_THROUGH = frozenset(
    ["GET_ITER", "UNPACK_SEQUENCE", "UNPACK_EX", "LIST_EXTEND", "SET_UPDATE", "DICT_UPDATE", "DICT_MERGE"]
)
# Between a value and the jump that depends on it.
_TESTING = frozenset(
    (
        *(*CONSTANT_LOADS, "LOAD_FAST", "LOAD_GLOBAL", "LOAD_DEREF", "LOAD_ATTR", "LOAD_METHOD"),
        *("COMPARE_OP", "IS_OP", "CONTAINS_OP", "BINARY_SUBSCR", "UNARY_NOT", "TO_BOOL", "UNPACK_SEQUENCE"),
        *("PRECALL", "CALL", "PUSH_NULL", "KW_NAMES", "COPY", "SWAP", "CACHE", "NOP"),
    )
)


_OF_TWO = ("BINARY_OP", "COMPARE_OP", "IS_OP", "CONTAINS_OP", "BINARY_SUBSCR")
_LEAVE = ("UNARY_NOT", "UNARY_NEGATIVE", "TO_BOOL", "PRECALL", "CACHE", "NOP")


class Operands:
    """The instructions of a code object, each with the stack before it.

    Attributes:
        at: for each event offset, (name, argument, the stack before it).
        listing: the instructions.
        handed_on: the event offsets of instructions whose result the function returns at once, as it is.
        keywords: the names of the last arguments of calls, by event offset, where they are not on the stack.
        returned: the event offsets of instructions whose result, or what is computed from it, the function returns.
        taken_apart: the event offsets of loads whose value the next instruction goes through, or starts to.
        tested: the event offsets of instructions whose result decides a jump soon after.
        truth: the event offsets of loads whose value is tested for being empty, or for being true at all.
        truth_unkept: the same, without those that a local variable has by then.
    """

    __slots__ = (
        "at",
        "code",
        "handed_on",
        "keywords",
        "listing",
        "returned",
        "taken_apart",
        "tested",
        "truth",
        "truth_unkept",
    )

    def __init__(self, code: CodeType) -> None:
        self.code = code
        self.at: dict[int, tuple[str, int, Stack]] = {}
        listing = self.listing = instructions(code)
        self.keywords: dict[int, tuple[str, ...]] = {}
        names: tuple[str, ...] = ()
        stacks = _stacks(code, listing)
        for (start, operation, argument, _), stack in zip(listing, stacks, strict=True):
            name = NAMES[operation]
            if stack is not None:
                self.at[start] = (name, argument, stack)
            if name == "KW_NAMES":
                names = code.co_consts[argument]
            elif name == "CALL" and names:
                self.keywords[start], names = names, ()
        self.tested = _tested(listing)
        following = [NAMES[operation] for _, operation, _, _ in listing[1:]]
        self.returned = frozenset(start for index, (start, *_) in enumerate(listing) if _returns(listing, index + 1))
        self.handed_on = frozenset(
            start for (start, *_), name in zip(listing, following, strict=False) if name == "RETURN_VALUE"
        )
        self.taken_apart = frozenset(
            start for (start, *_), name in zip(listing, following, strict=False) if name in _GOES_THROUGH
        )
        self.truth = frozenset(
            start for index, (start, *_) in enumerate(listing) if is_asked_for_truth(listing, index + 1)
        )
        self.truth_unkept = frozenset(
            start for index, (start, *_) in enumerate(listing) if is_asked_for_truth(listing, index + 1, kept=False)
        )


def variables(code: CodeType) -> tuple[str, ...]:
    """The names of a code object's variables, in the order in which frames hold them."""
    cells = tuple(name for name in code.co_cellvars if name not in code.co_varnames)
    return code.co_varnames + cells + code.co_freevars


def _tested(listing: list[Instruction]) -> frozenset[int]:
    """The instructions whose result decides a jump, directly or through a local variable."""
    return frozenset(start for index, (start, *_) in enumerate(listing) if _decides(listing, index + 1))


def _decides(listing: list[Instruction], index: int, *, through_variable: bool = True) -> bool:
    for number in range(index, min(index + _MOST_STEPS, len(listing))):
        _, operation, argument, _ = listing[number]
        name = NAMES[operation]
        if name.startswith("POP_JUMP") or name.endswith("_OR_POP"):
            return True
        if name == "BINARY_OP":  # a result that is kept is another value
            through_variable = False
            continue
        if name == "STORE_FAST" and number > index and NAMES[listing[number - 1][1]] == "COPY":
            continue  # `:=` keeps the value on the stack, too
        if name == "STORE_FAST" and through_variable:
            later = range(number + 1, min(number + _MOST_STEPS, len(listing)))
            loads = [at for at in later if (NAMES[listing[at][1]], listing[at][2]) == ("LOAD_FAST", argument)]
            return bool(loads) and _decides(listing, loads[0] + 1, through_variable=False)
        if name not in _TESTING:
            return False
    return False


def _returns(listing: list[Instruction], index: int) -> bool:
    """Whether the function returns the value that is on top of the stack, or what it computes from that at once.

    The end of a ``with`` block may stand in between.
    """
    above = 0  # values on top of it
    for _, operation, argument, _ in listing[index : index + _MOST_STEPS]:
        name = NAMES[operation]
        if name == "RETURN_VALUE":
            return above == 0
        if name in LOCAL_LOADS or name in CONSTANT_LOADS:
            above += 1
        elif name == "LOAD_GLOBAL":
            above += 1 + (argument & 1)
        elif name in ("LOAD_ATTR", "LOAD_METHOD"):
            above += name == "LOAD_METHOD" or (ATTR_HAS_METHOD_BIT and argument & 1)
        elif name == "SWAP":
            above = argument - 1 if above == 0 else 0 if above == argument - 1 else above
        elif name in _OF_TWO:
            above = max(0, above - 1)
        elif name == "CALL":
            above = max(0, above - argument - 1)
        elif name == "POP_TOP" and above > 0:
            above -= 1
        elif name not in _LEAVE:
            return False
    return False


def is_asked_for_truth(listing: list[Instruction], index: int, *, kept: bool = True) -> bool:
    """Whether the value that is on top of the stack before an instruction is tested for its truth, as it is.

    Perhaps through a local variable, but then at once.

    Args:
        listing: the instructions of a code object.
        index: the number of the instruction.
        kept: whether a local variable may have it, too.
    """
    variable: int | None = None  # which has the value, while it is not on the stack
    for _, operation, argument, _ in listing[index : index + _MOST_TO_TRUTH]:
        name = NAMES[operation]
        if variable is not None:
            if (name, argument) != ("LOAD_FAST", variable):
                return False
            variable = None
        elif name in ("TO_BOOL", "UNARY_NOT") or name.endswith("_OR_POP"):
            return True
        elif name.startswith("POP_JUMP"):
            return not name.endswith("NONE")
        elif name == "STORE_FAST" and kept:
            variable = argument
        elif name not in ("COPY", "NOP", "CACHE"):
            return False
    return False


def _stacks(code: CodeType, listing: list[Instruction]) -> list[Stack | None]:
    """The stack before each instruction; None where it is not known."""
    stacks: list[Stack | None] = [None] * len(listing)
    begins, number = {}, 0
    for index, (_, _, _, end) in enumerate(listing):
        begins[number] = index  # jumps lead to the prefixes of an instruction
        number = end
    pending: list[tuple[int, Stack]] = [(0, ())]
    for target, depth in handlers(code):
        if target in begins:
            pending.append((begins[target], (None,) * depth))
    while pending:
        index, stack = pending.pop()
        if index >= len(listing):
            continue
        known = stacks[index]
        if known is not None:
            if len(known) != len(stack):
                stacks[index] = None  # cannot be; but then nothing must be read here
                continue
            stack = tuple(a if a == b else None for a, b in zip(known, stack, strict=True))
            if stack == known:
                continue
        stacks[index] = stack
        _, operation, argument, end = listing[index]
        name = NAMES[operation]
        if operation in JUMPS:
            target = end + (-2 if operation in BACKWARD_JUMPS else 2) * argument
            after = _after(code, operation, argument, stack, jump=True)
            if target in begins and after is not None:
                pending.append((begins[target], after))
        if name not in UNCONDITIONAL:
            after = _after(code, operation, argument, stack, jump=False)
            if after is not None:
                pending.append((index + 1, after))
    return stacks


def _after(code: CodeType, operation: int, argument: int, stack: Stack, *, jump: bool) -> Stack | None:
    """The stack after an instruction."""
    name = NAMES[operation]
    effect = effect_on_depth(operation, argument, jump=jump)
    if effect is None or len(stack) + effect < 0:
        return None
    depth = len(stack) + effect
    values = list(stack)
    if not (jump or _follow(code, name, argument, values)) or len(values) != depth:
        kept = min(depth, len(stack)) if name in ("FOR_ITER", "RESUME") else 0
        values = [*stack[:kept], *[None] * (depth - kept)]
    return tuple(values)


def effect_on_depth(operation: int, argument: int, *, jump: bool) -> int | None:
    """How many values more an instruction leaves on the stack; None if that is not known.

    Args:
        operation: its number.
        argument: its argument.
        jump: whether it jumps.
    """
    name = NAMES[operation]
    if name in ("PRECALL", "CALL"):  # the interpreter's table splits the effect of both in another way
        return 0 if name == "PRECALL" else -argument - 1
    if name == "RETURN_GENERATOR":  # which resumes with a value that is popped
        return 1
    known = number_of_interpreter(operation)
    try:
        effect: int = stack_effect(known, argument if known >= HAVE_ARGUMENT else None, jump=jump)
    except ValueError:
        return None
    return effect


def _follow(code: CodeType, name: str, argument: int, stack: list[Expression]) -> bool:
    """Do to the expressions what the instruction does to values; whether that is known."""
    names = code.co_names
    if name in PAIRS:
        first, second = PAIRS[name]
        return _follow(code, first, argument >> 4, stack) and _follow(code, second, argument & 15, stack)
    if name in ("LOAD_DEREF", "LOAD_CLASSDEREF"):
        stack.append(("cell", variables(code)[argument]))
    elif name in LOCAL_LOADS:
        stack.append(("local", variables(code)[argument]))
    elif name in CONSTANT_LOADS:
        stack.append(("constant", constant_of(name, argument, code.co_consts)))
    elif name == "LOAD_NAME":
        stack.append(("name", names[argument]))
    elif name == "LOAD_GLOBAL":
        value = ("global", names[argument >> 1])
        if not argument & 1:
            stack.append(value)
        else:
            stack += [value, None] if NULL_ABOVE_GLOBAL else [None, value]
    elif name in ("LOAD_ATTR", "LOAD_METHOD"):
        shifted = name == "LOAD_ATTR" and ATTR_HAS_METHOD_BIT
        base = stack.pop() if stack else None
        attribute = names[argument >> 1 if shifted else argument]
        if name == "LOAD_METHOD" or (shifted and argument & 1):
            method = None if base is None else ("method", base, attribute)
            stack += [method, base]
        else:
            stack.append(None if base is None else ("attribute", base, attribute))
    elif name == "BINARY_SUBSCR" and len(stack) > 1:
        key, base = stack.pop(), stack.pop()
        stack.append(None if base is None else ("item", base, key))
    elif name == "COPY" and 0 < argument <= len(stack):
        stack.append(stack[-argument])
    elif name == "SWAP" and 0 < argument <= len(stack):
        stack[-1], stack[-argument] = stack[-argument], stack[-1]
    elif name == "GET_ITER" and stack:  # an iterator is named as what it goes over
        stack += [None] * (ITERATOR_PLACES - 1)
    elif name == "FOR_ITER":
        stack.append(None)
    elif name in ("CALL", "CALL_KW"):
        taken = argument + 2 + (name == "CALL_KW")
        if len(stack) < taken:
            return False
        called = stack[-taken] or stack[1 - taken]
        del stack[-taken:]
        stack.append(_result(called))
    elif name in _BUILDS:
        if argument:
            del stack[-argument:]
        stack.append(None)
    elif name in EFFECTS or name == "BEFORE_WITH":
        takes, puts = EFFECTS.get(name, ENTER_EFFECT)
        if takes:
            del stack[-takes:]
        stack += [None] * puts
    else:
        return False
    return True


def _result(called: Expression) -> Expression:
    """What a call gives, by what is called; a method that is called in a row of calls has no short name."""
    way: list[str] = []
    one = called
    while one is not None and one[0] in ("method", "attribute"):
        way.append(one[2])
        one = one[1]
    if one is None or one[0] not in ("local", "cell", "name", "global"):
        return None
    return ("result", f"{'.'.join([one[1], *way[::-1]])}()")


def handlers(code: CodeType) -> list[tuple[int, int]]:
    """(offset, depth of the stack) where handlers of exceptions begin."""
    found: list[tuple[int, int]] = []
    table = iter(code.co_exceptiontable)
    while True:
        try:
            _, _, target, depth = _number(table), _number(table), _number(table), _number(table)
        except StopIteration:
            return found
        # The exception is pushed, below it the place it came from if the lowest bit says so.
        found.append((2 * target, (depth >> 1) + (depth & 1) + 1))


def _number(table: Any) -> int:
    """The next number of an exception table: six bits in each byte, the first ones first."""
    byte = next(table)
    number: int = byte & 63
    while byte & 64:
        byte = next(table)
        number = number << 6 | byte & 63
    return number
