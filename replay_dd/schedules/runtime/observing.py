"""Looks at objects of the program without running its code.

Rules of this module:

* Whatever is asked of an object is asked of the interpreter, by its type: never of the object or its class, which may
  answer with a property, ``__getattr__``, ``__class__``, ``__eq__``, ``__hash__``, ``__repr__`` or ``__bool__`` of
  their own. Proxies, mocks and modules that load when first used do all of that.
* What cannot be told without running such code is unknown.
* ``isinstance`` asks an object for its ``__class__``; so other modules of the runtime use :func:`is_a` for objects that
  may be the program's.
"""

from __future__ import annotations

import os
import sys

from .accelerator import accelerator

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

# Taken before the program may put others in their place.
_getcwd, _normpath = os.getcwd, os.path.normpath
# The interpreter's own readers of what every class has: a metaclass cannot stand before them.
_ancestors_of: Any = type.__dict__["__mro__"].__get__
_own_names_of: Any = type.__dict__["__dict__"].__get__
_name_of: Any = type.__dict__["__name__"].__get__
_qualified_name_of: Any = type.__dict__["__qualname__"].__get__
_module_of: Any = type.__dict__["__module__"].__get__
_flags_of: Any = type.__dict__["__flags__"].__get__


class _Ordinary:
    __slots__ = ("__dict__", "slot")


_SLOT = type(_Ordinary.__dict__["slot"])  # what `__slots__` makes
_C_METHODS: Any = type(object.__str__)
_MODULE = type(sys)
_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE
_OPTIMIZED = 1  # CO_OPTIMIZED: a function; the variables of others are in a mapping that may be the program's
_DEEPEST = 4  # containers in each other whose text is taken
_LARGEST = 10_000  # elements of a container
_PLAIN = (str, int, float, bool, complex, bytes, type(None))
_CONTAINERS = (tuple, list, set, frozenset, dict)
# What the text of these is made of, beside their arguments.
_TEXT_PARTS = (
    (OSError, ("errno", "strerror", "filename", "filename2")),
    (SyntaxError, ("msg", "filename", "lineno")),
    (ImportError, ("msg",)),
    (UnicodeError, ()),
)


def absolute(path: str) -> str:
    """The absolute path of a file; a relative one as it is if the working directory is gone."""
    if path[:1] != os.sep:
        try:
            path = _getcwd() + os.sep + path
        except OSError:
            pass
    return _normpath(path)


def is_a(thing: object, kind: type | tuple[type, ...]) -> bool:
    """Whether an object really is an instance of a class, whatever it says of itself."""
    return issubclass(type(thing), kind)


def type_name(thing: object) -> str:
    """The name of the class of an object."""
    name: str = _name_of(type(thing))
    return name


def full_type_name(kind: type) -> str:
    """The qualified name of a class, with its module unless that goes without saying."""
    module, name = _module_of(kind), _qualified_name_of(kind)
    return name if type(module) is not str or module in ("builtins", "__main__", "") else f"{module}.{name}"


def class_module(kind: type) -> str:
    """The name of the module of a class; empty if it is no text."""
    name = _module_of(kind)
    return name if type(name) is str else ""


def in_class(kind: type, name: str) -> Any:
    """What a class or the first of its ancestors has under a name, as it lies there; None if none has it."""
    for ancestor in _ancestors_of(kind):
        found = _own_names_of(ancestor).get(name)
        if found is not None:
            return found
    return None


def attribute(thing: object, name: str) -> Any:
    """The value of an attribute, None where there is none, or where reading it might run code of the program."""
    of_class = in_class(type(thing), name)
    if of_class is not None:
        kind = type(of_class)
        if kind is _SLOT:
            try:
                return of_class.__get__(thing)
            except AttributeError:
                return None
        if in_class(kind, "__get__") is not None or in_class(kind, "__set__") is not None:
            return None
    try:
        return object.__getattribute__(thing, name)
    except AttributeError:
        return None


def set_attribute(thing: object, name: str, value: object) -> None:
    """Set an attribute of an instance, whatever its class does when it is asked to.

    Raises:
        AttributeError: there is no room for it.
    """
    object.__setattr__(thing, name, value)


def is_module(thing: object) -> bool:
    """Whether this is a module; the program may have given it a class of its own."""
    return is_a(thing, _MODULE)


