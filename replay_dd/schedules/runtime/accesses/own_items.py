"""Classes derived from containers that set and find their items themselves, and how they come to those in the end.

Rules of this module:

* What a method of the program does is seen in its own code: ``x["a"] = 1`` calls ``__setitem__``, which may refuse.
  So the instruction itself is no access.
* ``dict.__setitem__(x, "a", 1)`` and ``super().__setitem__("a", 1)`` are one, as ``x["a"] = 1`` is in other classes.
  So is ``list.pop(x)``.
"""

from __future__ import annotations

from _collections import deque  # type: ignore[import-not-found]  # of C, without stubs; `collections` loads slowly

from . import values
from .access import CHECKS, DELETES, ITERATES, READS, STORES
from .own_attributes import OF_C, OF_C_BOUND, is_written_by_program
from .values import MISSING, UNKNOWN

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

ITEM_METHODS = {"__getitem__": READS, "__setitem__": STORES, "__delitem__": DELETES, "__contains__": CHECKS}
WHOLE_METHODS = {"__len__": READS, "__eq__": READS, "__iter__": ITERATES, "__reversed__": ITERATES}
_METHODS = {does: method for method, does in ITEM_METHODS.items()}


def is_item_done_by_class(container: object, does: str, of_library: Callable[[str], bool]) -> bool:
    """Whether code of the program does that to the items of a container.

    Args:
        container: the container.
        does: stores, deletes, reads or checks.
        of_library: whether a file of code belongs to the standard library, where nothing is observed.
    """
    return is_written_by_program(container, _METHODS[does], of_library)


def is_gone_through_by_class(container: object, function: str, of_library: Callable[[str], bool]) -> bool:
    """Whether code of the program is asked when a built-in function looks at a whole container.

    Args:
        container: the container.
        function: the name of the function.
        of_library: whether a file of code belongs to the standard library.
    """
    return is_written_by_program(container, "__len__" if function in ("len", "bool") else "__iter__", of_library)


def called_of_container(function: Any, own: object, arguments: list[Any]) -> tuple[str, object, bool] | None:
    """(name, container, whether that is the first argument) if a call is of a method that a built-in container has.

    Only of one that is called through its class, or that the interpreter makes for an operator; None for others.

    Args:
        function: what is called.
        own: the object whose method it is, if the interpreter has it apart.
        arguments: the others.
    """
    if type(function) is OF_C_BOUND:
        own = function.__self__
    elif not values.exactly(function, OF_C, values.MethodDescriptorType):
        return None
    elif (own is MISSING or own is UNKNOWN) and arguments:
        return _if_container(function.__name__, arguments[0], is_argument=True)
    elif type(function) is values.MethodDescriptorType:
        return None
    return _if_container(function.__name__, own, is_argument=False)


def class_of_method(kind: type, function: object, name: str) -> type | None:
    """The class that has a method; if the method is of C, not a class of the program that has one of the same name.

    Args:
        kind: the class of the object whose method it is.
        function: the method, or that of its class.
        name: of the method.
    """
    if type(function) is values.BuiltinFunctionType:
        for base in values.mro(kind):
            owner, found = values.in_class(base, name)
            if type(found) is values.MethodDescriptorType:
                return owner
    return values.in_class(kind, name)[0]


def _if_container(name: str, container: object, *, is_argument: bool) -> tuple[str, object, bool] | None:
    return (name, container, is_argument) if values.is_a(container, dict, list, set, deque) else None
