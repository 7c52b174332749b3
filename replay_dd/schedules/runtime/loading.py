"""Loads the runtime itself in little time, and leaves nothing of that for the program to meet.

Rules of this module:

* A module is loaded from its compiled file if that is up to date; what is out of the ordinary is left to the import
  system. Much of the time that an import takes goes into finding the file, and a run loads more than a hundred.
* The garbage collector rests meanwhile: none of what is made here is garbage. It is not told to leave the runtime's
  objects alone afterwards: finalization relies on one that sees all objects, in the order in which they came.
"""

from __future__ import annotations

import _frozen_importlib
import _frozen_importlib_external
import gc
import os
import sys

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

_external: Any = _frozen_importlib_external
_new_spec: Any = _frozen_importlib.ModuleSpec
_PACKAGE, _, _ = __name__.rpartition(".")
_HEADER = 16  # bytes of a compiled file before its code
_SIZE = 0xFFFFFFFF  # times and sizes are kept modulo that, plus one

_stat = os.stat
_collects = True


class _Finder:
    """Finds the modules of the runtime where they must be."""

    def __init__(self, folder: str) -> None:
        level = sys.flags.optimize
        self._folder = folder
        self._ending = f".{sys.implementation.cache_tag}{f'.opt-{level}' if level else ''}.pyc"

    def find_spec(self, name: str, path: object = None, target: object = None) -> Any:
        """The interface of the import system."""
        if not name.startswith(_PACKAGE + "."):
            return None
        place = self._folder + "/" + name[len(_PACKAGE) + 1 :].replace(".", "/")
        try:
            is_package = False
            source = _stat(place + ".py")
        except OSError:
            is_package = True
            folder, place = place, place + "/__init__"
        try:
            if is_package:
                source = _stat(place + ".py")
            above, _, module = place.rpartition("/")
            with open(f"{above}/__pycache__/{module}{self._ending}", "rb") as file:
                data = file.read()
        except OSError:
            return None
        if not _is_up_to_date(data, source):
            return None
        spec = _new_spec(name, _Loader(place + ".py", data), is_package=is_package)
        if is_package:
            spec.submodule_search_locations = [folder]
        return spec


class _Loader:
    """Loads one of them."""

    def __init__(self, path: str, data: bytes) -> None:
        self._path = path
        self._data = data

    def create_module(self, spec: object) -> None:
        """The interface of the import system: as usual."""

    def exec_module(self, module: ModuleType) -> None:
        """The interface of the import system."""
        module.__file__ = self._path
        data, self._data = self._data, b""  # the loader stays as long as its module
        code = _external._compile_bytecode(memoryview(data)[_HEADER:], module.__name__, None, self._path)
        exec(code, module.__dict__)


def _is_up_to_date(data: bytes, source: os.stat_result) -> bool:
    """Whether a compiled file is that of a source by its time and size (PEP 552, without a hash)."""
    return (
        data[:4] == _external.MAGIC_NUMBER
        and data[4:8] == b"\0\0\0\0"
        and int.from_bytes(data[8:12], "little") == int(source.st_mtime) & _SIZE
        and int.from_bytes(data[12:16], "little") == source.st_size & _SIZE
    )


_finders: list[_Finder] = []


def begin(folder: str) -> None:
    """The runtime is about to be loaded from a folder."""
    global _collects
    _collects = gc.isenabled()
    gc.disable()
    if sys.pycache_prefix is None:
        _finders.append(_Finder(folder))
        sys.meta_path.insert(0, _finders[0])


def collect_again() -> None:
    """The collector may work again: call it before memory is kept apart, as each part has a collector of its own."""
    if _collects:
        gc.enable()


def end() -> None:
    """The program is about to begin: from now on, modules are loaded as usual."""
    for finder in _finders:
        sys.meta_path.remove(finder)
    _finders.clear()
