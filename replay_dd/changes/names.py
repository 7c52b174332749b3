"""Names that bind changes together: what an error misses, and which changes define or mention it.

Rules of this module:

* Names are found by how they look, in any language: no compiler is asked. A name too many costs a run, never a wrong
  answer, since whatever is put together is run.
* A change *defines* a name if a line that it adds looks like a definition of it. It *mentions* a name if one of the
  lines that it adds or removes contains it: where the old definition is gone, those that no longer use it are wanted.

Source: the failure resolution loop and the lexical criteria of ESEC/FSE 1999, sections 6 and 8.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property

from replay_dd.changes.difference import Difference, Kind
from replay_dd.dd import IntervalSet

_NAME = re.compile(r"[A-Za-z_]\w*")
_MOST_LINES = 200  # of an output that are searched for errors
_MOST_NAMES = 8
_ERROR_LINE = re.compile(
    r"error|undefined|undeclared|unresolved|not defined|no attribute|has no member|cannot find|no module",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"['\"`‘“]([A-Za-z_][\w.:/]*)(?:\(\))?['\"`’”]")
# Where compilers and interpreters do not quote the name.
_UNQUOTED = re.compile(
    r"undefined: ([A-Za-z_]\w*)"  # Go
    r"|ReferenceError: ([A-Za-z_]\w*) is not defined"  # JavaScript
    r"|undefined symbol: ([A-Za-z_]\w*)"  # ld.so, lld
    r"|symbol: +\w+ ([A-Za-z_]\w*)"  # javac
    r"|fatal error: (\S+): No such file"  # cpp
    r"|TypeError: (?:\w+\.)*([A-Za-z_]\w*)\(\)"  # Python: a call that does not fit
)
_DEFINES = re.compile(
    r"\b(?:def|class|struct|union|enum|interface|trait|type|typedef|fn|func|function|let|const|var|val|static|extern|import|as)"
    r"\s+(?:[*&]\s*)?([A-Za-z_]\w*)"
    r"|#\s*define\s+([A-Za-z_]\w*)"
    r"|^\s*(?:[\w.]+\s*,\s*)*(?:\w+\.)?([A-Za-z_]\w*)\s*(?::[^=]+)?=(?!=)"  # an assignment
    r"|^[A-Za-z_][\w\s*&<>,:]*?\b([A-Za-z_]\w*)\s*\("  # a function of C, which is not indented
    r"|^\s*from\s+\S+\s+import\s+(.+)$"
    r"|^\s*[\w\s*]+\s[*&]*([A-Za-z_]\w*)\s*(?:\[[^]]*\])?\s*(?:;|=(?!=))"  # a member or a variable of C
)


def missing_names(output: bytes) -> tuple[str, ...]:
    """The names that the errors in an output are about, in the order of the output, the last error first.

    Args:
        output: what a build or a program printed.
    """
    found: dict[str, None] = {}
    lines = output.decode("utf-8", "replace").splitlines()[-_MOST_LINES:]
    for line in reversed([line for line in lines if _ERROR_LINE.search(line)]):
        for match in _QUOTED.finditer(line):
            parts = _NAME.findall(match[1].rpartition("/")[2])
            found.update(dict.fromkeys(reversed(parts)))
        for match in _UNQUOTED.finditer(line):
            found.update(dict.fromkeys(_NAME.findall(next(filter(None, match.groups()), ""))[:1]))
    return tuple(found)[:_MOST_NAMES]


def names_defined(line: str) -> Iterable[str]:
    """The names that a line looks like defining."""
    for match in _DEFINES.finditer(line):
        for text in filter(None, match.groups()):
            yield from _NAME.findall(text)
    before, colon, _ = line.partition(":")
    if colon and re.match(r"\s*(?:async\s+)?def\s", before):
        yield from _NAME.findall(before)  # the parameters


class Names:
    """Which deltas define or mention a name.

    Args:
        difference: the two versions.
    """

    def __init__(self, difference: Difference) -> None:
        self._difference = difference

    @cached_property
    def _index(self) -> Mapping[str, Mapping[str, list[int]]]:
        """The deltas that define, add and mention each name."""
        defined: dict[str, list[int]] = {}
        added_by: dict[str, list[int]] = {}
        mentioned: dict[str, list[int]] = {}
        for delta in self._difference.all:
            file = self._difference.files[self._difference.file_of(delta)]
            change = self._difference.line_change(delta)
            removed: list[str] = []
            if change is None:
                added, defines = self._whole_file(delta), {_stem(file.path)}
            else:
                added, defines = [_text(line) for line in file.after[change.new : change.new_stop]], set()
                removed = [_text(line) for line in file.before[change.old : change.old_stop]]
            for name in defines.union(*map(names_defined, added)):
                defined.setdefault(name, []).append(delta)
            names = set().union(*map(_NAME.findall, added))
            for name in names:
                added_by.setdefault(name, []).append(delta)
            for name in names.union(*map(_NAME.findall, removed)):
                mentioned.setdefault(name, []).append(delta)
        return {"defined": defined, "added": added_by, "mentioned": mentioned}

    def _whole_file(self, delta: int) -> list[str]:
        """The lines of a file that is added as a whole."""
        file = self._difference.files[self._difference.file_of(delta)]
        if self._difference.kind(delta) is not Kind.ADD or file.new is None or file.new.link is not None:
            return []
        if file.new.size > 1_000_000:
            return []
        return [_text(line) for line in file.new.read().split(b"\n")]

    def defining(self, name: str) -> IntervalSet:
        """The deltas that define a name."""
        return IntervalSet.of(self._index["defined"].get(name, ()))

    def adding(self, name: str) -> IntervalSet:
        """The deltas that add a line with a name."""
        return IntervalSet.of(self._index["added"].get(name, ()))

    def mentioning(self, name: str) -> IntervalSet:
        """The deltas that add or remove a line with a name."""
        return IntervalSet.of(self._index["mentioned"].get(name, ()))


def _stem(path: str) -> str:
    """What an error calls a file: its name without the ending, or the folder of a package."""
    parts = path.rpartition("/")
    name = parts[2].partition(".")[0]
    return parts[0].rpartition("/")[2] if name == "__init__" else name


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace")
