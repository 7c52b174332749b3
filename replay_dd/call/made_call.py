"""A call: a function and its arguments, which can be made again with others.

Rules of this module:

* A call gets copies of its arguments, so that one call that changes them does not change the next. Of arrays, which may
  be large, it gets read-only views, unless it turns out that the function writes to them.
* Locks, modules, connections and the like cannot be copied, and are the same in every call. What can be read only once
  is refused.
"""

from __future__ import annotations

import copy
import gc
import inspect
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from inspect import BoundArguments, Parameter, Signature
from types import FunctionType, ModuleType
from typing import Any

from replay_dd.call.containers import is_array, is_frame
from replay_dd.call.simpler import optional_of
from replay_dd.call.source import call_source, name_of
from replay_dd.dd.slicing import name_of_kind
from replay_dd.errors.user import ArgumentError

_SPREAD = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
_RECEIVERS = ("self", "cls")
_CHANGED_DEFAULTS = (list, dict, set, bytearray, deque)
_MOST_LOOKED_AT = 100_000
_UNCHANGEABLE = {str, bytes, int, float, complex, bool, type(None)}


class Call:
    """A function and its arguments.

    Args:
        function: what is called.
        positional: its arguments by position.
        keywords: those by name.

    Attributes:
        function: what is called.
        arguments: the arguments by the names of the parameters; ``*args`` are one argument, and so are ``**kwargs``.
        shared: the names of arguments that cannot be copied at all, so that all calls share them.
        writes_arrays: whether calls get arrays that they can write to.

    Raises:
        ArgumentError: the arguments do not fit, or one can be read only once.
    """

    def __init__(self, function: Callable[..., Any], positional: Sequence[Any], keywords: Mapping[str, Any]) -> None:
        if not callable(function):
            raise ArgumentError(f"{function!r} cannot be called", "The function comes first, then its arguments.")
        while type(function) is partial:
            positional = (*function.args, *positional)
            keywords = {**function.keywords, **keywords}
            function = function.func
        self.function = function
        self.writes_arrays = False
        self.shared: set[str] = set()
        self._signature, bound = _bound(function, positional, keywords)
        self.arguments: dict[str, Any] = {}
        for name, value in bound.arguments.items():
            _refuse_readable_once(name, value)
            # At once: the caller may change it, or its own call has been given it.
            self.arguments[name] = value.copy() if is_array(value) else self._copied(name, value)
        # A function that changes its default would find that in its next call.
        self._defaults = {
            name: self._copied(name, one.default)
            for name, one in self._signature.parameters.items()
            if isinstance(one.default, _CHANGED_DEFAULTS)
        }

    @property
    def name(self) -> str:
        """The function's name."""
        return name_of(self.function)

    @property
    def reducible(self) -> list[str]:
        """The names of those arguments that may be reduced: all but the object of a method, unless it is a table."""
        names = list(self.arguments)
        method = "." in getattr(self.function, "__qualname__", "").rpartition("<locals>.")[2]
        if method and names and names[0] in _RECEIVERS and not is_frame(self.arguments[names[0]]):
            del names[0]
        return names

    @property
    def spread(self) -> list[str]:
        """The names of those that hold several arguments, as ``*args`` does."""
        return spread_of(self._signature)

    @property
    def optional(self) -> list[str]:
        """The names of those that can be left out, since they have defaults."""
        return optional_of(self._signature, self.arguments)

    def prepare(self, arguments: Mapping[str, Any]) -> Callable[[], object]:
        """The call with other arguments, which are copied now.

        Args:
            arguments: all of them, by name.
        """
        # One that is still the same may be a mark that the function compares by identity.
        changed = {name: value for name, value in self._defaults.items() if self._is_changed(name, value)}
        given = {**changed, **arguments}
        bound = BoundArguments(self._signature, {name: self._copied(name, value) for name, value in given.items()})
        function, positional, keywords = self.function, bound.args, bound.kwargs
        return lambda: function(*positional, **keywords)

    def source(self, arguments: Mapping[str, Any]) -> str:
        """The call with these arguments as Python source; arguments are named where that is possible."""
        positional: list[Any] = []
        keywords: dict[str, Any] = {}
        parameters = self._signature.parameters
        all_by_place = any(parameters[name].kind is Parameter.VAR_POSITIONAL for name in arguments)
        for name, value in arguments.items():
            kind = parameters[name].kind
            if kind is Parameter.VAR_POSITIONAL:
                positional += value
            elif kind is Parameter.VAR_KEYWORD:
                keywords.update(value)
            elif kind is Parameter.POSITIONAL_ONLY or (kind is Parameter.POSITIONAL_OR_KEYWORD and all_by_place):
                positional.append(value)
            else:
                keywords[name] = value
        return call_source(self.name, positional, keywords)

    def _is_changed(self, name: str, default: Any) -> bool:
        try:
            return bool(self._signature.parameters[name].default != default)
        except Exception:  # what is compared is the program's
            return True

    def _copied(self, name: str, value: Any) -> Any:
        if is_array(value):
            if self.writes_arrays:
                return value.copy()
            view = value[...]
            view.flags.writeable = False
            return view
        if name in self.shared or type(value) is object:
            return value  # a bare object is used for nothing but its identity
        if type(value) in (list, set) and set(map(type, value)) <= _UNCHANGEABLE:
            return value.copy()  # twenty times as fast as what comes to the same
        try:
            return copy.deepcopy(value)
        except Exception:  # the classes are the program's
            pass
        try:
            return _copied_around(value)
        except Exception:
            self.shared.add(name)
            return value


