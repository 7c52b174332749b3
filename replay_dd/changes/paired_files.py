"""Which files of two versions belong together, and what happens to each of them.

Rules of this module:

* A file that is gone and one that is new are one file that was renamed, if they are the same or similar enough.
* What is not text is replaced as a whole. Of functions that came from another file, lines change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from replay_dd.changes.file_change import FileChange, Kind
from replay_dd.changes.line_changes import line_changes
from replay_dd.changes.moved import Lost, arrivals, as_they_were
from replay_dd.changes.tree import Entry, Tree

SIMILAR = 0.5
"""How much of its lines a file must share with a removed one to count as renamed."""
_LARGEST_TEXT = 20_000_000
_LOOKED_AT = 8000  # bytes in which a text has no zero; what `git diff` looks at
_MOST_PAIRS = 100_000  # of files compared to find renamed ones


def file_changes(old: Tree, new: Tree) -> Iterator[FileChange]:
    """What happens to the files between two versions, in the order of their paths.

    Args:
        old: the old version.
        new: the new version.
    """
    removed = [path for path in old if path not in new]
    added = [path for path in new if path not in old]
    renamed = _renamed(old, new, removed, added)
    found: dict[str, FileChange] = {}
    for path in removed:
        if path not in renamed:
            found[path] = FileChange(path, None, old[path], None, (Kind.REMOVE,))
    sources = {target: source for source, target in renamed.items()}
    for path in new:
        source = sources.get(path, path)
        if source not in old:
            found[path] = FileChange(None, path, None, new[path], (Kind.ADD,))
        else:
            change = _change(source, path, old[source], new[path])
            if change.count:
                found[path] = change
    for path, file in _with_moved_functions(found):
        found[path] = file
    yield from (found[path] for path in sorted(found))


def _with_moved_functions(files: Mapping[str, FileChange]) -> Iterator[tuple[str, FileChange]]:
    """The files with functions that came from other files: lines of these change."""
    added = [(path, file.new) for path, file in files.items() if file.old is None and file.new is not None]
    texts = [(path, lines) for path, entry in added if (lines := _text(entry)) is not None]
    lost = [Lost(file.old_path, file.before, file.after) for file in files.values() if file.old_path and file.lines]
    gone = [(path, file.old) for path, file in files.items() if file.new is None and file.old is not None]
    lost += [Lost(path, lines, ()) for path, entry in gone if (lines := _text(entry)) is not None]
    for path, lines in texts:
        before = as_they_were(path, lines, lost)
        changes = tuple(line_changes(path, before, lines))
        if changes:
            yield path, replace(files[path], lines=changes, before=before, after=lines)
    for path, file in files.items():
        if not (file.old_path and file.new_path and file.lines):
            continue
        elsewhere = [one for one in lost if one.path != file.old_path]
        before, arrived = arrivals(path, file.before, file.after, elsewhere)
        if arrived:
            kinds = (*file.kinds, *(Kind.ARRIVE for _ in arrived))
            changes = tuple(line_changes(path, before, file.after))
            yield path, replace(file, kinds=kinds, lines=changes, before=before, arrivals=arrived)


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
    if len(left) * len(others) > _MOST_PAIRS:
        return found
    counted = {path: _line_counts(old[path]) for path in left}
    counted_new = {path: _line_counts(new[path]) for path in others}
    pairs = [
        (-share, path, other)
        for path, lines in counted.items()
        for other, new_lines in counted_new.items()
        if (share := _share(lines, new_lines)) >= SIMILAR
    ]
    for _, path, other in sorted(pairs):
        if path not in found and other not in taken:
            found[path] = other
            taken.add(other)
    return found


def _line_counts(entry: Entry) -> Counter[bytes]:
    if entry.link is not None or entry.size > _LARGEST_TEXT:
        return Counter()
    return Counter(line for line in entry.read().split(b"\n") if line.strip())


def _share(one: Counter[bytes], other: Counter[bytes]) -> float:
    most = max(one.total(), other.total())
    return (one & other).total() / most if most else 0.0
