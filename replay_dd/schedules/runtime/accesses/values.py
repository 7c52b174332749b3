"""Reads the program's objects without running any of its code.

Rules of this module:

* No property, ``__getattr__``, ``__eq__``, ``__hash__`` or ``__repr__`` of the program is called: only functions of the
  interpreter's own types, on objects that are known to be of these types.
* A key is looked up by comparing it with those that are there, and only keys of built-in types are compared by value.
"""

from __future__ import annotations

import gc
from _collections import deque  # type: ignore[import-not-found]  # the program may not have loaded `collections`
from _thread import _local  # what `threading.local` is
from _weakref import ReferenceType as _Reference

from .made_locals import has_made

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

MISSING: Any = type("missing", (), {"__slots__": ()})()
"""Stands for a value that is not there."""

UNKNOWN: Any = type("unknown", (), {"__slots__": ()})()
"""Stands for a value that cannot be told."""

INSTANCE, SLOT, CLASS, MODULE, COMPUTED, ABSENT = "instance", "slot", "class", "module", "computed", "absent"


class _Sample:
    __slots__ = ("member",)

    def method(self) -> None:
        pass


# As in `types`, which the program may not have loaded either.
FunctionType, ModuleType, BuiltinFunctionType = type(_Sample.method), type(gc), type(len)
MethodType, MethodDescriptorType = type(_Sample().method), type(str.join)
GeneratorType = type((lambda: (yield))())
GetSetDescriptorType, MemberDescriptorType = type(type.__dict__["__name__"]), type(_Sample.__dict__["member"])

SCALARS = (int, str, bytes, float, bool, complex, type(None))
# What nearly never changes where it is found: modules, functions, classes.
FIXED = (
    *(type, ModuleType, FunctionType, BuiltinFunctionType, MethodType, MethodDescriptorType, type(object.__init__)),
    *(classmethod, staticmethod, property),
)
# Built-in types live for as long as the process: their identities are their own.
_SCALARS, _FIXED = (frozenset([id(one) for one in types]) for types in (SCALARS, FIXED))
_COMPARED = (tuple, str, int, bytes, float)
_SIZED = (dict, list, set, deque, tuple, frozenset, str, bytes, bytearray)
_LONGEST_TEXT = 40
_STATES = (("queue", "size"), ("_flag", ""), ("_value", ""), ("_state", ""))  # Queue, Event, Semaphore, Future
_MOST_SHOWN = 4  # elements
_MOST_KEYS = 10_000  # compared one by one
_LARGEST_INT = 1 << 200

mro = type.__dict__["__mro__"].__get__
_names = type.__dict__["__dict__"].__get__
_name = type.__dict__["__name__"].__get__
_module = type.__dict__["__module__"].__get__
_qualname = type.__dict__["__qualname__"].__get__


def type_name(thing_type: type) -> str:
    """The name of a type."""
    name: str = _name(thing_type)
    return name


def class_name(thing_type: type) -> str:
    """The qualified name of a class."""
    name: str = _qualname(thing_type)
    return name.rpartition("<locals>.")[2]


def module_name(thing_type: type) -> str:
    """The module of a class; empty if it is not known."""
    module = _module(thing_type)
    return module if type(module) is str else ""


def in_class(thing_type: type, name: str) -> tuple[type | None, Any]:
    """(the class that has this attribute, its value there)."""
    for base in mro(thing_type):
        found = _names(base).get(name, MISSING)
        if found is not MISSING:
            return base, found
    return None, MISSING


def own_values(thing: Any) -> dict[str, object] | None:
    """The attributes of an instance; None if it has no dictionary for them."""
    for base in mro(type(thing)):  # a class of the program may have a property of that name, which is not it
        descriptor: Any = _names(base).get("__dict__")
        if exactly(descriptor, GetSetDescriptorType, MemberDescriptorType):
            values = descriptor.__get__(thing)
            return values if type(values) is dict else None
    return None


def is_local(thing: object) -> bool:
    """Whether each thread has attributes of its own of this object."""
    return is_a(thing, _local)


def local_values(thing: Any) -> dict[str, object] | None:
    """The attributes that the present thread has of a thread-local object; None if to ask would run the program's code.

    A class that is derived makes them with its own ``__init__`` as a thread first asks.
    """
    if in_class(type(thing), "__init__")[0] not in (_local, object) and not has_made(thing):
        return None
    values = _local.__getattribute__(thing, "__dict__")
    return values if type(values) is dict else None


