"""Writes differences as patches that ``git apply`` and ``patch -p1`` take."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping

from replay_dd.changes.difference import Difference, Version, lines_of
from replay_dd.dd import IntervalSet

_NO_FILE = "/dev/null"
_FILE, _LINK = "100644", "120000"


def patch_between(difference: Difference, before: IntervalSet, after: IntervalSet) -> bytes:
    """What leads from one mixture to another, as a unified diff.

    Args:
        difference: the two versions.
        before: the deltas applied in the first one.
        after: those applied in the other.
    """
    left, right = difference.mixture(before), difference.mixture(after)
    pieces: list[bytes] = []
    for path in sorted({*left, *right}):
        pieces += _of_file(path, _version(difference, left, path), _version(difference, right, path))
    return b"".join(pieces)


def _version(difference: Difference, mixture: Mapping[str, Version | None], path: str) -> Version | None:
    if path in mixture:
        return mixture[path]
    entry = difference.old.get(path)
    return None if entry is None else Version((), entry.mode, None, entry)


def _of_file(path: str, before: Version | None, after: Version | None) -> Iterator[bytes]:
    old, new = _content(before), _content(after)
    old_mode, new_mode = _mode(before), _mode(after)
    if (old, old_mode, before is None) == (new, new_mode, after is None):
        return
    yield f"diff --git a/{path} b/{path}\n".encode()
    if before is None:
        yield f"new file mode {new_mode}\n".encode()
    elif after is None:
        yield f"deleted file mode {old_mode}\n".encode()
    elif old_mode != new_mode:
        yield f"old mode {old_mode}\nnew mode {new_mode}\n".encode()
    if old == new:
        return
    names = (_NO_FILE if before is None else f"a/{path}", _NO_FILE if after is None else f"b/{path}")
    if b"\0" in old or b"\0" in new:
        yield f"Binary files {names[0]} and {names[1]} differ\n".encode()
        return
    lines = difflib.diff_bytes(
        difflib.unified_diff, lines_of(old), lines_of(new), names[0].encode(), names[1].encode(), lineterm=b"\n"
    )
    for line in lines:
        yield line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n"


def _content(version: Version | None) -> bytes:
    if version is None:
        return b""
    if version.content is not None:
        return version.content
    assert version.entry is not None
    return version.entry.read() if version.entry.link is None else version.entry.link.encode()


def _mode(version: Version | None) -> str:
    if version is None:
        return _FILE
    if version.entry is not None and version.entry.link is not None:
        return _LINK
    return "100755" if version.mode & 0o100 else _FILE
