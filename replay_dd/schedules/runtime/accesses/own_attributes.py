"""Classes that set and find the attributes of their objects themselves, and how they come to those in the end.

Rules of this module:

* What a method of the program does is seen in its own code, where it happens: ``x.a = 1`` calls ``__setattr__``, which
  may store the value elsewhere, later, or not at all. So the instruction itself is no access.
* Where an object has no such attribute, its class may compute it, as ``cached_property`` does. Then the interpreter has
  looked for that of the object, and found nothing.
* ``object.__setattr__(x, "a", 1)`` and ``super().__setattr__("a", 1)`` are one, as ``x.a = 1`` is in other classes.
"""

from __future__ import annotations

from . import values
from .access import DELETES, READS, STORES
from .values import MISSING, UNKNOWN

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_METHODS = {STORES: "__setattr__", DELETES: "__delattr__", READS: "__getattribute__"}
_DOES = {method: does for does, method in _METHODS.items()}
OF_C: Any = type(object.__setattr__)
OF_C_BOUND: Any = type(object().__setattr__)
"""The types of methods of C that stand for operators: of a class, and of an object."""


def is_done_by_class(thing: object, does: str, of_library: Callable[[str], bool]) -> bool:
    """Whether code of the program does that to the attributes of a thing.

    Args:
        thing: the thing.
        does: stores, deletes or reads.
        of_library: whether a file of code belongs to the standard library, where nothing is observed.
    """
    return is_written_by_program(thing, _METHODS[does], of_library)


def is_written_by_program(thing: object, method: str, of_library: Callable[[str], bool]) -> bool:
    """Whether a method of a thing is code of the program.

    Args:
        thing: the thing.
        method: its name.
        of_library: whether a file of code belongs to the standard library.
    """
    found = values.in_class(type(thing), method)[1]
    return type(found) is values.FunctionType and not of_library(found.__code__.co_filename)


def computed_in(thing: object, found: object) -> str:
    """The file of the code that computes an attribute where an object has none; empty if none does.

    Args:
        thing: the object.
        found: what its class has under that name, and cannot set.
    """
    gives: Any = values.in_class(type(found), "__get__")[1]
    if not values.exactly(gives, values.FunctionType) or values.own_values(thing) is None:
        return ""
    return str(gives.__code__.co_filename)


def plain_access(function: Any, own: object, arguments: list[Any]) -> tuple[object, str, str, object] | None:
    """(thing, name, what is done, new value) if a call of a method of C sets, deletes or finds an attribute.

    Args:
        function: what is called.
        own: the object whose method it is, if the interpreter has it apart.
        arguments: the others.
    """
    if not values.exactly(function, OF_C, OF_C_BOUND):
        return None
    does = _DOES.get(function.__name__)
    if type(function) is OF_C_BOUND:
        arguments = [function.__self__, *arguments]
    elif own is not MISSING and own is not UNKNOWN:
        arguments = [own, *arguments]
    if does is None or len(arguments) != (3 if does == STORES else 2) or type(arguments[1]) is not str:
        return None
    return arguments[0], arguments[1], does, arguments[2] if does == STORES else UNKNOWN
