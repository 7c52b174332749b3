"""Streams that the program gives to the standard library, which writes to them or reads from them: ``json.dump``.

Rules of this module:

* What the library does with a stream is known from the name of the function or method, and from how it was opened.
* A stream of the program's own classes shows what it does in its own code.
"""

from __future__ import annotations

from . import values
from .access import FILE
from .files import of_open_file
from .taking import taken_from

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

    from .access import Access
    from .names import Names
    from .operands import Expression

_MODULES = ("_io", "io")
_COPIES = ("copyfileobj",)
_WRITES = (
    *("dump", "write", "tofile", "writexml", "pprint", "pp", "dump_stats", "print_help", "print_usage"),
    *("print_exc", "print_exception", "print_last", "print_stack", "print_tb", "dump_traceback"),
)
_READS = ("load", "read_file", "fromfile", "parse")


def of_given_streams(name: str, arguments: list[Any], expressions: list[Expression], names: Names) -> list[Access]:
    """What a function or method of the standard library does to the streams that it gets.

    Args:
        name: of the function or method.
        arguments: what it gets; mostly, none is a stream.
        expressions: how the arguments are called.
        names: how objects are called.
    """
    given = zip(arguments, expressions, strict=True)
    return [one for stream, way in given for one in _of_stream(stream, name, names.name_of(stream, way))]


def _of_stream(stream: object, name: str, called: str) -> list[Access]:
    if values.module_name(type(stream)) not in _MODULES:
        return []
    access = of_open_file(stream, "write", called) if name in _WRITES or name in _COPIES else None
    takes = access is None and (name in _READS or name in _COPIES)
    if takes:
        access = of_open_file(stream, "read", called)
    if access is None:
        return []
    access.detail = f"{name}()"
    # What is written in a file is the file's; how far it was read is the stream's.
    return [taken_from(stream, name, called), access] if takes and access.sort == FILE else [access]
