"""Whether a built-in container has changed, without keeping or comparing what is in it.

Rules of this module:

* Elements are told by their identities: to compare them would run the program's code.
"""

from __future__ import annotations

from _collections import deque  # type: ignore[import-not-found]  # the program may not have loaded `collections`

from .values import is_a, size

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

_MOST_KEPT = 1_000  # elements whose identities are kept for a while


def content(container: Any) -> object:
    """What tells whether a built-in container has changed: its elements' identities, or its length if it is large."""
    length = size(container)
    if length is None or length > _MOST_KEPT:
        return length
    if is_a(container, dict):
        return [(id(key), id(value)) for key, value in dict.items(container)]
    if is_a(container, set):
        return [id(one) for one in set.__iter__(container)]
    if is_a(container, list):
        return [id(one) for one in list.__iter__(container)]
    return [id(one) for one in deque.__iter__(container)] if is_a(container, deque) else length
