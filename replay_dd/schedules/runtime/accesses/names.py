"""How objects are called: by the way that the code reached them."""

from __future__ import annotations

from . import values

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from .operands import Expression


_WITH_LOCKS = ("threading", "queue")


class Names:
    """Knows how each object was last reached.

    Attributes:
        closed: the identities of connections that were closed.
    """

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self.closed: set[int] = set()

    def remember(self, thing: object, name: str) -> None:
        """Know how this object was reached, to name what is in it."""
        if not values.scalar(thing) and not values.fixed(thing):
            self._names[id(thing)] = name
            if values.module_name(type(thing)) in _WITH_LOCKS:
                # Nobody sees the locks in them but the library.
                for one in (values.own_values(thing) or {}).values():
                    if not values.scalar(one) and values.size(one) is None and not values.fixed(one):
                        self._names[id(one)] = name

    def name_of(self, thing: object, expression: Expression = None) -> str:
        """The name of an object, as the code that is running calls it."""
        known = self._names.get(id(thing))
        if known is not None:
            return known
        if expression is not None and expression[0] in ("local", "global", "cell", "name", "result"):
            return str(expression[1])
        kind = type(thing)
        return values.class_name(kind)
