"""How many of the tests that are still to come have threads, as far as one can tell from those so far.

Rules of this module:

* Tests with threads stand together: most files have none, and some have hardly any others. A file that knows modules
  for concurrency by name is likelier to have some, so these files are counted apart from the rest.
* That is only a guess at first. A library may start threads where no test says so; what was seen corrects it.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

_CONCURRENT = {"_thread", "asyncio", "concurrent", "multiprocessing", "queue", "_queue", "threading"}
# Before any test was seen, a file has so many tests with threads among one.
_GUESSED = {True: 1.0, False: 0.2}


class Expectation:
    """Counts tests with threads, and those to come.

    Args:
        tests: those to come.
        workers: how many processes share in them, each by its own count.
    """

    def __init__(self, tests: Sequence[pytest.Item] = (), workers: int = 1) -> None:
        self._kinds: dict[int, bool] = {}
        kinds = Counter(map(self._knows_threads, tests))
        self._left = {kind: math.ceil(number / workers) for kind, number in kinds.items()}
        self._seen: Counter[bool] = Counter()
        self._threaded: Counter[bool] = Counter()

    def saw(self, test: pytest.Item, *, threads: bool) -> None:
        """Take a test that has just run, and whether it had threads."""
        kind = self._knows_threads(test)
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

    def _knows_threads(self, test: pytest.Item) -> bool:
        """Whether the file of a test has imported something for concurrency, or a part of it."""
        module: Any = getattr(test, "module", None)
        if id(module) not in self._kinds:
            known = list(getattr(module, "__dict__", {}).values())
            self._kinds[id(module)] = any(_origin(value).partition(".")[0] in _CONCURRENT for value in known)
        return self._kinds[id(module)]


def _origin(value: object) -> str:
    """The name of a module, or of the one in which a class or function was made; nothing of the suite's own is run."""
    if type(value) is type(sys):
        name = value.__dict__.get("__name__")
    elif isinstance(value, type):
        name = type.__getattribute__(value, "__dict__").get("__module__")
    else:
        name = value.__module__ if type(value) in (type(_origin), type(len)) else ""
    return name if isinstance(name, str) else ""
