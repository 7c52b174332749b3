"""Which changes need which others, told by the names in them, before anything is run.

Rules of this module:

* A change that uses a name needs the changes that define it, if the old version does not have the name at all. A change
  that removes the last definition of a name needs those that remove its uses. The same goes for names that one version
  of a file does not have, as for what it imports.
* What is needed comes whole: all changes of a function, outside of functions the hunk.
* Of several definitions, those in the same function count, then those in the same file, then all but local variables.
  A name that many changes define tells nothing.
* This is a guess that saves runs, and never an answer: what is put together is run, and told to the search as it is.

Source: the lexical criteria of ESEC/FSE 1999, section 6.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import PurePosixPath
from typing import cast

from replay_dd.changes.bindings import needs_of_bindings
from replay_dd.changes.difference import Difference
from replay_dd.changes.file_change import Kind
from replay_dd.changes.imports import needs_of_imports
from replay_dd.changes.levels import by_hunk, by_symbol, is_in_function, is_local
from replay_dd.changes.local_names import needs_of_local_names
from replay_dd.changes.names import Names, words_of
from replay_dd.changes.pieces import pieces
from replay_dd.changes.signatures import needs_of_signatures
from replay_dd.changes.tree import Entry
from replay_dd.dd import EMPTY, IntervalSet

MOST_UNITS = 12
"""A name that more changes than this define or mention tells nothing."""
_LARGEST_UNIT = 500  # lines: tables of data are no units, and each of their names would bring all of them
_LARGEST_FILE = 2_000_000
_MOST_READ = 64_000_000  # bytes of both versions that are searched for names
_FUTURE = b"from __future__ import"
_COMPILED = frozenset({".c", ".cc", ".cpp", ".cxx", ".m", ".s"})


class Dependences:
    """Which deltas need which others.

    Args:
        difference: the two versions.
        names: the names in its deltas.

    Attributes:
        difference: the two versions.
        names: the names in its deltas.
    """

    def __init__(self, difference: Difference, names: Names) -> None:
        self.difference = self._difference = difference
        self.names = self._names = names
        self._units: dict[tuple[bool, Hashable], IntervalSet] = {}
        self._last_learnt: tuple[tuple[str, ...], Mapping[int, Sequence[Sequence[int]]]] = ((), {})

    def unit(self, delta: int) -> IntervalSet:
        """The deltas that come together with one: those of its function, elsewhere its hunk, unless it is too large."""
        if self._difference.kind(delta) is not Kind.LINE:
            return IntervalSet.of([delta])
        whole = is_in_function(self._difference, delta)
        members = self._by_symbol if whole else self._by_hunk
        key = (by_symbol if whole else by_hunk)(self._difference, delta)
        if len(members[key]) > _LARGEST_UNIT:
            return IntervalSet.of([delta])
        unit = self._units.get((whole, key))
        if unit is None:
            unit = self._units[whole, key] = IntervalSet.of(members[key])
        return unit

    def units(self, deltas: Iterable[int]) -> tuple[IntervalSet, ...]:
        """The units of some deltas, each once."""
        return tuple(dict.fromkeys(self.unit(delta) for delta in deltas))

    def closed(self, deltas: IntervalSet, within: IntervalSet, learnt: Sequence[str] = ()) -> IntervalSet:
        """Some deltas with all that they need.

        Args:
            deltas: the deltas.
            within: those that may be added.
            learnt: names that were missing where their definitions were.
        """
        found, allowed = set(deltas), set(within)
        waiting = list(found)
        needs = self._needs
        learnt_needs = self._learnt(learnt)
        while waiting:
            delta = waiting.pop()
            for needed in (*needs.get(delta, ()), *learnt_needs.get(delta, ())):
                for other in needed:
                    if other not in found and other in allowed:
                        found.add(other)
                        waiting.append(other)
        return IntervalSet.of(found)

    def reduced(self, deltas: IntervalSet, within: IntervalSet, learnt: Sequence[str] = ()) -> IntervalSet:
        """Some deltas without those that need others of a larger set.

        Args:
            deltas: the deltas.
            within: the larger set; what is needed beyond it does not count.
            learnt: names that were missing where their definitions were.
        """
        users, learnt_users = self._users, _users_of(self._learnt(learnt))
        left = set(deltas)
        waiting = list(within - deltas)
        while waiting:
            delta = waiting.pop()
            for user in (*users.get(delta, ()), *learnt_users.get(delta, ())):
                if user in left:
                    left.remove(user)
                    waiting.append(user)
        return IntervalSet.of([delta for delta in deltas if delta in left])

    @cached_property
    def _users(self) -> Mapping[int, Sequence[int]]:
        return _users_of(self._needs)

    def nearest(self, name: str, delta: int) -> tuple[IntervalSet, ...]:
        """The units that define a name, as its use in a delta would mean; none if there are too many."""
        defining, importing = self._names.defining(name), self._names.importing(name)
        if delta in defining:
            return ()
        near: Sequence[int] = ()
        if delta not in importing:
            place, file = by_symbol(self._difference, delta), self._difference.file_of(delta)
            all_ = defining | importing
            near = [one for one in all_ if by_symbol(self._difference, one) == place]
            near = near or [
                one for one in all_ if self._difference.file_of(one) == file and not is_local(self._difference, one)
            ]
        visible = [one for one in defining if not is_local(self._difference, one)]
        found = self.units(near or visible)
        return found if len(found) <= MOST_UNITS else ()

    def built_with(self, deltas: Iterable[int]) -> IntervalSet:
        """What lists the added files among some deltas, such as the lines of a makefile."""
        found: set[int] = set()
        for delta in deltas:
            path = PurePosixPath(self._difference.files[self._difference.file_of(delta)].path)
            if self._difference.kind(delta) is Kind.ADD and path.suffix in _COMPILED:
                units = self.units(self._names.mentioning(path.name) - IntervalSet.of([delta]))
                if len(units) <= MOST_UNITS:
                    found.update(*units)
        return IntervalSet.of(found)

    def _learnt(self, names: Sequence[str]) -> Mapping[int, Sequence[Sequence[int]]]:
        key = tuple(names)
        if self._last_learnt[0] != key:
            found: dict[int, list[Sequence[int]]] = {}
            for name in key:
                for user in self._names.adding(name):
                    found.setdefault(user, []).extend(map(tuple, self.nearest(name, user)))
            self._last_learnt = key, found
        return self._last_learnt[1]

    @cached_property
    def _by_hunk(self) -> Mapping[Hashable, list[int]]:
        return self._members(by_hunk)

    @cached_property
    def _by_symbol(self) -> Mapping[Hashable, list[int]]:
        return self._members(by_symbol)

    def _members(self, group_of: Callable[[Difference, int], Hashable]) -> Mapping[Hashable, list[int]]:
        found: dict[Hashable, list[int]] = {}
        for delta in self._difference.all:
            if self._difference.kind(delta) is Kind.LINE:
                found.setdefault(group_of(self._difference, delta), []).append(delta)
        return found

    @cached_property
    def _needs(self) -> Mapping[int, Sequence[Sequence[int]]]:
        """What each delta needs, by names that one of the versions does not have."""
        new, gone = set(self._names.defined), set(self._names.undefined)
        present = _Present(self._difference, new | gone)
        found: dict[int, dict[tuple[int, ...], None]] = {}
        for name in sorted(new - present.in_old):
            for user in self._names.adding(name):
                for unit in self.nearest(name, user):
                    found.setdefault(user, {})[tuple(unit)] = None
        for name in sorted(gone - present.in_new):
            uses = dict.fromkeys(map(tuple, self.units(self._names.removing(name))))
            for delta in self._names.undefining(name):
                found.setdefault(delta, {}).update(uses)
        self._add_needs_inside_files(found)
        self._add_needs_of_annotations(found)
        for delta, needed in needs_of_bindings(self._difference, self._names):
            found.setdefault(delta, {})[tuple(self.unit(needed))] = None
        for told in (needs_of_imports, needs_of_signatures, needs_of_local_names):
            for delta, needed in told(self._difference):
                found.setdefault(delta, {})[(needed,)] = None
        self._add_needs_of_places(found)
        self._add_needs_of_arrivals(found)
        self._add_needs_of_grammar(found)
        for delta in self._difference.all:
            if self._difference.kind(delta) is Kind.ADD and (listed := self.built_with([delta])):
                found.setdefault(delta, {})[tuple(listed)] = None
        return {delta: tuple(units) for delta, units in found.items()}

    def _add_needs_of_places(self, found: dict[int, dict[tuple[int, ...], None]]) -> None:
        """What leaves a place where another file lies afterwards, and what comes there, need each other."""
        leaving: dict[str | None, int] = {}
        coming: dict[str | None, int] = {}
        for number, file in enumerate(self._difference.files):
            if file.old_path != file.new_path:
                for delta in self._difference.deltas_of(number):
                    if self._difference.kind(delta) in (Kind.ADD, Kind.REMOVE, Kind.RENAME):
                        leaving[file.old_path] = coming[file.new_path] = delta
        for path in (leaving.keys() & coming.keys()) - {None}:
            found.setdefault(leaving[path], {})[(coming[path],)] = None
            found.setdefault(coming[path], {})[(leaving[path],)] = None

    def _add_needs_of_arrivals(self, found: dict[int, dict[tuple[int, ...], None]]) -> None:
        """A function that comes from another file goes from there; what changes in it needs it in its new place."""
        gone: dict[tuple[str | None, str], list[int]] = {}
        for key, members in self._by_symbol.items():
            number, symbol = cast("tuple[int, str]", key)
            old_path = self._difference.files[number].old_path
            gone.setdefault((old_path, symbol.partition(".")[0]), []).extend(members)
        for number, file in enumerate(self._difference.files):
            first = self._difference.deltas_of(number).first if file.arrivals else 0
            for delta in self._difference.deltas_of(number) if file.arrivals else EMPTY:
                change, arrival = self._difference.line_change(delta), self._difference.arrival(delta)
                needed = None if change is None else file.arrival_of(change)
                if needed is not None:
                    found.setdefault(delta, {})[(first + needed,)] = None
                if arrival is not None and (leaving := gone.get((arrival.source, arrival.name))):
                    found.setdefault(delta, {})[tuple(leaving)] = None
                    for other in leaving:
                        found.setdefault(other, {})[(delta,)] = None

    def _add_needs_of_grammar(self, found: dict[int, dict[tuple[int, ...], None]]) -> None:
        """The rest of each statement, and what must come or go with it: otherwise no mixture of them parses."""
        for number, file in enumerate(self._difference.files):
            if not file.lines:
                continue
            first = self._difference.deltas_of(number).first + len(file.kinds)
            told = pieces(file)
            for delta, needed in told.needs.items():
                found.setdefault(first + delta, {}).update(dict.fromkeys((first + other,) for other in needed))
            for whole in told.members().values():
                for one, other in zip(whole, [*whole[1:], whole[0]], strict=True):
                    if one != other:
                        found.setdefault(first + one, {})[(first + other,)] = None

    def _add_needs_of_annotations(self, found: dict[int, dict[tuple[int, ...], None]]) -> None:
        """In files that begin or cease to put off the evaluation of annotations: whatever may have some needs that."""
        for delta in self._names.importing("annotations") | self._names.unimporting("annotations"):
            change, number = self._difference.line_change(delta), self._difference.file_of(delta)
            if change is None:
                continue
            file, adds = self._difference.files[number], change.new < change.new_stop
            if not (file.after[change.new] if adds else file.before[change.old]).startswith(_FUTURE):
                continue
            for other in self._difference.deltas_of(number):
                also = self._difference.line_change(other)
                if other == delta or also is None:
                    continue
                if adds and also.new < also.new_stop:
                    found.setdefault(other, {})[(delta,)] = None
                elif not adds and also.old < also.old_stop:
                    found.setdefault(delta, {})[(other,)] = None

    def _add_needs_inside_files(self, found: dict[int, dict[tuple[int, ...], None]]) -> None:
        """The same for names that one version of a file does not have, wherever else they are."""
        words: dict[tuple[int, bool], Collection[str]] = {}

        def has(number: int, name: str, *, new: bool) -> bool:
            if (number, new) not in words:
                file = self._difference.files[number]
                lines = file.after if new else file.before
                words[number, new] = words_of(b"".join(lines).decode("utf-8", "replace"))
            return name in words[number, new]

        def in_files(deltas: IntervalSet) -> dict[int, list[int]]:
            told: dict[int, list[int]] = {}
            for delta in deltas:
                if self._difference.kind(delta) in (Kind.LINE, Kind.ARRIVE):
                    told.setdefault(self._difference.file_of(delta), []).append(delta)
            return told

        for name in sorted({*self._names.imported, *self._names.defined}):
            users = in_files(self._names.adding(name))
            for number, sources in in_files(self._names.importing(name) | self._names.defining(name)).items():
                seen = [one for one in sources if not is_local(self._difference, one)]
                units = [tuple(unit) for unit in self.units(seen)]
                if 0 < len(units) <= MOST_UNITS and not has(number, name, new=False):
                    for user in users.get(number, ()):
                        if user not in sources:
                            found.setdefault(user, {}).update(dict.fromkeys(units))
        for name in sorted({*self._names.unimported, *self._names.undefined}):
            users = in_files(self._names.removing(name))
            for number, sources in in_files(self._names.unimporting(name) | self._names.undefining(name)).items():
                if not has(number, name, new=True):
                    uses = dict.fromkeys(map(tuple, self.units(users.get(number, ()))))
                    for delta in sources:
                        found.setdefault(delta, {}).update(uses)


def _users_of(needs: Mapping[int, Sequence[Sequence[int]]]) -> Mapping[int, Sequence[int]]:
    """Which deltas need one."""
    users: dict[int, list[int]] = {}
    for delta, units in needs.items():
        for needed in units:
            for other in needed:
                users.setdefault(other, []).append(delta)
    return users


class _Present:
    """Which names occur in the two versions.

    Args:
        difference: the two versions.
        names: the names that are looked for.

    Attributes:
        in_old: those in the old version; all of them if it is too large to be read.
        in_new: those in the new version, likewise.
    """

    def __init__(self, difference: Difference, names: set[str]) -> None:
        changed = {path for file in difference.files for path in (file.old_path, file.new_path)}
        same = [entry for path, entry in difference.old.items() if path not in changed]
        sides = [[file.old for file in difference.files], [file.new for file in difference.files]]
        size = sum(entry.size for entry in (*same, *sides[0], *sides[1]) if entry is not None)
        if size > _MOST_READ:
            self.in_old = self.in_new = names
            return
        in_both = _names_in(same, names)
        self.in_old, self.in_new = (in_both | _names_in(entries, names) for entries in sides)


def _names_in(entries: Iterable[Entry | None], names: set[str]) -> set[str]:
    found: set[str] = set()
    for entry in entries:
        if entry is not None and entry.link is None and entry.size <= _LARGEST_FILE:
            content = entry.read()
            if b"\0" not in content:
                found |= names.intersection(words_of(content.decode("utf-8", "replace")))
    return found
