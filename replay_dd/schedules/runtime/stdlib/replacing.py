"""Puts stand-ins in the place of functions and types, wherever a module that is imported already has them.

That is by name, as the default of an argument, in a closure (as the constructor of a dataclass has its factories), in a
class, or in a list or dictionary.
"""

from __future__ import annotations

import builtins
import copyreg
import gc
import sys

from ..observing import (
    all_of_class,
    attribute,
    attributes_of,
    class_module,
    is_a,
    is_made_in_python,
    plain,
    set_attribute,
    type_name,
)

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    # For each module, the names in it and what stands in there.
    StandIns = dict[Any, dict[str, Any]]
    # By identity: the original, and what stands in for it.
    Replaced = dict[int, tuple[object, object]]

_BUILTINS = vars(builtins)
_FUNCTION = type(lambda: None)
_BUILTIN = id(type(len))
# Types whose instances are neither replaced nor hold anything that is. By identity, as they are asked for thousands of
# times, and a metaclass of the program's may have a hash of its own.
_HOLD_NOTHING = frozenset(
    id(kind)
    for kind in (str, bytes, int, bool, float, tuple, type(None), type(sys), type(str.join), type(object.__init__))
)
_DEEPEST = 2  # containers in classes in modules
_OWN_MODULES = ("_replay_dd_runtime", "replay_dd.")


def replace(tables: Iterable[StandIns]) -> None:
    """Replace functions and types; what two modules share, they share afterwards.

    Args:
        tables: the stand-ins of each part of the runtime.
    """
    replaced: Replaced = {}
    for stand_ins in tables:
        for module, names in stand_ins.items():
            for name, stand_in in names.items():
                original = getattr(module, name)
                pair = replaced.get(id(original)) or (original, _disguised(stand_in, original))
                replaced[id(original)] = pair
                setattr(module, name, pair[1])
    for module in list(sys.modules.values()):
        attributes = attributes_of(module)
        if plain(attributes.get("__name__", "")).startswith(_OWN_MODULES):
            continue
        for name, value in _worth_a_look(attributes, replaced):
            attributes[name] = _replaced_in(value, replaced, depth=0)
    _let_be_pickled([stand_in for _, stand_in in replaced.values()])


def names_of_class(class_: type) -> dict[str, Any]:
    """What a class that is written in C has, to be changed; empty if that cannot be reached.

    Such a class takes no attributes, and must stay what it is: its instances come from C, and are pickled by its name.
    Only the collector gives its dictionary out. What has been looked up before is not looked up again.
    """
    return next((found for found in gc.get_referents(class_.__dict__) if isinstance(found, dict)), {})


def _worth_a_look(names: dict[Any, Any], replaced: Replaced) -> list[tuple[Any, Any]]:
    """The names with values that may be replaced, or hold such: few of all there are."""
    if names is _BUILTINS:
        return []  # in each module; they are a module themselves
    return [
        (name, value)
        for name, value in names.items()
        if (kind := id(type(value))) not in _HOLD_NOTHING and (kind != _BUILTIN or id(value) in replaced)
    ]


def _replaced_in(value: Any, replaced: Replaced, depth: int) -> Any:
    """What stands in for a value, or the value itself, with stand-ins in it."""
    found = replaced.get(id(value))
    if found is not None and found[0] is value:
        return found[1]
    if depth > _DEEPEST:
        return value
    kind = type(value)
    if kind is _FUNCTION:
        _replace_in_function(value, replaced, depth)
    elif kind is staticmethod or kind is classmethod:
        _replaced_in(value.__func__, replaced, depth)
    elif kind is list:
        for place, one in enumerate(value):
            stand_in = _replaced_in(one, replaced, depth + 1)
            if stand_in is not one:
                value[place] = stand_in
    elif kind is dict:
        for key, one in _worth_a_look(value, replaced):
            stand_in = _replaced_in(one, replaced, depth + 1)
            if stand_in is not one:
                value[key] = stand_in
    elif is_a(value, type):
        _replace_in_class(value, replaced, depth)
    elif type_name(value) == "Field" and class_module(kind) == "dataclasses":
        factory = attribute(value, "default_factory")
        if id(factory) in replaced:
            set_attribute(value, "default_factory", _replaced_in(factory, replaced, depth))
    return value


def _replace_in_function(function: Any, replaced: Replaced, depth: int) -> None:
    if plain(function.__globals__.get("__name__", "")).startswith(_OWN_MODULES):
        return  # a stand-in, which needs the original
    defaults = function.__defaults__
    if defaults is not None and any(id(one) in replaced for one in defaults):
        function.__defaults__ = tuple([_replaced_in(one, replaced, _DEEPEST) for one in defaults])
    if function.__kwdefaults__ is not None:
        _replaced_in(function.__kwdefaults__, replaced, _DEEPEST)
    for cell in function.__closure__ or ():
        try:
            held = cell.cell_contents
        except ValueError:  # it is empty
            continue
        stand_in = _replaced_in(held, replaced, depth + 1)
        if stand_in is not held:
            cell.cell_contents = stand_in


def _replace_in_class(kind: type, replaced: Replaced, depth: int) -> None:
    if not is_made_in_python(kind):
        return
    for name, value in _worth_a_look(dict(all_of_class(kind)), replaced):
        stand_in = _replaced_in(value, replaced, depth + 1)
        if stand_in is not value:
            type.__setattr__(kind, name, stand_in)


def _disguised(stand_in: Any, original: Any) -> Any:
    """A function with the names of the original."""
    if not isinstance(stand_in, type(replace)):
        return stand_in
    for name in ("__name__", "__qualname__", "__module__", "__doc__"):
        setattr(stand_in, name, getattr(original, name))
    # A function of C does not turn into a method where a class has it as an attribute; nor must its stand-in.
    return staticmethod(stand_in)


def _let_be_pickled(stand_ins: Iterable[object]) -> None:
    """Let functions be pickled and copied by name, as the originals are: process pools send them to their workers."""
    named = {id(one): one for one in stand_ins if type(one) is staticmethod}

    def by_name(found: Any) -> str:
        if id(found) not in named:
            raise TypeError("cannot pickle 'staticmethod' object")
        return str(found.__qualname__)

    copyreg.pickle(staticmethod, by_name)


def hide_frames_of(function: Any) -> None:
    """Let tracebacks leave out a stand-in for a function of the import system, as they leave out the original."""
    function.__code__ = function.__code__.replace(co_filename="<frozen importlib._bootstrap>")
