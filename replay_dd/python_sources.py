"""Parses the sources of programs, and keeps quiet about what the interpreter would warn of.

From Python 3.12 on, the parser warns of unknown escapes in strings. A user who asks for the cause of a failure would
get these warnings in between, once more for each mixture of two versions.
"""

from __future__ import annotations

import ast
import contextlib
import threading
import warnings
from collections.abc import Iterator

_ONE_AT_A_TIME = threading.Lock()  # `catch_warnings` changes what all threads share


@contextlib.contextmanager
def without_warnings() -> Iterator[None]:
    """Ignore all warnings meanwhile."""
    with _ONE_AT_A_TIME, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def parsed(text: str | bytes) -> ast.Module:
    """The syntax tree of a source.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: it is no Python, or nested too deeply.
    """
    with without_warnings():
        return ast.parse(text)
