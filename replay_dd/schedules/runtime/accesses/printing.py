"""A line that is printed to a stream that the call names."""

from __future__ import annotations

from . import values
from .files import of_open_file

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

    from .access import Access


def place_of_file(names: Any, arguments: int) -> int:
    """Which argument of ``print()`` is the stream; -1 if none is.

    Args:
        names: those of the last arguments.
        arguments: how many there are.
    """
    named = values.exactly(names, tuple) and "file" in names
    return arguments - len(names) + names.index("file") if named else -1


def printed_to(stream: object, called: str) -> Access | None:
    """A line that is printed to a stream; None if its own code shows what it writes.

    Args:
        stream: which one.
        called: how the stream is called.
    """
    access = of_open_file(stream, "write", called)
    if access is not None:
        access.detail = "print()"
    return access
