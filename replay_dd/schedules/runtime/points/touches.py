"""What each instruction of a code object touches that other threads may see, as far as its bytecode tells.

The values on the interpreter's stack cannot be seen from here. So the straight-line code before an instruction is
followed with expressions in the place of values: a local or global variable, an attribute of one. Whatever else comes
up is unknown (None), and so is everything at a place that can be jumped to.
"""

from __future__ import annotations

import gc as _gc
import os
from itertools import pairwise

from ..compat import (
    ATTR_HAS_METHOD_BIT,
    BACKWARD_JUMPS,
    EFFECTS,
    ITERATOR_PLACES,
    JUMPS,
    LOCAL_LOADS,
    NAMES,
    NULL_ABOVE_GLOBAL,
    PAIRS,
    TRUTH_TESTS,
)
from ..observing import attribute, attributes_of, is_a, local_value, variable
from .bytecode import instructions
from .methods import ASKING_FUNCTIONS, CONTAINERS, CONTENT, FILE, ITERATORS

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

    from .bytecode import Instruction

    # ("local", name), ("name", name), ("global", name), ("globals",), ("attribute", expression, name), ("iterator",
    # expression), ("iterated", expression), ("container", expression) for what is one, ("method", expression, name),
    # ("attributes", expression) for the dictionary of all, ("path", expression of what has the function, expression of
    # what it is given), or None
    Expression = tuple[Any, ...] | None
    # What an instruction touches: which object, what of it, whether it may change that; or the name of the method,
    # which tells that (``methods.py``).
    Touched = tuple[Expression, str, bool | str] | None
    # Event offset in bytes (-1 for the first half of an instruction that does two things), name, what it touches.
    Access = tuple[int, str, Touched]

_ARGUMENT = ".0"  # of a comprehension: an iterator, or what it goes through since 3.15
_VIEWS = ("items", "keys", "values", "__iter__")  # methods of a container that give what goes through it
# Functions that look into their argument.
_LOOK_THROUGH = frozenset(
    ["all", "any", "dict", "frozenset", "len", "list", "max", "min", "set", "sorted", "sum", "tuple"]
)
_HAND_ON = ("enumerate", "iter", "reversed")  # what is iterated then is their argument


def accesses(code: CodeType) -> list[Access]:
    """What each instruction touches, in the order of the code."""
    found: list[Access] = []
    stack: list[Expression] = []
    listing = instructions(code)
    targets = _jump_targets(listing)
    steps = _in_single_steps(listing)
    for (offset, name, argument), (_, following, _) in pairwise([*steps, (-1, "", 0)]):
        if offset in targets:  # the iterator of a loop is the same whenever it is asked
            kept = name == "FOR_ITER" and _is_iterator(_at(stack, ITERATOR_PLACES))
            stack[:] = stack[-ITERATOR_PLACES:] if kept else []
        if name in TRUTH_TESTS and _at(stack, 1) is not None and found[-1][2] is not None:
            found.append((found[-1][0], name, (stack[-1], CONTENT, "__len__")))  # it has just been loaded
        touched = _touched(code, name, argument, stack)
        found.append((offset, name, touched))
        if name == "CALL" and argument:
            found += _asked_of_file(found, argument, stack)
        given = _at(stack, argument) if name == "CALL" and argument else None
        _follow(code, name, argument, stack)
        if following == "GET_ITER" and given is not None and _at(stack, 1) is None:
            stack[-1] = ("container", given)  # the iterator is the function's, which mostly goes through what it got
    return found


