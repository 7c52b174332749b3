"""Which files of two versions belong together, and what happens to each of them.

Rules of this module:

* A file that is gone and one that is new are one file that was renamed, if they are the same or similar enough.
* So are files of which another one has taken the place, as where two change places: what lies at one path in both
  versions, and has little in common, need not be one file.
* What is not text is replaced as a whole. Of functions that came from another file, lines change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from replay_dd.changes.bound import bound_at_top
from replay_dd.changes.brought import Source
from replay_dd.changes.file_change import FileChange, Kind
from replay_dd.changes.line_changes import line_changes
from replay_dd.changes.moved import arrivals, as_they_were
from replay_dd.changes.tree import Entry, Tree

SIMILAR = 0.5
"""How much of its lines a file must share with a removed one to count as renamed."""
_LARGEST_TEXT = 20_000_000
_LOOKED_AT = 8000  # bytes in which a text has no zero; what `git diff` looks at
_MOST_PAIRS = 100_000  # of files compared to find renamed ones
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
    renamed |= _displaced(old, new, renamed)
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
            change = _change(source, path, old[source], new[path])
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


def _change(old_path: str, new_path: str, old: Entry, new: Entry) -> FileChange:
    kinds = (Kind.RENAME,) if old_path != new_path else ()
    texts = _texts(old, new)
    if not old.is_same(new) and texts is None:
        return FileChange(old_path, new_path, old, new, (*kinds, Kind.REPLACE))
    if old.mode != new.mode:
        kinds = (*kinds, Kind.MODE)
    before, after = texts or ((), ())
    return FileChange(old_path, new_path, old, new, kinds, tuple(line_changes(new_path, before, after)), before, after)


def _texts(old: Entry, new: Entry) -> tuple[Sequence[bytes], Sequence[bytes]] | None:
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
    by_size: dict[tuple[int, str | None], list[str]] = {}
    for path in added:
        by_size.setdefault((new[path].size, new[path].link), []).append(path)
    taken: set[str] = set()
    for path in removed:
        for other in by_size.get((old[path].size, old[path].link), ()):
            if other not in taken and old[path].size and old[path].is_same(new[other]):
                found[path] = other
                taken.add(other)
                break
    left = [path for path in removed if path not in found]
    others = [path for path in added if path not in taken]
    return found | _alike(old, new, left, others)


def _displaced(old: Tree, new: Tree, renamed: Mapping[str, str]) -> dict[str, str]:
    """Which files went elsewhere though another file is at their path now, and what came there."""
    texts = {path: texts for path in old if path in new and (texts := _texts(old[path], new[path])) is not None}
    counted = {path: (_counted(before), _counted(after)) for path, (before, after) in texts.items()}
    # What is mostly gone from a file is not gone with it: what is left must be foreign, too.
    foreign = [path for path, (one, other) in counted.items() if one and other and _kept(one, other) < SIMILAR]
    left = [path for path in old if path not in new and path not in renamed]
    others = [path for path in new if path not in old and path not in {*renamed.values()}]
    return _alike(old, new, [*left, *foreign], [*others, *foreign]) if foreign else {}


def _alike(old: Tree, new: Tree, left: Sequence[str], others: Sequence[str]) -> dict[str, str]:
    """Which files of both versions are similar enough, the most similar first; none with the same path."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    if len(left) * len(others) > _MOST_PAIRS:
        return found
    counted = {path: _line_counts(old[path]) for path in left}
    counted_new = {path: _line_counts(new[path]) for path in others}
    pairs = [
        (-share, path, other)
        for path, lines in counted.items()
        for other, new_lines in counted_new.items()
        if path != other and (share := _share(lines, new_lines)) >= SIMILAR
    ]
    for _, path, other in sorted(pairs):
        if path not in found and other not in taken:
            found[path] = other
            taken.add(other)
    return found


def _line_counts(entry: Entry) -> Counter[bytes]:
    if entry.link is not None or entry.size > _LARGEST_TEXT:
        return Counter()
    return _counted(entry.read().split(b"\n"))


def _counted(lines: Sequence[bytes]) -> Counter[bytes]:
    return Counter(line.rstrip(b"\n") for line in lines if line.strip())


def _share(one: Counter[bytes], other: Counter[bytes]) -> float:
    most = max(one.total(), other.total())
    return (one & other).total() / most if most else 0.0


def _kept(one: Counter[bytes], other: Counter[bytes]) -> float:
    return (one & other).total() / min(one.total(), other.total())
