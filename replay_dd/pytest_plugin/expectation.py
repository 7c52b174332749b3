"""How many of the tests that are still to come have threads, as far as one can tell from those so far.

Rules of this module:

* Tests with threads stand together: most files have none, and some have hardly any others. A test that names what its
  file has imported for concurrency is likely to be one, another test of such a file less so, and others hardly ever. So
  each kind is counted apart.
* That is only a guess at first. A library may start threads where no test says so; what was seen corrects it.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from types import CodeType
from typing import Any

import pytest

_CONCURRENT = {"_thread", "asyncio", "concurrent", "multiprocessing", "threading"}
_NAMED_BY_TEST, _NAMED_BY_FILE, _NOT_NAMED = "named by the test", "named by its file", "not named"
# As many tests as these have had threads, of one test, before the first one was seen.
_GUESSED = {_NAMED_BY_TEST: 1.0, _NAMED_BY_FILE: 0.5, _NOT_NAMED: 0.2}


class Expectation:
    """Counts tests with threads, and those to come.

    Args:
        tests: those to come.
        workers: how many processes share in them, each by its own count.
    """

    def __init__(self, tests: Sequence[pytest.Item] = (), workers: int = 1) -> None:
        self._names: dict[int, set[str]] = {}
        kinds = Counter(map(self._kind_of, tests))
        self._left = {kind: math.ceil(number / workers) for kind, number in kinds.items()}
        self._seen: Counter[str] = Counter()
        self._threaded: Counter[str] = Counter()

    def saw(self, test: pytest.Item, *, threads: bool) -> None:
        """Take a test that has just run, and whether it had threads."""
        kind = self._kind_of(test)
        self._left[kind] = max(0, self._left.get(kind, 0) - 1)
        self._seen[kind] += 1
        self._threaded[kind] += threads

    @property
    def left(self) -> int:
        """How many tests are to come."""
        return sum(self._left.values())

    @property
    def with_threads(self) -> float:
        """How many of them are expected to have threads."""
        return sum(
            number * (self._threaded[kind] + _GUESSED[kind]) / (self._seen[kind] + 1)
            for kind, number in self._left.items()
        )

    def _kind_of(self, test: pytest.Item) -> str:
        module: Any = getattr(test, "module", None)
        if id(module) not in self._names:
            known = dict(getattr(module, "__dict__", {})).items()
            self._names[id(module)] = {name for name, value in known if _is_concurrent(_origin(value))}
        names = self._names[id(module)]
        code = getattr(getattr(test, "function", None), "__code__", None)
        if isinstance(code, CodeType) and any(name in names or _is_concurrent(name) for name in _names_in(code)):
            return _NAMED_BY_TEST
        return _NAMED_BY_FILE if names else _NOT_NAMED


def _names_in(code: CodeType) -> Iterator[str]:
    """The globals, attributes and modules that a function names, and those that functions inside of it do."""
    yield from code.co_names
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _names_in(one)


def _is_concurrent(module: str) -> bool:
    return module.partition(".")[0] in _CONCURRENT


def _origin(value: object) -> str:
    """The name of a module, or of the one in which a class or function was made; nothing of the suite's own is run."""
    if type(value) is type(sys):
        name = value.__dict__.get("__name__")
    elif isinstance(value, type):
        name = type.__getattribute__(value, "__dict__").get("__module__")
    else:
        name = value.__module__ if type(value) in (type(_origin), type(len)) else ""
    return name if isinstance(name, str) else ""
