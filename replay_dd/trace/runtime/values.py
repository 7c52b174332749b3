"""The value of a variable as text, for comparison.

Rules of this module:

* Nothing of the program's own is called: no property, ``__eq__``, ``__hash__`` or ``__repr__``.
* Equal texts mean equal values, as far as these are built from what is built in. Of other objects the class and the
  attributes count; addresses never do.
* A function is told by its name and what it keeps, a class by its name and its data. Inside of other values their names
  are enough: there they say what something is, not what it holds.
"""

from __future__ import annotations

import types
from _collections import (  # type: ignore[import-not-found]  # of C, without stubs; `collections` loads slowly
    OrderedDict,
    deque,
)
from typing import Any

from .reduced import HEAP_TYPE, is_of_c, parts_of

_PLAIN = (str, int, float, complex, bool, bytes, bytearray, type(None), type(Ellipsis), range)
_LISTS = {list: "[]", deque: "[]", tuple: "()", set: "{}", frozenset: "{}"}
_SHORT = (list, tuple, set, frozenset, dict)
_TOLD_BY_REPR = (("decimal", "Decimal"), ("datetime", "date"), ("datetime", "timedelta"))
_LARGEST_ARRAY = 10_000  # of more elements, the bytes are taken
_DEEPEST = 20
_LONGEST = 1_000_000


def text_of(value: object) -> str | None:
    """A text that is equal for equal values; None if nothing of the value can be told."""
    texts = _Texts()
    text = texts.of(value, 0)
    if texts.unknown == text:
        return None
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}... {_digest(text)}"


def _digest(text: str) -> str:
    import hashlib  # slow to load, and seldom needed

    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class _Texts:
    def __init__(self) -> None:
        self._above: list[int] = []
        self.unknown = ""

    def of(self, value: Any, depth: int) -> str:
        kind = type(value)
        if kind in _PLAIN or ((kind.__module__, kind.__name__) in _TOLD_BY_REPR and is_of_c(kind)):
            return _repr(value)
        if depth > _DEEPEST or id(value) in self._above:
            return "..."
        self._above.append(id(value))
        try:
            return self._inside(value, kind, depth + 1)
        finally:
            self._above.pop()

    def _inside(self, value: Any, kind: type, depth: int) -> str:
        if isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType)):
            own = [f" {name}={self.of(one, depth)}" for name, one in _kept_by(value)] if depth == 1 else []
            return f"<{object.__getattribute__(value, '__class__').__name__} {_name(value)}{''.join(own)}>"
        if kind.__module__ == "numpy" and is_of_c(kind):
            text = self._of_numpy(value, kind, depth)
            if text:
                return text
        if kind.__module__.partition(".")[0] == "pandas" and kind.__name__ in ("DataFrame", "Series"):
            return self._of_pandas(value, kind, depth)
        if any((base.__module__, base.__name__) == ("enum", "Enum") for base in kind.__mro__):
            return self._of_member(value, kind, depth)
        told = name = "" if kind in _SHORT else kind.__name__
        for base, brackets in _LISTS.items():
            if isinstance(value, base):
                items = [self.of(one, depth) for one in base.__iter__(value)]
                told += brackets[0] + ", ".join(sorted(items) if brackets == "{}" else items) + brackets[1]
        if isinstance(value, dict):
            # A dictionary that keeps an order of its own has moved items where `dict` does not see it.
            items_of = OrderedDict.items if isinstance(value, OrderedDict) else dict.items
            pairs = [f"{self.of(key, depth)}: {self.of(one, depth)}" for key, one in items_of(value)]
            told += "{" + ", ".join(pairs) + "}"
        for plain in (str, int, float, bytes):
            if isinstance(value, plain) and kind is not plain:
                told += f"({_repr(value, plain)})"
        known = told != name or not name
        attributes = _attributes(value)  # first: it may make the dictionary that is one of the parts
        parts = None if known else parts_of(value)
        if not known and parts is None and is_of_c(kind):
            # It may have attributes, too, but what the type keeps in C cannot be seen.
            self.unknown = f"<{name}>"
            return self.unknown
        if attributes:
            told += "(" + ", ".join(f"{own}={self.of(one, depth)}" for own, one in attributes) + ")"
        if parts is not None:
            told += "(" + ", ".join(self.of(one, depth) for one in parts) + ")"
        return told

    def _of_member(self, value: Any, kind: type, depth: int) -> str:
        """A member of an enumeration, without what the enumeration notes in it, such as its place among the others."""
        own = dict(_attributes(value))
        name, content = own.pop("_name_", None), own.pop("_value_", None)
        told = [self.of(content, depth)]
        told += [f"{one}={self.of(what, depth)}" for one, what in own.items() if one[0] != "_"]
        return f"{kind.__name__}{'' if name is None else f'.{name}'}({', '.join(told)})"

    def _of_pandas(self, value: Any, kind: type, depth: int) -> str:
        """A table or a column, by what is in it; its blocks are kept in C, where they cannot be seen."""
        columns = [value.iloc[:, number] for number in range(value.shape[1])] if value.ndim > 1 else [value]
        told = [f"{self.of(one.name, depth)}: {self.of(one.tolist(), depth)} {one.dtype}" for one in columns]
        index = self.of(value.index.tolist(), depth)
        return f"{kind.__name__}({{{', '.join(told)}}}, index={index})"

    def _of_numpy(self, value: Any, kind: type, depth: int) -> str:
        """An array or a number as one reads it; empty for what else numpy has, and for large arrays."""
        if kind.__name__ == "ndarray" and value.size <= _LARGEST_ARRAY:
            shape = "" if value.size else f", shape {value.shape}"
            return f"array({self.of(value.tolist(), depth)}, {value.dtype}{shape})"
        if any(base.__name__ == "generic" for base in kind.__mro__):
            number = value.tolist()
            if type(number) is not kind:  # as it is of a long double, for which Python has nothing
                return f"{value.dtype}({self.of(number, depth)})"
        return ""