def attribute(thing: Any, name: str) -> tuple[str, object, object]:
    """(where an attribute is, its owner, its value), as the interpreter finds it."""
    kind = type(thing)
    if is_local(thing):
        mine = local_values(thing)
        if mine is None:
            return INSTANCE if in_class(kind, name)[0] is None else COMPUTED, thing, UNKNOWN
        if name in mine:
            return INSTANCE, mine, mine[name]
        base, found = in_class(kind, name)
        return (ABSENT, mine, MISSING) if base is None else (CLASS, mine, found)
    if isinstance_of_type(thing):
        owner, value = in_class(thing, name)
        if owner is None:
            owner, value = in_class(kind, name)  # what a class has of its metaclass
        return (CLASS, owner, value) if owner is not None else (ABSENT, thing, MISSING)
    base, found = in_class(kind, name)
    if type(found) is MemberDescriptorType:
        try:
            return SLOT, thing, found.__get__(thing)
        except AttributeError:
            return SLOT, thing, MISSING
    if base is not None and in_class(type(found), "__set__")[0] is not None:
        return COMPUTED, thing, UNKNOWN
    values = own_values(thing)
    if values is not None and name in values:
        return (MODULE if is_module(thing) else INSTANCE), thing, values[name]
    if base is not None:
        return CLASS, base, found
    return (MODULE if is_module(thing) else ABSENT), thing, MISSING


def isinstance_of_type(thing: object) -> bool:
    """Whether this is a class."""
    return issubclass(type(thing), type)


def is_module(thing: object) -> bool:
    """Whether this is a module; the program may have given it a class of its own."""
    return issubclass(type(thing), ModuleType)


def exactly(thing: object, *types: type) -> bool:
    """Whether the type of a thing is one of these; to compare types in another way may ask their metaclass."""
    kind = id(type(thing))
    return kind in [id(one) for one in types]


def scalar(thing: object) -> bool:
    """Whether this is a plain value, which nobody can change."""
    return id(type(thing)) in _SCALARS


def fixed(thing: object) -> bool:
    """Whether this is a module, a function or a class, which nearly never change where they are found."""
    kind = type(thing)
    return id(kind) in _FIXED or issubclass(kind, type)


def is_a(thing: object, *types: type) -> bool:
    """As ``isinstance``, which asks the program."""
    return issubclass(type(thing), types)


def plain(value: Any) -> bool:
    """Whether comparing this value runs nothing of the program's."""
    if scalar(value):
        return True
    kind = _compared_as(type(value))
    return all(map(plain, tuple.__iter__(value))) if kind is tuple else kind is not None


def _compared_as(kind: type) -> type | None:
    """The built-in type whose comparison a type has, as a named tuple has that of a tuple; None if it has its own."""
    if not issubclass(kind, _COMPARED):
        return None
    owner = in_class(kind, "__eq__")[0]
    return next((one for one in _COMPARED if one is owner), None)


def _built_in(value: Any) -> object:
    """The value of a built-in type that is equal to a plain one."""
    kind: Any = None if scalar(value) else _compared_as(type(value))
    if kind is int or kind is float:
        return kind.__add__(value, 0)
    if kind is tuple:
        return tuple(map(_built_in, tuple.__iter__(value)))
    return value if kind is None else kind.__getitem__(value, slice(None))


def same(one: object, other: object) -> bool:
    """Whether two keys are the same, as far as that can be told."""
    return one is other or (plain(other) and plain(one) and one == other)


def item(container: Any, key: Any) -> object:
    """The item of a built-in container under a key; for a set, the key itself."""
    try:
        if is_a(container, dict):
            return _in_dict(container, key)
        if is_a(container, set, frozenset):
            if type(key) is str or (size(container) or 0) <= _MOST_KEYS:
                return key if _is_among(_elements(container), key) else MISSING
            return UNKNOWN
        if exactly(key, int, bool):
            for sequence in (list, tuple, deque):
                if is_a(container, sequence):
                    return sequence.__getitem__(container, key)
    except IndexError:
        return MISSING
    except RuntimeError:
        return UNKNOWN
    return UNKNOWN


def compared_by_program(key: object) -> bool:
    """Whether a dictionary runs code of the program to find the place of this key."""
    kind = type(key)
    return any(type(in_class(kind, name)[1]) is FunctionType for name in ("__hash__", "__eq__"))


def _elements(container: Any) -> Any:
    return set.__iter__(container) if is_a(container, set) else frozenset.__iter__(container)


def _in_dict(container: dict[Any, Any], key: object) -> object:
    if dict.__len__(container) > _MOST_KEYS:
        return UNKNOWN
    of_text = type(key) is str
    for one, value in dict.items(container):
        # Nearly all keys are text: that not each of them is asked about makes a large dictionary ten times as fast.
        if one == key if of_text and type(one) is str else same(one, key):
            return value
    return MISSING


def _is_among(elements: Any, thing: object) -> bool:
    of_text = type(thing) is str
    return any(one == thing if of_text and type(one) is str else same(one, thing) for one in elements)


