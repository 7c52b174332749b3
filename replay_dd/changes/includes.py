"""Which files a build reads through others: sources that include a changed header must be compiled again.

Rules of this module:

* Many builds compile a source only if it is newer than what was made of it: those of Python's extensions look at no
  headers, and makefiles without dependences neither. A build that is kept from mixture to mixture would be stale.
* Files are told apart by their last names: taking a file for one that includes another costs a compilation only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable

_INCLUDES = re.compile(
    rb"^[ \t]*(?:#[ \t]*(?:include|import)[ \t]*[<\"]([^>\"\n]+)[>\"]"
    rb"|include[ \t]+['\"]([^'\"\n]+)['\"]"  # Cython
    rb"|(?:from[ \t]+([\w.]+)[ \t]+)?cimport[ \t]+([\w.]+))",
    re.MULTILINE,
)
_READ = (
    *(".c", ".cc", ".cpp", ".cxx", ".m", ".mm", ".cu"),
    *(".h", ".hh", ".hpp", ".hxx", ".inc", ".ipp", ".def"),
    *(".pyx", ".pxd", ".pxi"),
)


def is_read(path: str) -> bool:
    """Whether this is a source that may include others, or is included."""
    return path.endswith(_READ)


def included_in(text: bytes) -> frozenset[str]:
    """The last names of the files that a source includes."""
    found: set[str] = set()
    for match in _INCLUDES.finditer(text):
        name = (match[1] or match[2] or b"").decode("utf-8", "replace")
        if name:
            found.add(name.rpartition("/")[2])
        else:
            module = (match[3] or match[4]).decode()
            found.update({f"{module.rpartition('.')[2]}.pxd", f"{match[4].decode().rpartition('.')[2]}.pxd"})
    return frozenset(found)


def includers(
    changed: Collection[str], paths: Iterable[str], included: Callable[[str], frozenset[str]]
) -> frozenset[str]:
    """The files that include changed ones, directly or through others; without those that changed themselves.

    Args:
        changed: paths of files that were written or removed.
        paths: all files that there are.
        included: the last names of the files that one of them includes.
    """
    names = {path.rpartition("/")[2] for path in changed if is_read(path)}
    if not names:
        return frozenset()
    sources = {path: included(path) for path in paths if is_read(path)}
    found: set[str] = set()
    while more := [path for path, wanted in sources.items() if path not in found and not names.isdisjoint(wanted)]:
        found.update(more)
        names.update(path.rpartition("/")[2] for path in more)
    return frozenset(found.difference(changed))
