"""Which changes of modules and of what other modules import from them need each other.

Rules of this module:

* A name that leaves a module leaves it together with the imports that take it from there; an import of a name that
  comes to a module needs it to be there. Elsewhere, the name may be defined as before.
* An import that, together with old ones that go, would let two modules import each other needs these to go.
* Only imports outside of functions count, between files that change; a module is found by its path from the folders
  above the one that imports it that are no packages themselves.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from replay_dd.changes.bindings import deltas_of_lines
from replay_dd.changes.bound import bound_at_top
from replay_dd.changes.difference import Difference
from replay_dd.changes.file_change import FileChange, Kind
from replay_dd.changes.outlines import is_python
from replay_dd.python_sources import parsed

_OF_FILES = {Kind.ADD: (False, True), Kind.REMOVE: (True, False), Kind.RENAME: (True, True)}
"""Deltas of a whole file: whether it leaves its old place, and whether it comes to a new one."""


@dataclass(frozen=True, slots=True)
class _Import:
    """A module, or a name in one, that a file imports in a line, from 0."""

    module: str
    name: str
    line: int


@dataclass
class _Side:
    """One version of the files that change.

    Attributes:
        paths: where they are.
        packages: the paths of all ``__init__.py``.
        imports: by their paths, what they import, and which deltas bring or take that.
    """

    paths: Collection[str]
    packages: Collection[str]
    imports: dict[str, list[tuple[_Import, int | None]]] = field(default_factory=dict)

    def edges(self) -> dict[str, set[str]]:
        """For each module those that it imports."""
        return {path: {one.module for one, _ in found} - {path} for path, found in self.imports.items()}

    def importing(self) -> dict[tuple[str, str], list[int]]:
        """The deltas of the imports by the path and the name that they take; an empty name has all from that path."""
        found: dict[tuple[str, str], list[int]] = {}
        for one, delta in itertools.chain.from_iterable(self.imports.values()):
            if delta is not None:
                for name in {one.name, ""}:
                    found.setdefault((one.module, name), []).append(delta)
        return found


class _Tied:
    """The pairs of a delta and one that it needs.

    Args:
        difference: the two versions.
    """

    def __init__(self, difference: Difference) -> None:
        self._difference = difference
        self._lost: dict[tuple[str, str], list[int]] = {}
        self._gained: dict[tuple[str, str], list[int]] = {}
        files = [number for number, file in enumerate(difference.files) if is_python(file)]
        paths = [(file.old_path, file.new_path) for file in map(difference.files.__getitem__, files)]
        before, after = {path for path, _ in paths if path}, {path for _, path in paths if path}
        packages = {path for path in difference.old if _is_package(path)}
        self._old = _Side(before, packages)
        self._new = _Side(after, packages - before | {*filter(_is_package, after)})
        for number in files:
            self._read(number)

    def pairs(self) -> Iterator[tuple[int, int]]:
        """A delta, and one that it needs."""
        importing = self._old.importing()
        for lost, taking in self._lost.items():
            own = set(taking)
            for going in importing.get(lost, ()):
                if going not in own:
                    yield from ((one, going) for one in taking)
        for found in self._new.imports.values():
            for one, delta in found:
                if delta is not None:
                    coming = [*self._gained.get((one.module, one.name), ()), *self._gained.get((one.module, ""), ())]
                    yield from ((delta, needed) for needed in coming if needed != delta)
        yield from self._circles()

    def _circles(self) -> Iterator[tuple[int, int]]:
        before, after = self._old.edges(), self._new.edges()
        reached_before, reached_after = _Reached(before), _Reached(after)
        for path, found in self._new.imports.items():
            for one, delta in found:
                if delta is None or one.module in before.get(path, ()) or path in reached_after.of(one.module):
                    continue
                if path not in reached_before.of(one.module):
                    continue
                for middle in {one.module, *reached_before.of(one.module)} - {path}:
                    for other, going in self._old.imports.get(middle, ()):
                        leads = other.module == path or path in reached_before.of(other.module)
                        if leads and going is not None and other.module not in after.get(middle, ()):
                            yield delta, going

    def _read(self, number: int) -> None:
        """Note what a file imports, and which names come to it and leave it."""
        file, deltas = self._difference.files[number], self._difference.deltas_of(number)
        whole = [delta for delta in deltas if self._difference.kind(delta) in _OF_FILES]
        for delta in whole:
            leaves, comes = _OF_FILES[self._difference.kind(delta)]
            if leaves and file.old_path:
                self._lost.setdefault((file.old_path, ""), []).append(delta)
            if comes and file.new_path:
                self._gained.setdefault((file.new_path, ""), []).append(delta)
        lines = deltas_of_lines(self._difference, number)
        arrived = _arrivals(self._difference, number)
        # A line that does not change comes with a file that is added, or goes with one that is removed.
        alone = whole[0] if whole and (file.old is None or file.new is None) else None
        for new, side, path in ((False, self._old, file.old_path), (True, self._new, file.new_path)):
            if path is None:
                continue
            text = _lines_of(file, new=new)
            side.imports[path] = [
                (one, lines.get((new, one.line), alone))
                for one in _imports(path, text, side)
                if new or one.line not in arrived
            ]
        if file.lines and file.old_path and file.new_path:
            before, after = bound_at_top(file.before), bound_at_top(file.after)
            for name in {*before, *after}:
                had = [line for line in before.get(name, ()) if line not in arrived]
                taking = [lines.get((False, line)) for line in had]
                bringing = [lines.get((True, line)) for line in after.get(name, ())]
                bringing += [arrived[line] for line in before.get(name, ()) if line in arrived]
                if had and name not in after and None not in taking:
                    self._lost[file.old_path, name] = [one for one in taking if one is not None]
                elif not had and name in after:
                    self._gained[file.new_path, name] = [one for one in bringing if one is not None]


def needs_of_imports(difference: Difference) -> Iterator[tuple[int, int]]:
    """Pairs of a delta and one that it needs."""
    return iter(dict.fromkeys(_Tied(difference).pairs()))


class _Reached:
    """Which modules each one imports, itself or through others."""

    def __init__(self, edges: Mapping[str, Iterable[str]]) -> None:
        self._edges = edges
        self._known: dict[str, frozenset[str]] = {}

    def of(self, path: str) -> frozenset[str]:
        if path not in self._known:
            found, waiting = set[str](), [path]
            while waiting:
                more = {*self._edges.get(waiting.pop(), ())} - found
                found |= more
                waiting += more
            self._known[path] = frozenset(found)
        return self._known[path]


def _arrivals(difference: Difference, number: int) -> dict[int, int]:
    """The old lines of a file that arrive from others, and the deltas that bring them."""
    return {
        line: delta
        for delta in difference.deltas_of(number)
        if (arrival := difference.arrival(delta)) is not None
        for line in arrival.before
    }


def _lines_of(file: FileChange, *, new: bool) -> bytes:
    if file.lines:
        return b"".join(file.after if new else file.before)
    entry = file.new if new else file.old
    return b"" if entry is None or entry.link is not None else entry.read()


def _imports(path: str, text: bytes, here: _Side) -> Iterator[_Import]:
    """What a file imports from others, outside of functions."""
    try:
        module = parsed(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    waiting: list[ast.stmt] = [*module.body]
    while waiting:
        statement = waiting.pop()
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                found = _module(path, 0, alias.name, here)
                if found:
                    yield _Import(found, "", alias.lineno - 1)
        elif isinstance(statement, ast.ImportFrom):
            for alias in statement.names:
                inner = _module(path, statement.level, f"{statement.module or ''}.{alias.name}".strip("."), here)
                outer = _module(path, statement.level, statement.module or "", here)
                if inner or outer:
                    yield _Import(inner or outer, "" if inner else alias.name, alias.lineno - 1)
        elif not (isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.dump(statement.test)):
            for part in ("body", "orelse", "finalbody"):
                if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                    waiting += getattr(statement, part, ())
            for handler in getattr(statement, "handlers", ()):
                waiting += handler.body


def _is_package(path: str) -> bool:
    return path.rpartition("/")[2] == "__init__.py"


def _module(path: str, level: int, name: str, here: _Side) -> str:
    """The file of a module, as another one names it; empty if it is none that changes."""
    folders = [*PurePosixPath(path).parents]
    if level:
        folders = folders[level - 1 : level]
    else:
        inner = (folder for folder in folders[:-1] if str(folder / "__init__.py") not in here.packages)
        folders = [*inner, folders[-1]]
    for folder in folders:
        place = folder.joinpath(*name.split(".")) if name else folder
        for found in (f"{place}.py", str(place / "__init__.py")):
            if found in here.paths:
                return found
    return ""
