"""Exceptions: what they are in words, what catches them, and what stands in for one whose cause was left out.

Rules of this module:

* Nothing of the program's own is called.
"""

from __future__ import annotations

import builtins
from typing import Any


class StandIn:
    """Mixed into the class of an exception whose cause was left out."""


def stand_in(kind: str) -> BaseException:
    """An exception in the place of one whose cause was left out."""
    base = getattr(builtins, kind, Exception)
    if not (isinstance(base, type) and issubclass(base, BaseException)):
        base = Exception
    made: BaseException = base.__new__(type(base.__name__, (StandIn, base), {}))
    return made


def described(exception: BaseException | None) -> list[str]:
    """The class and the message of an exception; nothing of the program's own is called."""
    kind = type(exception)
    name = kind.__name__ if kind.__module__ in ("builtins", "__main__") else f"{kind.__module__}.{kind.__name__}"
    arguments = getattr(exception, "args", ())
    told = [one if type(one) is str else repr(one) for one in arguments if type(one) in _PLAIN]
    return [name, ", ".join(told)]


_PLAIN = (str, int, float, bool, bytes, type(None))


def fits(exception: BaseException | None, kinds: Any) -> bool:
    """Whether a handler for these classes catches an exception; raises what Python does if they are no classes."""
    for kind in kinds if isinstance(kinds, tuple) else (kinds,):
        if not (isinstance(kind, type) and issubclass(kind, BaseException)):
            raise TypeError("catching classes that do not inherit from BaseException is not allowed")
        if kind in type(exception).__mro__:
            return True
    return False
