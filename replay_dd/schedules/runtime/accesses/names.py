"""How objects are called: by the way that the code reached them.

Rules of this module:

* A name is told only of the object that got it. Once that is gone, another one may be at its address.
* No object lives longer for its name. What cannot be referred to weakly (a list, a dictionary) keeps its name while
  the attribute, item or variable that it was found in still leads to it, and in the instructions of a function that
  work on what it has just found there.
"""

from __future__ import annotations

import sys
from _weakref import ReferenceType as _Reference

from . import values
from .access import ATTRIBUTE, GLOBAL, ITEM

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

    from .operands import Expression


_WITH_LOCKS = ("threading", "queue")
_VARIABLES = ("local", "global", "cell", "name", "result")
_FOUND_JUST_NOW = ("attribute", "item")
_LONGEST_WAY = 8  # containers within containers


class _Known:
    """The name of one object.

    Attributes:
        name: what it is called.
        reference: refers to it weakly; None if nothing can.
        way: (what leads to the object that holds it, the sort of access, the key); None if that is not known, or not
            needed.
        frame: the identity of the frame that has found it last.
    """

    __slots__ = ("frame", "name", "reference", "way")

    def __init__(self, name: str, reference: Any, way: tuple[_Known, str, Any] | None, frame: int) -> None:
        self.name, self.reference, self.way, self.frame = name, reference, way, frame

    def found(self, steps: int = _LONGEST_WAY) -> object:
        """What the name leads to now; MISSING if that is nothing, or not known."""
        if self.reference is not None:
            one = self.reference()
            return values.MISSING if one is None else one
        if self.way is None or steps == 0:
            return values.MISSING
        holder, sort, key = self.way
        thing = holder.found(steps - 1)
        if thing is values.MISSING:
            return thing
        return values.attribute(thing, key)[2] if sort == ATTRIBUTE else values.item(thing, key)


class Names:
    """Knows how each object was last reached.

    Attributes:
        closed: weak references to the cursors that were closed, by identity.
    """

    def __init__(self) -> None:
        self._names: dict[int, _Known] = {}
        self._with_attributes: dict[int, _Reference[Any]] = {}
        self._frame = 0
        self.closed: dict[int, _Reference[Any]] = {}

    def begin(self, frame: FrameType) -> None:
        """What is remembered and asked for from now on is what this frame works on."""
        self._frame = id(frame)

    def remember(self, thing: object, name: str, sort: str = "", holder: object = None, key: Any = None) -> None:
        """Know how this object was reached, to name what is in it.

        Args:
            thing: the object.
            name: what it is called.
            sort: attribute, item or global, if it can be found there again; empty otherwise.
            holder: what has the attribute or the item, or the module's variables.
            key: the name of the attribute or the variable, or the key.
        """
        if values.scalar(thing) or values.fixed(thing) or thing is values.MISSING or thing is values.UNKNOWN:
            return
        known = self._remember(thing, name, sort, holder, key)
        if values.module_name(type(thing)) in _WITH_LOCKS:
            # Nobody sees the locks in them but the library.
            for own, one in (values.own_values(thing) or {}).items():
                if not values.scalar(one) and values.size(one) is None and not values.fixed(one):
                    self._names[id(one)] = _Known(name, _weakly(one), (known, ATTRIBUTE, own), self._frame)

    def remember_attributes(self, thing: object) -> None:
        """Know whose attributes are in the dictionary that the program now gets, as by ``vars(thing)``."""
        own, reference = values.own_values(thing), _weakly(thing)
        if own is not None and reference is not None:
            self._with_attributes[id(own)] = reference

    def remember_closed(self, thing: object) -> None:
        """Know that a cursor was closed, if it is one: connections tell themselves, and have no weak references."""
        reference = _weakly(thing)
        if reference is not None:
            self.closed[id(thing)] = reference

    def whose_attributes(self, container: object) -> object:
        """The object whose attributes are in a dictionary; None if that is not known to be one."""
        reference = self._with_attributes.get(id(container))
        thing = None if reference is None else reference()
        return thing if thing is not None and values.own_values(thing) is container else None

    def _remember(self, thing: object, name: str, sort: str, holder: object, key: Any) -> _Known:
        reference = _weakly(thing)
        way = self._way(sort, holder, key) if reference is None else None
        known = self._names[id(thing)] = _Known(name, reference, way, self._frame)
        return known

    def _way(self, sort: str, holder: Any, key: Any) -> tuple[_Known, str, Any] | None:
        if sort == GLOBAL:
            module = holder.get("__name__")
            holder, sort = sys.modules.get(module) if type(module) is str else None, ATTRIBUTE
        if sort not in (ATTRIBUTE, ITEM) or not values.plain(key):
            return None
        reference = _weakly(holder)
        known = self._names.get(id(holder)) if reference is None else _Known("", reference, None, 0)
        return None if known is None or known.found() is not holder else (known, sort, key)

    def name_of(self, thing: object, expression: Expression = None) -> str:
        """The name of an object, as the code that is running calls it."""
        known = self._names.get(id(thing))
        if known is not None:
            just_found = expression is not None and expression[0] in _FOUND_JUST_NOW and known.frame == self._frame
            if (just_found and known.reference is None) or known.found() is thing:
                return known.name
        return _as_written(expression) or values.class_name(type(thing))


def _as_written(expression: Expression) -> str:
    """How the code gets it, such as ``session.cart``; empty if not from a variable by attributes alone."""
    if expression is None:
        return ""
    if expression[0] in _VARIABLES:
        return str(expression[1])
    of = _as_written(expression[1]) if expression[0] == "attribute" else ""
    return f"{of}.{expression[2]}" if of else ""


def _weakly(thing: Any) -> _Reference[Any] | None:
    """A weak reference to an object; None if there can be none."""
    if type(thing) is list or type(thing) is dict:
        return None
    try:
        return _Reference(thing)
    except TypeError:
        return None