def attributes_of(thing: object) -> dict[Any, Any]:
    """The attributes of a module, or of an instance of a class in Python; changing them changes the object."""
    if is_a(thing, _MODULE):
        found = _own_names_of(_MODULE)["__dict__"].__get__(thing)
        return found if type(found) is dict else {}
    kind = type(thing)
    if not _flags_of(kind) & _HEAP_TYPE or is_a(thing, type):
        return {}
    own = in_class(kind, "__dict__")
    # Extensions in C may have a `__dict__` of their own that asks somebody else (a proxy); classes in Python do not.
    if type(own) is not type(_Ordinary.__dict__["__dict__"]) or own.__doc__ != _Ordinary.__dict__["__dict__"].__doc__:
        return {}
    try:
        found = own.__get__(thing)
    except (AttributeError, TypeError):
        return {}
    return found if type(found) is dict else {}


def own_attributes_of_class(kind: type) -> list[tuple[str, Any]]:
    """(name, value) of all that lies in a class itself."""
    return [(name, value) for name, value in _own_names_of(kind).items() if type(name) is str and name[:2] != "__"]


def all_of_class(kind: type) -> list[tuple[str, Any]]:
    """(name, value) of whatever lies in a class itself."""
    return [(name, value) for name, value in _own_names_of(kind).items() if type(name) is str]


def is_made_in_python(kind: type) -> bool:
    """Whether a class was made by a statement, or by a call like it: its attributes can be set."""
    return bool(_flags_of(kind) & _HEAP_TYPE)


def slots_of(thing: object) -> list[str]:
    """The names of the attributes that an object has in slots."""
    return [
        name
        for ancestor in _ancestors_of(type(thing))
        for name, value in _own_names_of(ancestor).items()
        if type(value) is _SLOT and type(name) is str and not name.startswith("__")
    ]


def local_value(frame: FrameType, name: str) -> Any:
    """The value of a local variable of a function, None where it has none."""
    if accelerator is not None:
        return accelerator.local_value(frame, name)
    return frame.f_locals.get(name)


def variable(frame: FrameType, name: str) -> Any:
    """The value of a variable that is not local to a function, None where it cannot be told."""
    names = None if frame.f_code.co_flags & _OPTIMIZED else frame.f_locals
    for scope in (names, frame.f_globals):
        if type(scope) is dict and name in scope:
            return scope[name]
    return None


def plain(text: object) -> str:
    """An instance of ``str`` or of a subclass as what it is made of; anything else is its type's name in brackets."""
    return str.__str__(text) if is_a(text, str) else f"<{type_name(text)}>"


def flush(stream: Any) -> None:
    """Flush a standard stream, if it is the interpreter's own kind of stream.

    Raises:
        OSError, ValueError: it cannot be written to, or is closed.
    """
    from io import TextIOWrapper  # loaded anyway

    if is_a(stream, TextIOWrapper) and in_class(type(stream), "flush") is _own_names_of(TextIOWrapper)["flush"]:
        TextIOWrapper.flush(stream)


def message_of(error: BaseException) -> str | None:
    """The text of an exception; None if code of the program would have to run for it."""
    try:
        return str(error) if _has_plain_text(error, 0, "__str__") else None
    except Exception:  # the text of a number that is too long, for instance
        return None


def _has_plain_text(thing: object, depth: int, method: str) -> bool:
    """Whether ``str`` (or ``repr``) of an object runs nothing but the interpreter's own code."""
    kind = type(thing)
    if kind in _PLAIN:
        return True
    if depth > _DEEPEST:
        return False
    if kind in _CONTAINERS:
        items: Any = thing
        if len(items) > _LARGEST:
            return False
        pairs = [*items.keys(), *items.values()] if kind is dict else list(items)
        return all(_has_plain_text(item, depth + 1, "__repr__") for item in pairs)
    if not issubclass(kind, BaseException):
        return False
    written: Any = in_class(kind, method)
    if written is None or type(written) is not _C_METHODS or _flags_of(written.__objclass__) & _HEAP_TYPE:
        return False
    parts = [BaseException.args.__get__(thing)]  # type: ignore[attr-defined]
    for family, names in _TEXT_PARTS:
        if issubclass(kind, family):
            parts += [_own_names_of(family)[name].__get__(thing) for name in names]
    if len(parts[0]) == 1 and method == "__str__" and not issubclass(kind, KeyError):
        return _has_plain_text(parts[0][0], depth + 1, "__str__") and _all_plain(parts[1:], depth)
    return _all_plain(parts, depth)


def _all_plain(parts: list[object], depth: int) -> bool:
    return all(_has_plain_text(part, depth, "__repr__") for part in parts)
