"""Contexts of ``contextvars``, which one thread at a time can enter, and the variables in them.

Rules of this module:

* Whoever calls ``run()`` of one, or gives that method to the library, enters it, now or later. Whether somebody is
  inside already does not show.
* A variable is told as what the present thread has for itself: each thread is in a context of its own, until it or the
  library enters another one. What is found there if it was never set, its default, counts as nothing.
"""

from __future__ import annotations

from . import values
from .access import CALLS, LOCAL, OBJECT, READS, STORES, Access
from .values import MISSING, UNKNOWN

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

_MODULES = ("_contextvars", "contextvars")
_ENTERS = "run"
_DOES = {"get": READS, "set": STORES, "reset": STORES}


def entered(own: object, name: str, arguments: list[Any]) -> object:
    """The context that a call enters, or lets the library enter; None if it does neither.

    Args:
        own: whose method is called.
        name: of the method or function.
        arguments: what it is given.
    """
    if name == _ENTERS and _is_context(own):
        return own
    methods = [one for one in arguments if values.exactly(one, values.BuiltinFunctionType)]
    return next((one.__self__ for one in methods if one.__name__ == _ENTERS and _is_context(one.__self__)), None)


def use_of(context: object, called: str) -> Access:
    """To enter a context.

    Args:
        context: the context.
        called: its name.
    """
    access = Access(CALLS, OBJECT, context, "", called)
    access.reads = access.writes = True
    access.detail = f"{_ENTERS}()"
    return access


def of_variable(own: Any, name: str, arguments: list[Any], called: str) -> Access | None:
    """What a method of a context variable does; None if it does nothing to the variable.

    Args:
        own: the variable.
        name: of the method.
        arguments: what it is given.
        called: the name of the variable.
    """
    does = _DOES.get(name)
    if does is None:
        return None
    access = Access(does, LOCAL, own, own.name, called)
    access.old = own.get(MISSING)
    if name == "set" and arguments:
        access.new = arguments[0]
    elif name == "reset" and arguments:
        access.new = _before(arguments[0])
    return access


def is_variable(thing: object) -> bool:
    """Whether this is a context variable. Nobody can derive a class from theirs."""
    return values.type_name(type(thing)) == "ContextVar" and values.module_name(type(thing)) in _MODULES


def _before(token: Any) -> object:
    """What a variable held before the call of ``set()`` that gave this token."""
    kind = type(token)
    if values.type_name(kind) != "Token" or values.module_name(kind) not in _MODULES:
        return UNKNOWN
    return MISSING if token.old_value is kind.MISSING else token.old_value


def _is_context(thing: object) -> bool:
    return values.type_name(type(thing)) == "Context" and values.module_name(type(thing)) in _MODULES
