"""What can be reached from some objects, as something that can be compared: whether a program is where it was before.

Rules of this module:

* Looking at an object runs no code of the program.
* Numbers, texts and raw memory are compared by their values, all others by their identity and what they refer to.
* An iterator in C counts, but does not show how far it has come. Those of the interpreter's own kinds tell it in other
  ways; with any other one, two states cannot be told apart.
"""

from __future__ import annotations

import gc
import sys

from ..observing import (
    attributes_of,
    class_module,
    full_type_name,
    in_class,
    is_a,
    is_made_in_python,
    local_value,
    own_attributes_of_class,
)
from ..stdlib.locks import Lock, RLock

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

_ancestors: Any = type.__dict__["__mro__"].__get__
_MOST_OBJECTS = 5_000
_MOST_BYTES = 100_000  # of one object
_PACKAGE = __name__.partition(".")[0] + "."
_VALUES = (str, bytes, int, float, complex)
_PLAIN = (*_VALUES, bool, type(None))
_MODULES_OF_VALUES = ("decimal", "datetime")
_MODULE, _FUNCTION, _CODE = type(sys), type(lambda: None), type((lambda: None).__code__)
_NOT_ENTERED = (_MODULE, _FUNCTION, _CODE, type(len), type(sys._getframe()), property, classmethod, staticmethod)
_METHOD = type(list.append)
_IN_PYTHON = (type(None), _FUNCTION)  # no such method, or one of a class in Python
_GENERATOR = type(_ for _ in "")
# They tell how much is left, without asking what they go through.
_CONTAINERS: Any = (
    (),
    [],
    {},
    {}.values(),
    {}.items(),
    set(),
    "",
    "\N{SNOWMAN}",
    b"",
    bytearray(),
    range(1),
    range(2**70),
)
_LEFT: Any = tuple([type(iter(container)) for container in _CONTAINERS])


class _Unseen(Exception):
    """Something may change that cannot be seen."""


def state_of(roots: list[object]) -> list[object] | None:
    """All that can be reached from some objects; None if that is too much, or some of it cannot be seen."""
    parts: list[object] = []
    seen: set[int] = set()
    showing_all: set[int] = set()
    left = roots[::-1]
    try:
        while left:
            thing = left.pop()
            if type(thing) in _PLAIN:
                parts.append((type(thing), thing))
                continue
            parts.append(id(thing))
            if id(thing) not in seen:
                seen.add(id(thing))
                if len(seen) > _MOST_OBJECTS:
                    return None
                _look_into(thing, parts, left, showing_all)
    except _Unseen:
        return None
    return parts


def _look_into(thing: Any, parts: list[object], left: list[object], showing_all: set[int]) -> None:
    """Add what an object contains to the parts of a state, and what it refers to to what is left to look at.

    Args:
        thing: the object.
        parts: of the state, so far.
        left: what is still to be looked at.
        showing_all: the classes met whose instances contain nothing but what they refer to; by identity, as a metaclass
            may have a hash of its own.
    """
    kind = type(thing)
    if id(kind) in showing_all:
        left += gc.get_referents(thing)
    elif is_a(thing, (Lock, RLock)):
        parts += [id(thing._holder), thing._count if is_a(thing, RLock) else None]
    elif is_a(thing, type):
        if is_made_in_python(thing):
            left += [value for _, value in own_attributes_of_class(thing)]
    elif kind not in _NOT_ENTERED and not class_module(kind).startswith(_PACKAGE):
        inside = _inside(thing)
        if inside is None and _shows_all(thing):
            showing_all.add(id(kind))
        else:
            parts.append(inside)
        left += attributes_of(thing).values()
        left += gc.get_referents(thing)


def _shows_all(thing: object) -> bool:
    """Whether an object that contains nothing of its own is of a class that never does."""
    kind = type(thing)
    if kind is _GENERATOR:
        return False
    if type(in_class(kind, "__buffer__")) is _FUNCTION:  # which is not asked
        return True
    try:
        memoryview(thing)  # type: ignore[arg-type]
    except TypeError:
        return True
    except (ValueError, BufferError):  # it has none now
        pass
    return False


def _inside(thing: Any) -> object:
    """What an object in C does not refer to, and yet contains; None if there is nothing like that.

    Raises:
        _Unseen: it may contain something that nothing tells.
    """
    kind = type(thing)
    for base in _ancestors(kind):
        if base in _VALUES:
            return base.__repr__(thing)
        if class_module(base) in _MODULES_OF_VALUES and type(in_class(base, "__reduce__")) is _METHOD:
            return [one for one in base.__reduce__(thing)[1] if type(one) in _PLAIN]
    if kind is _GENERATOR:
        return thing.gi_frame and thing.gi_frame.f_lasti
    if kind in _LEFT:
        return kind.__length_hint__(thing)
    if full_type_name(kind) == "itertools.count":
        if all(type(one) in _PLAIN for one in gc.get_referents(thing) if not is_a(one, type)):
            return repr(thing)
        raise _Unseen
    if type(in_class(kind, "__next__")) not in _IN_PYTHON and class_module(kind) != "_io":
        raise _Unseen
    if type(in_class(kind, "__buffer__")) is _FUNCTION:
        return None
    try:
        memory = memoryview(thing)
    except (TypeError, ValueError, BufferError):
        return None
    with memory:
        if memory.nbytes > _MOST_BYTES:
            raise _Unseen
        return memory.tobytes()


def values_of(frame: FrameType) -> list[object]:
    """The values of the variables that a function uses."""
    code = frame.f_code
    own = (*code.co_varnames, *code.co_cellvars, *code.co_freevars)
    found = [local_value(frame, name) for name in own]
    scope = frame.f_globals
    if type(scope) is dict:
        found += [scope.get(name) for name in code.co_names]
    return found