def contains(container: object, thing: object) -> bool | None:
    """Whether a built-in container has this element or key; None if it cannot be told."""
    if is_a(container, dict, set, frozenset):
        found = item(container, thing)
        return None if found is UNKNOWN else found is not MISSING
    for sequence in (list, tuple, deque):
        if is_a(container, sequence):
            iterate: Callable[[Any], Any] = sequence.__iter__
            return _is_among(iterate(container), thing)
    if type(container) is str and type(thing) is str:
        return thing in container
    return None


def size(container: Any) -> int | None:
    """The length of a built-in container; None of anything else."""
    if scalar(container) and not exactly(container, str, bytes):
        return None
    own = type(container)
    for kind in _SIZED:
        if issubclass(own, kind):
            return kind.__len__(container)
    return None


def iterated(iterator: object) -> object:
    """The built-in container that a built-in iterator goes over; UNKNOWN for any other.

    A list may be iterated without an iterator.
    """
    kind = type(iterator)
    if kind is list:
        return iterator
    built_in = module_name(kind) == "builtins" and type_name(kind).endswith("iterator")
    if not built_in and kind is not type(iter(deque())):
        return UNKNOWN
    return next((one for one in gc.get_referents(iterator) if is_a(one, dict, list, set, deque)), UNKNOWN)


def state(thing: Any) -> object:
    """What an object of the library is about: how many things wait in a queue, whether an event is set."""
    of_c = in_class(type(thing), "_state")[1]  # of a future of asyncio
    if type(of_c) is GetSetDescriptorType:
        return of_c.__get__(thing)
    values = own_values(thing) or {}
    for name, what in _STATES:
        found = values.get(name, MISSING)
        if found is not MISSING:
            return size(found) if what == "size" else found if scalar(found) else UNKNOWN
    return UNKNOWN


def is_reference(value: object) -> bool:
    """Whether it is a weak reference, as the library has them; what one of the program does is seen in its own code."""
    kind = type(value)
    return issubclass(kind, _Reference) and module_name(in_class(kind, "__call__")[0] or kind) in (
        "weakref",
        "builtins",
    )


def referent(value: Any) -> object:
    """What a weak reference refers to, MISSING if that is gone; any other value itself."""
    if not issubclass(type(value), _Reference):
        return value
    found = _Reference.__call__(value)
    return MISSING if found is None else found


_OF_LIBRARY = ("builtins", "collections", "_collections")
_EMPTY = {dict: "{}", list: "[]", set: "set()", tuple: "()", deque: "deque([])"}


def text_of(value: Any) -> str:
    """A value of a built-in type in short; empty for any other."""
    kind = type(value)
    if value is MISSING:
        return "nothing"
    if value is UNKNOWN:
        return "?"
    if kind is int and abs(value) > _LARGEST_INT:
        return "a large int"
    if kind is str or kind is bytes:
        short = repr(value[:_LONGEST_TEXT])
        return short if len(value) <= _LONGEST_TEXT else short[:-1] + "..." + short[-1]
    if scalar(value):
        return repr(value)
    empty = next((text for container, text in _EMPTY.items() if container is kind), "")
    if empty and size(value) == 0:
        return empty
    if kind is tuple and plain(value) and len(value) <= 4:
        inside = ", ".join(_plain_text(one) for one in value)
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if isinstance_of_type(value):
        return f"class {class_name(value)}"
    if kind is FunctionType:
        return f"function {value.__name__}"
    if kind is MethodType and type(value.__func__) is FunctionType:
        return f"method {value.__func__.__name__}"
    if kind is ModuleType:
        return "a module"
    length = size(value)
    return "" if length is None or module_name(kind) not in _OF_LIBRARY else f"{type_name(kind)} of {length}"


def _plain_text(value: object) -> str:
    return text_of(_built_in(value))


def whole_text(value: Any) -> str:
    """As :func:`text_of`, but with the elements of a small list or dictionary of plain values."""
    kind, length = type(value), size(value)
    if length is None or not 0 < length <= _MOST_SHOWN:
        return text_of(value)
    if kind is list and all(plain(one) for one in value):
        return f"[{', '.join(map(_plain_text, value))}]"
    if kind is dict and all(plain(one) for pair in value.items() for one in pair):
        return f"{{{', '.join(f'{_plain_text(key)}: {_plain_text(one)}' for key, one in value.items())}}}"
    return text_of(value)


def key_text(key: object) -> str:
    """A key in short, such that equal keys have equal texts."""
    if type(key) is MethodType and type(key.__func__) is FunctionType:  # type: ignore[attr-defined]
        return f"{_numbered(key.__self__).removesuffix(' 1')}.{key.__func__.__name__}"  # type: ignore[attr-defined]
    return (_plain_text(key) if plain(key) else text_of(key)) or _numbered(key)


_numbers: dict[str, dict[int, int]] = {}


def _numbered(key: object) -> str:
    """A key of the program's own type by a number, which is the same in each run, unlike its address."""
    name = type_name(type(key))
    known = _numbers.setdefault(name, {})
    return f"{name} {known.setdefault(id(key), len(known) + 1)}"