def spread_of(signature: Signature) -> list[str]:
    """The names of the parameters that hold several arguments, as ``*args`` does."""
    return [name for name, one in signature.parameters.items() if one.kind in _SPREAD]


def _copied_around(value: Any) -> Any:
    """A deep copy that shares with the value only those objects in it that cannot be copied, such as locks."""
    shared: dict[int, Any] = {}
    seen: set[int] = set()
    waiting = [value]
    while waiting and len(seen) < _MOST_LOOKED_AT:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, type | FunctionType):
            continue
        seen.add(id(one))
        if _can_be_copied(one):
            waiting += gc.get_referents(one)
        else:
            shared[id(one)] = one
    return copy.deepcopy(value, shared)


def _can_be_copied(value: Any) -> bool:
    if isinstance(value, ModuleType):
        return False
    try:
        return hasattr(type(value), "__deepcopy__") or bool(value.__reduce_ex__(4))
    except Exception:
        return type(value) in (dict, list, tuple)


def _bound(
    function: Callable[..., Any], positional: Sequence[Any], keywords: Mapping[str, Any]
) -> tuple[Signature, BoundArguments]:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # many functions written in C do not tell
        signature = _anonymous(len(positional))
    try:
        return signature, signature.bind(*positional, **keywords)
    except TypeError as error:
        raise ArgumentError(f"{name_of(function)}() cannot be called with these arguments: {error}", "") from None


def _anonymous(positional: int) -> Signature:
    parameters = [Parameter(f"argument{number + 1}", Parameter.POSITIONAL_ONLY) for number in range(positional)]
    return Signature([*parameters, Parameter("keywords", Parameter.VAR_KEYWORD)])


def _refuse_readable_once(name: str, value: Any) -> None:
    awaitable = inspect.iscoroutine(value)
    if awaitable:
        value.close()
    numpy_array = "numpy" in sys.modules and is_array(value)
    if not awaitable and (numpy_array or not _reads_once(value)):
        return
    hint = "Give a list instead of an iterator, and the content instead of a file."
    if awaitable:
        hint = "Give the function that makes the coroutine: `DeltaDebugger().collect(function, arguments)`."
    raise ArgumentError(
        f"the argument {name} is {name_of_kind(value)}, which can be used only once, and the call is repeated", hint
    )


def _reads_once(value: Any) -> bool:
    if not isinstance(value, Iterator):
        return False
    try:
        copy.deepcopy(value)
    except Exception:
        return True
    return False  # such as io.StringIO
