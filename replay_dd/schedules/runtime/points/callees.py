"""What a call is about to call, told without running code of the program; for interpreters that do not tell it.

The values on the interpreter's stack cannot be seen. The callable is followed as an expression, as in ``touches.py``:
a variable, an attribute of one. Whatever else comes up is unknown.
"""

from __future__ import annotations

import sys

from ..compat import NAMES
from .bytecode import instructions
from .touches import _at, _follow, _jump_targets

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

    from .touches import Expression

UNKNOWN = object()
_mro = type.__dict__["__mro__"].__get__
_dict_of = type.__dict__["__dict__"].__get__
_of_module = type(sys)


class Callees:
    """Knows what the calls of code objects call."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[CodeType, dict[int, Expression]]] = {}

    def at(self, code: CodeType, offset: int, frame: FrameType) -> object:
        """What the instruction at this offset is about to call; :data:`UNKNOWN` if that cannot be told."""
        known = self._known.get(id(code))
        if known is None:
            known = self._known[id(code)] = (code, _expressions(code))
        expression = known[1].get(offset)
        return UNKNOWN if expression is None else _value(expression, frame)


def _expressions(code: CodeType) -> dict[int, Expression]:
    """The expression of the callable of each CALL, by its offset."""
    found: dict[int, Expression] = {}
    stack: list[Expression] = []
    listing = instructions(code)
    targets = _jump_targets(listing)
    for start, operation, argument, _ in listing:
        name = NAMES[operation]
        if start in targets:
            stack.clear()
        if name == "CALL":
            # Below the arguments: the callable above an empty place, or a method above which its object is.
            found[start] = _at(stack, argument + 2) or _at(stack, argument + 1)
        base = _at(stack, 1)
        _follow(code, name, argument, stack)
        if name == "LOAD_METHOD" and base is not None:
            stack[-2] = ("attribute", base, code.co_names[argument])
    return found


def _value(expression: Any, frame: FrameType) -> Any:
    kind, *rest = expression
    if kind in ("local", "name") and rest[0] in frame.f_locals:
        return frame.f_locals[rest[0]]
    if kind in ("name", "global"):
        return frame.f_globals.get(rest[0], frame.f_builtins.get(rest[0], UNKNOWN))
    if kind != "attribute":
        return UNKNOWN
    base = _value(rest[0], frame)
    return UNKNOWN if base is UNKNOWN else _attribute(base, rest[1])


def _attribute(base: Any, name: str) -> Any:
    """An attribute as it stands in the instance, the module or the class."""
    kind = type(base)
    if _has_own_lookup(kind) and kind is not _of_module:
        return UNKNOWN
    found = UNKNOWN
    if kind is type:
        found = _in_classes(_mro(base), name)
    else:
        try:
            own = object.__getattribute__(base, "__dict__")
        except AttributeError:
            own = {}
        if type(own) is dict and name in own:
            return own[name]
        found = _in_classes(_mro(kind), name)
    return found.__func__ if type(found) in (staticmethod, classmethod) else found


def _has_own_lookup(kind: type) -> bool:
    """Whether objects of a class find their attributes in a way of their own."""
    if kind is type:
        return False
    return any("__getattribute__" in _dict_of(base) for base in _mro(kind) if base is not object and base is not type)


def _in_classes(classes: Any, name: str) -> Any:
    return next((_dict_of(one)[name] for one in classes if name in _dict_of(one)), UNKNOWN)
