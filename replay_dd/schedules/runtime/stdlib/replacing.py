"""Puts stand-ins in the place of functions and types, wherever a module that is imported already has them by name."""

from __future__ import annotations

import copyreg
import sys

from ..observing import attributes_of, plain

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    # For each module, the names in it and what stands in there.
    StandIns = dict[Any, dict[str, Any]]

_OWN_MODULES = ("_replay_dd_runtime", "replay_dd.")


def replace(tables: Iterable[StandIns]) -> None:
    """Replace functions and types; what two modules share, they share afterwards.

    Args:
        tables: the stand-ins of each part of the runtime.
    """
    replaced: dict[int, tuple[object, object]] = {}  # by identity: the original, and what stands in for it
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
        for name, value in list(attributes.items()):
            found = replaced.get(id(value))
            if found is not None and found[0] is value:
                attributes[name] = found[1]
    _let_be_pickled([stand_in for _, stand_in in replaced.values()])


def _disguised(stand_in: Any, original: Any) -> Any:
    """A function with the names of the original."""
    if not isinstance(stand_in, type(replace)):
        return stand_in
    for attribute in ("__name__", "__qualname__", "__module__", "__doc__"):
        setattr(stand_in, attribute, getattr(original, attribute))
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