def _repr(value: Any, kind: Any = None) -> str:
    """The text of what is built in, as the type says it, or as the type of which it is a subclass does."""
    kind = kind or type(value)
    try:
        return str(kind.__repr__(value))
    except ValueError:  # more decimal digits than Python wants to compute
        return int.__format__(value, "#x")


def _name(value: Any) -> str:
    for name in ("__qualname__", "__name__"):
        try:
            return str(object.__getattribute__(value, name))
        except AttributeError:
            try:
                return str(type.__getattribute__(value, name))
            except (AttributeError, TypeError):
                continue
    return "?"


def _kept_by(value: Any) -> list[tuple[str, Any]]:
    """What a function has from where it was made, or a class of the program has beside its methods."""
    if isinstance(value, types.FunctionType):
        cells = zip(value.__code__.co_freevars, value.__closure__ or (), strict=False)
        held = [(name, cell.cell_contents) for name, cell in cells if _is_filled(cell)]
        defaults = [("default", one) for one in value.__defaults__ or ()]
        return [*held, *defaults, *(value.__kwdefaults__ or {}).items()]
    if not isinstance(value, type) or not value.__flags__ & HEAP_TYPE:
        return []
    own = dict(sorted(type.__dict__["__dict__"].__get__(value).items()))
    return [(name, one) for name, one in own.items() if name[:1] != "_" and not _is_descriptor(one)]


def _is_descriptor(value: Any) -> bool:
    return any("__get__" in base.__dict__ for base in type(value).__mro__)


def _is_filled(cell: types.CellType) -> bool:
    try:
        _ = cell.cell_contents
    except ValueError:
        return False
    return True


def _attributes(value: Any) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    try:
        own = object.__getattribute__(value, "__dict__")
    except AttributeError:
        own = {}
    if type(own) is dict:
        found += [(name, own[name]) for name in sorted(name for name in own if type(name) is str)]
    for base in type(value).__mro__:
        slots = base.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            descriptor = base.__dict__.get(name)
            if isinstance(descriptor, types.MemberDescriptorType):
                try:
                    found.append((name, descriptor.__get__(value)))
                except AttributeError:
                    continue
    return found