def value_of(expression: Expression, frame: FrameType) -> object:
    """The value of an expression in a frame, None where it cannot be told without running code of the program."""
    if expression is None:
        return None
    kind = expression[0]
    if kind == "local":
        return local_value(frame, expression[1])
    if kind == "name":
        return variable(frame, expression[1])
    if kind == "global":
        return frame.f_globals.get(expression[1]) if type(frame.f_globals) is dict else None
    if kind == "globals":
        return frame.f_globals
    if kind == "iterator":
        return value_of(expression[1], frame)
    if kind == "iterated":
        return _iterated(value_of(expression[1], frame))
    if kind == "container":
        given = value_of(expression[1], frame)
        return given if is_a(given, CONTAINERS) else None
    if kind == "method":
        return None
    if kind == "attributes":
        return attributes_of(value_of(expression[1], frame)) or None
    if kind == "path":
        module = value_of(expression[1], frame)
        return value_of(expression[2], frame) if module is os or module is os.path else None
    return attribute(value_of(expression[1], frame), expression[2])


def _is_iterator(expression: Expression) -> bool:
    return expression is not None and (expression[0] == "iterator" or expression == ("local", _ARGUMENT))


def _iterated(iterator: object) -> object:
    """What an iterator of the interpreter's own goes through, None if that cannot be told."""
    if is_a(iterator, CONTAINERS):
        return iterator
    if type(iterator) not in ITERATORS:
        return None
    return next((one for one in _gc.get_referents(iterator) if is_a(one, CONTAINERS)), None)


def _in_single_steps(listing: list[Instruction]) -> list[tuple[int, str, int]]:
    """(event offset, name, argument); those that do two things stand as two."""
    result: list[tuple[int, str, int]] = []
    for start, operation, argument, _ in listing:
        name = NAMES[operation]
        if name in PAIRS:
            first, second = PAIRS[name]
            result += [(-1, first, argument >> 4), (start, second, argument & 15)]
        else:
            result.append((start, name, argument))
    return result


def _jump_targets(listing: list[Instruction]) -> set[int]:
    """Where jumps lead; handlers of exceptions need not be told, as their first instruction is unknown to us."""
    return {
        end + (-2 if operation in BACKWARD_JUMPS else 2) * argument
        for _, operation, argument, end in listing
        if operation in JUMPS
    }


def _touched(code: CodeType, name: str, argument: int, stack: list[Expression]) -> Touched:
    names = code.co_names
    if name in ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "DELETE_ATTR"):
        base = _at(stack, 1)
        if name == "LOAD_METHOD" or (name == "LOAD_ATTR" and ATTR_HAS_METHOD_BIT and argument & 1):
            return base, CONTENT, names[argument >> 1 if ATTR_HAS_METHOD_BIT and name == "LOAD_ATTR" else argument]
        if name == "LOAD_ATTR":
            return base, names[argument >> 1 if ATTR_HAS_METHOD_BIT else argument], False
        return base, names[argument], True
    if name in ("LOAD_GLOBAL", "STORE_GLOBAL", "DELETE_GLOBAL"):
        return ("globals",), names[argument >> 1 if name == "LOAD_GLOBAL" else argument], name != "LOAD_GLOBAL"
    if name in ("LOAD_NAME", "STORE_NAME", "DELETE_NAME"):
        return ("globals",), names[argument], name != "LOAD_NAME"
    if name in ("LOAD_DEREF", "STORE_DEREF", "DELETE_DEREF"):
        return None, _variables(code)[argument], name != "LOAD_DEREF"
    if name in ("BINARY_SUBSCR", "STORE_SUBSCR", "DELETE_SUBSCR"):
        return _at(stack, 2), CONTENT, name != "BINARY_SUBSCR"
    if name == "CONTAINS_OP":
        return _at(stack, 1), CONTENT, False
    if name == "FOR_ITER":
        iterator = _at(stack, ITERATOR_PLACES)
        if iterator == ("local", _ARGUMENT):
            return ("iterated", iterator), CONTENT, "__iter__"
        return None if iterator is None or iterator[0] != "iterator" else (iterator, CONTENT, "__iter__")
    if name == "RETURN_VALUE" and code.co_name == "__iter__":  # whoever asked goes on with it
        returned = _at(stack, 1)
        return None if returned is None else (returned, CONTENT, "__iter__")
    if name == "CALL" and argument and _callee(stack, argument) in _LOOK_THROUGH:
        looked_at = _at(stack, argument)
        return None if looked_at is None else (looked_at, CONTENT, "__len__")
    return None


