"""Names that bind changes together: what an error misses, and which changes define or mention it.

Rules of this module:

* Names are found by how they look, in any language: no compiler is asked. A name too many costs a run, never a wrong
  answer, since whatever is put together is run.
* What is written for people uses no names: texts of several lines and comments of Python, and files of prose.
* A change *defines* a name if a line that it adds looks like a definition of it. It *mentions* a name if one of the
  lines that it adds or removes contains it: where the old definition is gone, those that no longer use it are wanted.

Source: the failure resolution loop and the lexical criteria of ESEC/FSE 1999, sections 6 and 8.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import PurePosixPath

from replay_dd.changes.difference import Difference
from replay_dd.changes.file_change import FileChange, Kind
from replay_dd.changes.outlines import is_in_long_import, is_python, outline, parts_of_strings
from replay_dd.changes.tree import Entry
from replay_dd.dd import IntervalSet

_NAME = re.compile(r"[A-Za-z_]\w*")
_FILE_NAME = re.compile(r"[\w+-]+\.[A-Za-z]\w{0,3}\b")
_LARGEST_FILE = 1_000_000
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
    r"|TypeError: (?:\w+\.)*([A-Za-z_]\w*)\(\)"  # Python: a call that does not fit
)
_MANGLED = re.compile(r"\b_Z(N?[KVrO]*\d\w+)")
_PRIVATE = re.compile(r"_\w*?[^\W_](__\w*[^\W_]_?)$")  # in an error of Python, such a name has its class before it
_IMPORTS = re.compile(r"^\s*from\s+\S+\s+import\s+(.+)$|\b(?:import|as)\s+([A-Za-z_]\w*)")
_NO_FILE = re.compile(r"(?:error: |^)['\"]?([^\s:'\"]+\.\w+)['\"]?: No such file|No rule to make target [`']([^']+)'")
_DEFINES_ANYWHERE = (
    r"\b(?:def|class|struct|union|enum|interface|trait|type|typedef|fn|func|function|let|const|var|val|static|extern)"
    r"\s+(?:[*&]\s*)?([A-Za-z_]\w*)"
    r"|#\s*define\s+([A-Za-z_]\w*)"
    r"|^\s*(?:[\w.]+\s*,\s*)*(?:\w+\.)?([A-Za-z_]\w*)\s*(?::[^=]+)?=(?!=)"  # an assignment
)
_DEFINES_IN_PYTHON = re.compile(_DEFINES_ANYWHERE)
_DEFINES = re.compile(
    _DEFINES_ANYWHERE + r"|^[A-Za-z_][\w\s*&<>,:]*?\b([A-Za-z_]\w*)\s*\("  # a function of C, which is not indented
    r"|^\s*[\w\s*]+\s[*&]*([A-Za-z_]\w*)\s*(?:\[[^]]*\])?\s*(?:;|=(?!=))"  # a member or a variable of C
    r"|^\s*([A-Za-z_]\w*)\s*(?:=\s*\w+\s*)?,\s*(?:/[/*].*)?$"  # one of an enumeration
    r"|^\s*([A-Za-z_]\w*)\s*:\s*$"  # a label of C
)
_HEAD = re.compile(r"\s*(?:async\s+)?def\s")
_SPECIAL = re.compile(r"__\w+__$")
_PARAMETER = re.compile(r"[(,]\s*\*{0,2}([A-Za-z_]\w*)\s*(?=[,:=)])")
_COMMENT = re.compile(r"(?:^|\s)#(?:\s.*)?$")
_PROSE = re.compile(r"\.(?:md|rst|typed)$|\.(?:dist|egg)-info/", re.IGNORECASE)


def missing_names(output: bytes) -> tuple[str, ...]:
    """The names that the errors in an output are about, in the order of the output, the last error first.

    Args:
        output: what a build or a program printed.
    """
    found: dict[str, None] = {}
    lines = output.decode("utf-8", "replace").splitlines()[-_MOST_LINES:]
    for line in reversed([line for line in lines if _ERROR_LINE.search(line)]):
        for match in _NO_FILE.finditer(line):
            found[PurePosixPath(match[1] or match[2]).name] = None
        for match in _QUOTED.finditer(line):
            parts = _NAME.findall(match[1].rpartition("/")[2])
            parts += [private[1] for part in parts if (private := _PRIVATE.match(part))]
            found.update(dict.fromkeys(reversed(parts)))
        for match in _MANGLED.finditer(line):
            found.update(dict.fromkeys(reversed(_demangled(match[1]))))
        for match in _UNQUOTED.finditer(line):
            found.update(dict.fromkeys(_NAME.findall(next(filter(None, match.groups()), ""))[:1]))
    return tuple(found)[:_MOST_NAMES]


def _demangled(name: str) -> list[str]:
    """The parts of a C++ symbol: each has its length before it (Itanium C++ ABI)."""
    parts: list[str] = []
    while match := re.match(r"\D{0,3}?(\d+)", name):
        length = int(match[1])
        parts.append(name[match.end() : match.end() + length])
        name = name[match.end() + length :]
        if name[:1] == "E":
            break
    return [part for part in parts if _NAME.fullmatch(part)]


def names_defined(line: str, *, python: bool = False) -> Iterable[str]:
    """The names that a line looks like defining; in Python, an element of a list is not one of an enumeration."""
    for match in (_DEFINES_IN_PYTHON if python else _DEFINES).finditer(line):
        for text in filter(None, match.groups()):
            # Python calls special methods where no name tells: another class with the same one does not need it.
            yield from (name for name in _NAME.findall(text) if not (_HEAD.match(line) and _SPECIAL.match(name)))
    if _HEAD.match(line):
        yield from _PARAMETER.findall(line)


@dataclass
class _Index:
    """The deltas that define, import, add, remove, or undefine each name."""

    defined: dict[str, list[int]] = field(default_factory=dict)
    imported: dict[str, list[int]] = field(default_factory=dict)
    added: dict[str, list[int]] = field(default_factory=dict)
    removed: dict[str, list[int]] = field(default_factory=dict)
    undefined: dict[str, list[int]] = field(default_factory=dict)
    unimported: dict[str, list[int]] = field(default_factory=dict)


class Names:
    """Which deltas define or mention a name.

    Args:
        difference: the two versions.
    """

    def __init__(self, difference: Difference) -> None:
        self._difference = difference

    @cached_property
    def _index(self) -> _Index:
        index = _Index()
        for delta in self._difference.all:
            file = self._difference.files[self._difference.file_of(delta)]
            change = self._difference.line_change(delta)
            called, uncalled = set[str](), set[str]()
            imported, unimported = set[str](), set[str]()
            if change is None:
                kind = self._difference.kind(delta)
                arrival = self._difference.arrival(delta)
                added = _lines_of(file.path, file.new) if kind is Kind.ADD else []
                removed = _lines_of(file.path, file.old) if kind is Kind.REMOVE else []
                names_of_file = {_stem(file.path), PurePosixPath(file.path).name}
                called, uncalled = (set(), names_of_file) if kind is Kind.REMOVE else (names_of_file, set())
                if arrival is not None:
                    added, called = [_text(file.before[line]) for line in arrival.before], {arrival.name}
            else:
                added = [_code(file, line, new=True) for line in range(change.new, change.new_stop)]
                removed = [_code(file, line, new=False) for line in range(change.old, change.old_stop)]
                if change.new < change.new_stop and is_in_long_import(file, change.new, new=True):
                    imported.update(words_of(added[0]))
                if change.old < change.old_stop and is_in_long_import(file, change.old, new=False):
                    unimported.update(words_of(removed[0]))
            defined = partial(names_defined, python=is_python(file))
            for names, found in (
                (called.union(*map(defined, added)), index.defined),
                (imported.union(*map(names_imported, added)), index.imported),
                (set().union(*map(words_of, added)), index.added),
                (set().union(*map(words_of, removed)), index.removed),
                (uncalled.union(*map(defined, removed)), index.undefined),
                (unimported.union(*map(names_imported, removed)), index.unimported),
            ):
                for name in names:
                    found.setdefault(name, []).append(delta)
        return index

    @property
    def defined(self) -> Collection[str]:
        """The names that deltas define."""
        return self._index.defined.keys()

    @property
    def undefined(self) -> Collection[str]:
        """The names of which deltas remove a definition."""
        return self._index.undefined.keys()

    @property
    def imported(self) -> Collection[str]:
        """The names that deltas import."""
        return self._index.imported.keys()

    @property
    def unimported(self) -> Collection[str]:
        """The names of which deltas remove an import."""
        return self._index.unimported.keys()

    def unimporting(self, name: str) -> IntervalSet:
        """The deltas that remove an import of a name."""
        return IntervalSet.of(self._index.unimported.get(name, ()))

    def defining(self, name: str) -> IntervalSet:
        """The deltas that define a name."""
        return IntervalSet.of(self._index.defined.get(name, ()))

    def importing(self, name: str) -> IntervalSet:
        """The deltas that import a name."""
        return IntervalSet.of(self._index.imported.get(name, ()))

    def undefining(self, name: str) -> IntervalSet:
        """The deltas that remove a line which defines a name."""
        return IntervalSet.of(self._index.undefined.get(name, ()))

    def adding(self, name: str) -> IntervalSet:
        """The deltas that add a line with a name."""
        return IntervalSet.of(self._index.added.get(name, ()))

    def removing(self, name: str) -> IntervalSet:
        """The deltas that remove a line with a name."""
        return IntervalSet.of(self._index.removed.get(name, ()))

    def mentioning(self, name: str) -> IntervalSet:
        """The deltas that add or remove a line with a name."""
        return self.adding(name) | self.removing(name)


def names_imported(line: str) -> Iterable[str]:
    """The names that a line looks like importing."""
    for match in _IMPORTS.finditer(line):
        for text in filter(None, match.groups()):
            yield from _NAME.findall(text)


def words_of(text: str) -> Collection[str]:
    """The names in a text, and those of files."""
    return {*_NAME.findall(text), *_FILE_NAME.findall(text)}


def _lines_of(path: str, entry: Entry | None) -> list[str]:
    """The lines of a file that is added or removed as a whole, as far as they are code."""
    if entry is None or entry.link is not None or entry.size > _LARGEST_FILE or _PROSE.search(path):
        return []
    lines = entry.read().split(b"\n")
    if not path.endswith(".py"):
        return [_text(line) for line in lines]
    ended = [line + b"\n" for line in lines]
    return [_without_words(_text(line), part) for line, part in zip(lines, parts_of_strings(path, ended), strict=True)]


def _code(file: FileChange, line: int, *, new: bool) -> str:
    """A line of a version of a file, as far as it is code."""
    if _PROSE.search(file.path):
        return ""
    text = _text((file.after if new else file.before)[line])
    return _without_words(text, outline(file, new=new).part_of_string(line)) if is_python(file) else text


def _without_words(line: str, part: str) -> str:
    """A line of Python without its comment, and without the lines of a text: what these mention, they do not use."""
    if part:
        quotes = [mark for mark in ('"""', "'''") if mark in line]
        if part == "first" and quotes:
            return line.partition(quotes[0])[0]
        if part == "last" and quotes:
            return line.rpartition(quotes[0])[2]
        return "" if part == "inside" else line
    return _COMMENT.sub("", line)


def _stem(path: str) -> str:
    """What an error calls a file: its name without the ending, or the folder of a package."""
    parts = path.rpartition("/")
    name = parts[2].partition(".")[0]
    return parts[0].rpartition("/")[2] if name == "__init__" else name


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace")
