"""Names objects as a person would: by the way that leads to them from the program's variables.

Rules of this module:

* Objects are looked at as ``observing`` does it; the program's code does not run.
* The shortest way counts, from a global variable if there is one, else from a local variable of the main thread, else
  from one of the running thread.
"""

from __future__ import annotations

import sys
from _collections import deque  # type: ignore[import-not-found]  # of C, without stubs; `collections` loads slowly

from ..observing import (
    attribute,
    attributes_of,
    class_module,
    is_a,
    local_value,
    own_attributes_of_class,
    slots_of,
    type_name,
)
from ..points.places import COUNTED
from ..stdlib.locks import Lock, RLock

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import FrameType
    from typing import Any

    from ..points.places import Places

    Found = tuple[str, str]  # the name, and what it is the attribute, item or variable of

_MOST_OBJECTS = 20_000
_MOST_ITEMS = 200  # of one container
_DEEPEST = 6
_PLAIN = (str, int, float, bool, complex, bytes, bytearray, type(None), type(Ellipsis), range)
_SIMPLE_KEYS = (str, int, bool, type(None))
_NOT_FOLLOWED = (*_PLAIN, type(len), type(lambda: 0), type(sys), Lock, RLock)
_BUILT_IN = ("builtins", "types", "collections", "__main__")  # whose objects hold what the program puts there
_LOCK_OF_CONDITION = "_lock"


class Naming:
    """Finds names from the frames of the program's threads.

    Args:
        places: which code is the program's.
    """

    def __init__(self, places: Places) -> None:
        self._places = places

    def name_of(self, thing: object, stacks: Iterable[FrameType | None]) -> Found:
        """The name of an object, and what has it; both empty if no way leads to it.

        Args:
            thing: the object.
            stacks: the innermost frame of each thread, the main thread's first.
        """
        threads = self._frames(stacks)
        found = _search(thing, _globals([frame for own in threads for frame in own]))
        for own in threads:
            found = found or _search(thing, _locals(own))
        return found or ("", "")

    def taken_locks(self, stacks: Iterable[FrameType | None]) -> list[Any]:
        """The locks that a thread has and that a way leads to from a variable; arguments as for :meth:`name_of`."""
        threads = self._frames(stacks)
        locks: list[Any] = []
        _search(None, _globals([frame for own in threads for frame in own]), locks)
        for own in threads:
            _search(None, _locals(own), locks)
        return locks

    def _frames(self, stacks: Iterable[FrameType | None]) -> list[list[FrameType]]:
        """The program's frames of each thread, the outermost first."""
        threads = []
        for innermost in stacks:
            own = []
            frame = innermost
            while frame is not None:
                if self._places.kind(frame.f_code.co_filename) == COUNTED:
                    own.append(frame)
                frame = frame.f_back
            threads.append(own[::-1])
        return threads


def _globals(frames: list[FrameType]) -> Iterator[tuple[str, object, str]]:
    seen: set[int] = set()
    for frame in frames:
        names = frame.f_globals
        if id(names) not in seen and type(names) is dict:
            seen.add(id(names))
            for name, value in list(names.items()):
                if type(name) is str and name[:2] != "__":
                    yield name, value, "global variable"


def _locals(frames: list[FrameType]) -> Iterator[tuple[str, object, str]]:
    for frame in frames:
        code = frame.f_code
        for name in (*code.co_varnames, *code.co_cellvars, *code.co_freevars):
            # Names that the compiler or a test runner makes up are none that a person would know.
            value = local_value(frame, name) if name.isidentifier() else None
            if value is not None:
                yield name, value, f"variable of {code.co_qualname}"


def _search(thing: object, roots: Iterator[tuple[str, object, str]], locks: list[Any] | None = None) -> Found | None:
    """The shortest way to an object; or, with a list of locks, all that are taken are put there."""
    waiting: Any = deque()
    seen: set[int] = set()

    def look(value: object, path: str, what: str, depth: int) -> Found | None:
        kind = type(value)
        if locks is None:
            if value is thing:
                return path, what
        else:
            lock: Any = value if kind in (Lock, RLock) else attribute(value, _LOCK_OF_CONDITION)
            if type(lock) in (Lock, RLock) and lock._holder is not None and all(one is not lock for one in locks):
                locks.append(lock)
        if _is_of_library(kind):
            # The lock of a condition goes by its name; what else is in such objects is not the program's.
            is_its_lock = type_name(value) == "Condition" and attribute(value, _LOCK_OF_CONDITION) is thing
            return (path, what) if is_its_lock else None
        followed = kind not in _NOT_FOLLOWED and not (issubclass(kind, type) and depth)
        if followed and id(value) not in seen and depth < _DEEPEST and len(seen) < _MOST_OBJECTS:
            seen.add(id(value))
            waiting.append((value, path, what, depth))
        return None

    for name, value, what in roots:
        found = look(value, name, what, 0)
        if found:
            return found
    while waiting:
        value, path, what, depth = waiting.popleft()
        for step, child, of in _children(value):
            found = look(child, path + step, of, depth + 1)
            if found:
                return found
    return None


def _is_of_library(kind: type) -> bool:
    root = class_module(kind).partition(".")[0]
    return root in sys.stdlib_module_names and root not in _BUILT_IN


def _children(value: Any) -> Iterator[tuple[str, object, str]]:
    """(what follows the name, the object, what it is) of all that is in an object."""
    kind = type(value)
    if is_a(value, dict):
        for number, (key, item) in enumerate(list(dict.items(value))):
            if number >= _MOST_ITEMS:
                return
            if type(key) in _SIMPLE_KEYS:
                yield f"[{key!r}]", item, "item of one dict"
    elif kind in (list, tuple, deque):
        for number, item in enumerate(list(value)):
            if number >= _MOST_ITEMS:
                return
            yield f"[{number}]", item, f"item of one {kind.__name__}"
    elif is_a(value, type):
        for name, item in own_attributes_of_class(value):
            yield f".{name}", item, "attribute of the class"
    else:
        of = f"attribute of one {type_name(value)}"
        for name, item in list(attributes_of(value).items()):
            if type(name) is str:
                yield f".{name}", item, of
        for name in slots_of(value):
            yield f".{name}", attribute(value, name), of
