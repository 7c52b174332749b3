"""Which files of two versions belong together, and what happens to each of them.

Rules of this module:

* A file that is gone and one that is new are one file that was renamed, if they are the same or similar enough.
* So are files of which another one has taken the place, as where two change places: what lies at one path in both
  versions, and has little in common, need not be one file.
* What is not text is replaced as a whole. Of functions that came from another file, lines change.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from replay_dd.changes.alike import SIMILAR, alike
from replay_dd.changes.bound import bound_at_top
from replay_dd.changes.file_change import FileChange, Kind
from replay_dd.changes.line_changes import line_changes
from replay_dd.changes.moved import arrivals, as_they_were
from replay_dd.changes.origins import Source
from replay_dd.changes.tree import Entry, Tree

_LARGEST_TEXT = 20_000_000
_LOOKED_AT = 8000  # bytes in which a text has no zero; what `git diff` looks at
_Texts = tuple[Sequence[bytes], Sequence[bytes]]  # the old and the new lines of a file
_Key = tuple[str, bool]  # a path, and whether something lies there in the new version


def file_changes(old: Tree, new: Tree) -> Iterator[FileChange]:
    """What happens to the files between two versions, in the order of their paths.

    Args:
        old: the old version.
        new: the new version.
    """
    removed = [path for path in old if path not in new]
    added = [path for path in new if path not in old]
    renamed = _renamed(old, new, removed, added)
    texts = {path: texts for path in old if path in new and (texts := _texts(old[path], new[path])) is not None}
    renamed |= _displaced(old, new, texts, renamed)
    sources = {target: source for source, target in renamed.items()}
    found: dict[_Key, FileChange] = {}
    for path in old:
        if path not in renamed and (path not in new or path in sources):
            found[path, False] = FileChange(path, None, old[path], None, (Kind.REMOVE,))
    for path in new:
        source = sources.get(path, path if path in old and path not in renamed else None)
        if source is None:
            found[path, True] = FileChange(None, path, None, new[path], (Kind.ADD,))
        else:
            both = texts.get(path) if source == path else _texts(old[source], new[path])
            change = _change(source, path, old[source], new[path], both)
            if change.count:
                found[path, True] = change
    for key, file in _with_moved_functions(found):
        found[key] = file
    yield from (found[key] for key in sorted(found))


def _with_moved_functions(files: Mapping[_Key, FileChange]) -> Iterator[tuple[_Key, FileChange]]:
    """The files with functions that came from other files: lines of these change."""
    added = [(key, file.new) for key, file in files.items() if file.old is None and file.new is not None]
    texts = [(key, lines) for key, entry in added if (lines := _text(entry)) is not None]
    lost = [Source(file.old_path, file.before, file.after) for file in files.values() if file.old_path and file.lines]
    gone = [(path, file.old) for path, file in files.items() if file.new is None and file.old is not None]
    lost += [Source(path, lines, ()) for (path, _), entry in gone if (lines := _text(entry)) is not None]
    lost.sort(key=lambda one: (one.path.count("/"), one.path))  # copies, as of a build, lie deeper
    elsewhere = set[str]().union(*(bound_at_top(lines) for (path, _), lines in texts if path.endswith(".py")))
    for key, lines in texts:
        before = as_they_were(key[0], lines, lost, elsewhere)
        changes = tuple(line_changes(key[0], before, lines))
        if changes:
            yield key, replace(files[key], lines=changes, before=before, after=lines)
    for key, file in files.items():
        path = key[0]
        if not (file.old_path and file.new_path and file.lines):
            continue
        others = [one for one in lost if one.path != file.old_path]
        before, arrived = arrivals(path, file.before, file.after, others, elsewhere)
        if arrived:
            kinds = (*file.kinds, *(Kind.ARRIVE for _ in arrived))
            changes = tuple(line_changes(path, before, file.after))
            yield key, replace(file, kinds=kinds, lines=changes, before=before, arrivals=arrived)


def _text(entry: Entry) -> Sequence[bytes] | None:
    """The lines of a file that is text."""
    if entry.link is not None or entry.size > _LARGEST_TEXT:
        return None
    content = entry.read()
    return None if b"\0" in content[:_LOOKED_AT] else lines_of(content)


def _change(old_path: str, new_path: str, old: Entry, new: Entry, texts: _Texts | None) -> FileChange:
    kinds = (Kind.RENAME,) if old_path != new_path else ()
    if not old.is_same(new) and texts is None:
        return FileChange(old_path, new_path, old, new, (*kinds, Kind.REPLACE))
    if old.mode != new.mode:
        kinds = (*kinds, Kind.MODE)
    before, after = texts or ((), ())
    return FileChange(old_path, new_path, old, new, kinds, tuple(line_changes(new_path, before, after)), before, after)


def _texts(old: Entry, new: Entry) -> _Texts | None:
    """The lines of two files that are both text and not the same."""
    if old.is_same(new):
        return None
    before, after = _text(old), _text(new)
    return None if before is None or after is None else (before, after)


def lines_of(text: bytes) -> list[bytes]:
    """The lines of a text with their ends."""
    lines = text.split(b"\n")
    last = lines.pop()
    return [*(line + b"\n" for line in lines), *([last] if last else [])]


def _renamed(old: Tree, new: Tree, removed: Sequence[str], added: Sequence[str]) -> dict[str, str]:
    """Which removed files are found again among the added ones: the same, or similar enough."""
    found: dict[str, str] = {}
    sizes = {old[path].size for path in removed} & {new[path].size for path in added} - {0}
    same: defaultdict[bytes, deque[str]] = defaultdict(deque)
    for path in added:
        if new[path].size in sizes:
            same[new[path].digest()].append(path)
    for path in removed:
        if old[path].size in sizes and (others := same.get(old[path].digest())):
            found[path] = others.popleft()
    taken = {*found.values()}
    left = {path: _line_counts(old[path]) for path in removed if path not in found}
    return found | alike(left, {path: _line_counts(new[path]) for path in added if path not in taken})


def _displaced(old: Tree, new: Tree, texts: Mapping[str, _Texts], renamed: Mapping[str, str]) -> dict[str, str]:
    """Which files went elsewhere though another file is at their path now, and what came there."""
    counted = ((path, _counted(before), _counted(after)) for path, (before, after) in texts.items())
    # What is mostly gone from a file is not gone with it: what is left must be foreign, too.
    foreign = {path: (one, other) for path, one, other in counted if one and other and _kept(one, other) < SIMILAR}
    if not foreign:
        return {}
    found = {*renamed.values()}
    left = {path: _line_counts(old[path]) for path in old if path not in new and path not in renamed}
    others = {path: _line_counts(new[path]) for path in new if path not in old and path not in found}
    left |= {path: before for path, (before, _) in foreign.items()}
    others |= {path: after for path, (_, after) in foreign.items()}
    return alike(left, others)


def _line_counts(entry: Entry) -> Counter[bytes]:
    if entry.link is not None or entry.size > _LARGEST_TEXT:
        return Counter()
    return _counted(entry.read().split(b"\n"))


def _counted(lines: Sequence[bytes]) -> Counter[bytes]:
    return Counter(line.rstrip(b"\n") for line in lines if line.strip())


def _kept(one: Counter[bytes], other: Counter[bytes]) -> float:
    return (one & other).total() / min(one.total(), other.total())
