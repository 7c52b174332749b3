"""Writes differences as patches that ``git apply`` and ``patch -p1`` take."""

from __future__ import annotations

import base64
import difflib
import hashlib
import os
import re
import zlib
from collections.abc import Iterator, Mapping

from replay_dd.changes.difference import Difference
from replay_dd.changes.file_change import Version
from replay_dd.changes.paired_files import lines_of
from replay_dd.dd import IntervalSet

_NO_FILE = b"/dev/null"
_NO_BLOB = "0" * 40
_BYTES_A_LINE = 52
_QUOTED = re.compile(rb'[\x00-\x1f\x7f-\xff"\\]')
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
    if before is not None and after is not None and (old_mode == _LINK) != (new_mode == _LINK):
        yield from _of_file(path, before, None)  # a patch cannot turn a file into a link
        yield from _of_file(path, None, after)
        return
    left, right = _named("a/", path), _named("b/", path)
    yield b"diff --git %s %s\n" % (left, right)
    if before is None:
        yield f"new file mode {new_mode}\n".encode()
    elif after is None:
        yield f"deleted file mode {old_mode}\n".encode()
    elif old_mode != new_mode:
        yield f"old mode {old_mode}\nnew mode {new_mode}\n".encode()
    if old_mode == new_mode == _LINK and before is not None and after is not None:
        yield f"index {_blob(old)}..{_blob(new)} {_LINK}\n".encode()  # so that `patch` takes it for a link, too
    if b"\0" in old or b"\0" in new:
        yield from _binary(old, new, before is None, after is None)
    elif old != new:
        names = (_NO_FILE if before is None else left, _NO_FILE if after is None else right)
        yield from _lines(old, new, *(name + b"\t" if b" " in name else name for name in names))


def _lines(old: bytes, new: bytes, left: bytes, right: bytes) -> Iterator[bytes]:
    for line in difflib.diff_bytes(difflib.unified_diff, lines_of(old), lines_of(new), left, right, lineterm=b"\n"):
        yield line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n"


def _binary(old: bytes, new: bytes, is_new: bool, is_gone: bool) -> Iterator[bytes]:
    """Both contents, as `git diff --binary` has them; that patch goes both ways."""
    names = (_NO_BLOB if is_new else _blob(old), _NO_BLOB if is_gone else _blob(new))
    yield f"index {names[0]}..{names[1]}\nGIT binary patch\n".encode()
    for content in (new, old):
        yield f"literal {len(content)}\n".encode()
        packed = zlib.compress(content)
        for start in range(0, len(packed), _BYTES_A_LINE):
            part = packed[start : start + _BYTES_A_LINE]
            length = len(part) + (ord("A") - 1 if len(part) <= 26 else ord("a") - 27)
            yield b"%c%s\n" % (length, base64.b85encode(part, pad=True))
        yield b"\n"


def _blob(content: bytes) -> str:
    """The name that git gives a content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _named(prefix: str, path: str) -> bytes:
    """A path as git writes it: in quotes if it has characters that need that."""
    name = os.fsencode(prefix + path)
    if not _QUOTED.search(name):
        return name
    return b'"' + _QUOTED.sub(lambda found: b"\\%03o" % found[0][0], name) + b'"'


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
