"""Rows of ``csv``, and objects of ``pickle``, that a writer puts into the stream that it was made with."""

from __future__ import annotations

import gc

from . import values
from .files import of_open_file

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

    from .access import Access

_METHODS = ("writerow", "writerows", "writeheader", "dump")
_WRITERS = ("_csv", "_pickle")


def rows_written(writer: Any, name: str, called: str) -> Access | None:
    """A call that writes rows or an object; None if it is none, or if the code of the stream shows what it writes.

    Args:
        writer: of ``csv`` or ``pickle``.
        name: of the method.
        called: how the stream is called, if it has no path.
    """
    if name not in _METHODS:
        return None
    if values.module_name(type(writer)) == "csv":  # a DictWriter, which has one of the other sort
        writer = (values.own_values(writer) or {}).get("writer")
    stream = _stream_of(writer)
    access = None if stream is None else of_open_file(stream, "write", called)
    if access is not None:
        access.detail = f"{name}()"
    return access


def _stream_of(writer: object) -> object:
    """What a writer in C writes to: it keeps the method of that, and shows it to the collector alone."""
    if values.module_name(type(writer)) not in _WRITERS:
        return None
    methods: Any = (one for one in gc.get_referents(writer) if type(one) is values.BuiltinFunctionType)
    return next((one.__self__ for one in methods if one.__name__ == "write"), None)