def _asked_of_file(found: list[Access], arguments: int, stack: list[Expression]) -> list[Access]:
    """A call by which the system is asked about a file, as an access where the function is loaded."""
    for depth in (arguments + 1, arguments + 2):
        function = _at(stack, depth)
        if function is not None and function[0] in ("attribute", "method") and function[2] in ASKING_FUNCTIONS:
            _, base, name = function
            loads = ((base, CONTENT, name), (base, name, False))
            offset = next((offset for offset, _, touched in reversed(found) if touched in loads), -1)
            return [(offset, "CALL", (("path", base, _at(stack, arguments)), FILE, False))]
    return []


def _callee(stack: list[Expression], arguments: int) -> str:
    """The name of the global function that is called; empty if it is none."""
    for depth in (arguments + 1, arguments + 2):
        function = _at(stack, depth)
        if function is not None and function[0] == "global":
            return str(function[1])
    return ""


def _at(stack: list[Expression], depth: int) -> Expression:
    return stack[-depth] if len(stack) >= depth else None


def _follow(code: CodeType, name: str, argument: int, stack: list[Expression]) -> None:
    """Do to the stack of expressions what the instruction does to the stack of values."""
    if name in LOCAL_LOADS:
        stack.append(("local", _variables(code)[argument]))
    elif name == "LOAD_NAME":
        stack.append(("name", code.co_names[argument]))
    elif name == "LOAD_GLOBAL":
        if argument & 1 and not NULL_ABOVE_GLOBAL:
            stack.append(None)  # below the callable; above it since 3.13
        stack.append(("global", code.co_names[argument >> 1]))
        if argument & 1 and NULL_ABOVE_GLOBAL:
            stack.append(None)
    elif name == "LOAD_ATTR":
        base = stack.pop() if stack else None
        if ATTR_HAS_METHOD_BIT and argument & 1:
            stack += [("method", base, code.co_names[argument >> 1]), None]
        else:
            attribute = code.co_names[argument >> 1 if ATTR_HAS_METHOD_BIT else argument]
            way = ("attributes", base) if attribute == "__dict__" else ("attribute", base, attribute)
            stack.append(None if base is None else way)
    elif name == "LOAD_METHOD":
        base = stack.pop() if stack else None
        stack += [("method", base, code.co_names[argument]), None]
    elif name == "COPY":
        stack.append(_at(stack, argument))
    elif name == "SWAP":
        if len(stack) >= argument:
            stack[-1], stack[-argument] = stack[-argument], stack[-1]
        else:
            stack.clear()
    elif name == "CALL":
        method, callee = _at(stack, argument + 2), _callee(stack, argument)
        given = _at(stack, argument) if argument else None
        del stack[-(argument + 2) :]
        if method is not None and method[0] == "method" and method[2] in _VIEWS:
            stack.append(method[1])
        elif callee == "vars" and given is not None:
            stack.append(("attributes", given))
        else:
            stack.append(given if callee in _HAND_ON else None)
    elif name == "GET_ITER":
        iterated = stack.pop() if stack else None
        if iterated != ("local", _ARGUMENT):
            iterated = None if iterated is None or iterated[0] == "method" else ("iterator", iterated)
        stack.append(iterated)
        stack += [None] * (ITERATOR_PLACES - 1)
    elif name == "RETURN_GENERATOR":
        stack.append(None)  # what the first step gets, and drops
    elif name in ("BUILD_TUPLE", "BUILD_LIST", "BUILD_STRING", "BUILD_SET"):
        if argument:
            del stack[-argument:]
        stack.append(None)
    elif name in EFFECTS:
        takes, puts = EFFECTS[name]
        if takes:
            del stack[-takes:]
        stack += [None] * puts
    else:
        stack.clear()


def _variables(code: CodeType) -> tuple[str, ...]:
    cells = tuple(name for name in code.co_cellvars if name not in code.co_varnames)
    return code.co_varnames + cells + code.co_freevars
