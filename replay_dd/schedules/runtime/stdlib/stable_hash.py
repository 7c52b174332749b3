"""Objects that the standard library keeps in sets, hashed by number instead of by address.

``ThreadPoolExecutor`` joins its threads in the order of a set, ``concurrent.futures.wait`` returns sets of futures.
These orders would follow addresses, which shift with every earlier allocation. Instead, the first object to be hashed
gets the hash 1, the next one 2, and so on: an order that the schedule determines.
"""

from __future__ import annotations

from ..observing import attribute, set_attribute

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


_ATTRIBUTE = "_replay_dd_number"


def hash_by_number(class_: Any) -> Callable[[Any], int]:
    """Let the instances of a class, and of its subclasses without a hash of their own, hash by number.

    Returns:
        What tells the number of an instance.
    """
    given = 0

    def __hash__(self: Any) -> int:
        nonlocal given
        number: int | None = attribute(self, _ATTRIBUTE)
        if number is None:
            given += 1
            number = given
            set_attribute(self, _ATTRIBUTE, number)
        return number

    class_.__hash__ = __hash__
    return __hash__


def adapt_threads(module: Any) -> None:
    """Hash threads by number; the main thread is there already, in a set that has its address as its hash."""
    hash_by_number(module.Thread)
    known = list(module._dangling)
    module._dangling.clear()
    module._dangling.update(known)


def adapt_futures(module: Any) -> None:
    """Hash futures by number, and let ``concurrent.futures`` acquire the locks of several in that order."""
    number = hash_by_number(module.Future)

    def __init__(self: Any, futures: Any) -> None:
        self.futures = sorted(futures, key=number)  # the original sorts them by address

    module._AcquireFutures.__init__ = __init__
