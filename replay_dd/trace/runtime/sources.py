"""The user's own modules: which they are, and how they are loaded rewritten.

Rules of this module:

* Own are the modules in the working folder and beside the script; not libraries that are installed there.
* The working folder is another copy in each process: files go by their path within it.
"""

from __future__ import annotations

import importlib.machinery
import os
import sys
import types
from typing import Any

from .instrument import instrument

FILE_SHIFT = 32


class Sources:
    """The rewritten modules: their numbers, and those of their statements and functions."""

    def __init__(self, folder: str, beside: str) -> None:
        self._root = os.path.join(os.path.realpath(folder), "")
        self._folders = tuple(os.path.join(os.path.realpath(one), "") for one in dict.fromkeys((folder, beside)))
        self.files: dict[str, dict[str, Any]] = {}
        self._numbers: dict[str, int] = {}
        self._ready: dict[str, types.CodeType] = {}

    def is_own(self, path: str) -> bool:
        """Whether a file is the user's own."""
        real = os.path.realpath(path)
        if not real.startswith(self._folders) or not real.endswith(".py"):
            return False
        parts = real.split(os.sep)
        if "site-packages" in parts or "dist-packages" in parts:
            return False
        homes = (os.path.join(os.path.realpath(home), "") for home in (sys.prefix, sys.base_prefix))
        return not any(real.startswith(home) and not self._folders[0].startswith(home) for home in homes)

    def code_of(self, path: str, source: bytes, name: str) -> types.CodeType:
        """A module, rewritten and compiled."""
        path = os.path.realpath(path)
        own = path[len(self._root) :] if path.startswith(self._root) else path
        if path not in self._ready:
            number = self._numbers.setdefault(own, len(self._numbers))
            first = number << FILE_SHIFT
            made = instrument(source, name, first, first)
            self.files[own] = {
                "number": number,
                "sites": made.sites,
                "codes": made.codes,
                "undivided": made.undivided,
                "name": name,
            }
            self._ready[path] = compile(made.tree, path, "exec", dont_inherit=True)
        return self._ready[path]

    def prepare(self, files: dict[str, Any]) -> None:
        """Rewrite the modules of a trace, under the numbers that they had."""
        self._ready.clear()
        self._numbers = {own: one["number"] for own, one in files.items()}
        for own, one in files.items():
            path = os.path.join(self._root, own)
            with open(path, "rb") as file:
                self.code_of(path, file.read(), one["name"])


class OwnLoader(importlib.machinery.SourceFileLoader):
    """Loads one of the user's modules, rewritten."""

    sources: Sources

    def get_code(self, fullname: str) -> types.CodeType:
        """The rewritten code; what is compiled elsewhere is neither read nor written."""
        return self.sources.code_of(self.path, self.get_data(self.path), fullname)


class OwnFinder:
    """Finds modules as ever, and loads the user's own ones rewritten."""

    def __init__(self, sources: Sources) -> None:
        OwnLoader.sources = sources

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """As the import system asks it."""
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or type(spec.loader) is not importlib.machinery.SourceFileLoader or spec.origin is None:
            return None
        if not OwnLoader.sources.is_own(spec.origin):
            return None
        spec.loader = OwnLoader(name, spec.origin)
        return spec
