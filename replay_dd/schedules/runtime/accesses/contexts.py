"""Contexts of ``contextvars``, which one thread at a time can enter.

Rules of this module:

* Whoever calls ``run()`` of one, or gives that method to the library, enters it, now or later. Whether somebody is
  inside already does not show.
"""

from __future__ import annotations

from . import values
from .access import CALLS, OBJECT, Access

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

_MODULES = ("_contextvars", "contextvars")
_ENTERS = "run"


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


def _is_context(thing: object) -> bool:
    return values.type_name(type(thing)) == "Context" and values.module_name(type(thing)) in _MODULES
