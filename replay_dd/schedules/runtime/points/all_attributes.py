"""Touches of the dictionary that holds all attributes of an object: they touch each of these.

Rules of this module:

* Whose attributes are in a dictionary is known once code has got it from the object: by ``vars()``, or as ``__dict__``.
* No object lives longer for that.
"""

from __future__ import annotations

from _weakref import ReferenceType as _Reference

from ..observing import attributes_of, is_module
from .methods import CONTENT
from .touches import value_of

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

    from .touches import Expression

    Touch = tuple[object, str, bool]

MOST = 30  # attributes, at a time


class AllAttributes:
    """Knows whose attributes are in which dictionary."""

    def __init__(self) -> None:
        self._owners: dict[int, _Reference[Any]] = {}

    def remember(self, expression: Expression, frame: FrameType) -> None:
        """Know of the object that an expression gets the dictionary of, if it does.

        Args:
            expression: that of what is touched.
            frame: where it is evaluated.
        """
        while expression is not None and expression[0] == "iterator":
            expression = expression[1]
        if expression is None or expression[0] != "attributes":
            return
        owner: Any = value_of(expression[1], frame)
        try:
            self._owners[id(attributes_of(owner))] = _Reference(owner)
        except TypeError:
            pass  # nothing can refer to it weakly

    def each(self, touch: Touch) -> list[Touch]:
        """A touch of such a dictionary as touches of the attributes; any other one as it is."""
        thing, name, changes = touch
        reference = self._owners.get(id(thing)) if type(thing) is dict and name == CONTENT else None
        owner = None if reference is None else reference()
        if type(thing) is not dict or owner is None or attributes_of(owner) is not thing or len(thing) > MOST:
            return [touch]
        holder = thing if is_module(owner) else owner
        return [(holder, name, changes) for name in thing if type(name) is str]
