"""Copies of folders for runs that must not change the originals, and paths that lead into them.

Rules of this module:

* What a run writes into its copy never reaches the original: contents are copied or cloned (reflinks), never linked.
* Symbolic links stay links. Those within the folder lead into the copy, all others to where they led before.
* Only what a program can use is copied: files, folders and links; no sockets, pipes and devices, nothing unreadable,
  and no folders of replay-dd itself.
* A folder that is too large for a copy per run is an error, and soon noticed: counting stops at the limit.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import shlex
import shutil
import stat
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from replay_dd.errors.user import FolderTooLargeError
from replay_dd.experiment.guard_process import MARKER, MARKER_TEXT

MOST_BYTES = 512 << 20
MOST_FILES = 50_000
# Copying so much took a second on a busy machine, and as long to remove it again.
_SLOW_BYTES = 100 << 20
_SLOW_FILES = 5_000
# Where a path begins in a command, also in an address, and where the name of a folder ends.
_BEGINS = r"(?:(?<![\w./-])|(?<=://)|(?<=:///))"
_ENDS = r"(?![\w-]|\.\w)"
_SPECIAL = re.compile(r"[^\w@%+=:,./-]")
_WITHOUT_MEANING = re.compile(r"""\\.|'[^']*'|"(?:\\.|[^"\\])*\"""", re.DOTALL)
_FICLONE = 0x40049409  # ioctl_ficlone(2)
_NO_REFLINKS = {errno.EOPNOTSUPP, errno.EXDEV, errno.ENOTTY, errno.EINVAL, errno.ENOSYS, errno.EPERM}


class WorkingCopy(NamedTuple):
    """A folder and its copy.

    Attributes:
        original: absolute path of the original.
        copy: absolute path of the copy.
    """

    original: Path
    copy: Path

    def path(self, text: str) -> str:
        """A path with the copy in the place of the original; others are returned as they are."""
        original = str(self.original)
        if text == original:
            return str(self.copy)
        return str(self.copy) + text[len(original) :] if text.startswith(original + os.sep) else text

    def argument(self, text: str) -> str:
        """A command-line argument, a path or ``option=path``, that leads to the same file as in the original.

        Absolute paths into the original lead into the copy; relative paths that leave it become absolute.
        """
        name, equals, value = text.partition("=")
        if equals and name.startswith("-"):
            return f"{name}={self.argument(value)}"
        if os.path.isabs(text):
            return self.path(text)
        if os.pardir in text.split(os.sep):
            there = os.path.normpath(self.original / text)
            if self.path(there) == there and os.path.exists(there):
                return there
        return text

    def told(self, text: str) -> str:
        """A text in which paths into the copy are those of the original."""
        return re.sub(re.escape(str(self.copy)) + _ENDS, lambda _: str(self.original), text)

    def command(self, text: str) -> str:
        """A command for a shell in which paths into the original, and its own, lead into the copy."""
        original, copy = str(self.original), str(self.copy)
        escaped = _SPECIAL.sub(r"\\\g<0>", original)
        forms = "|".join(map(re.escape, dict.fromkeys((shlex.quote(original), escaped, original))))

        def moved(found: re.Match[str]) -> str:
            is_quoted = found[0] == original and _ends_within_quotes(text[: found.start()])
            return copy if is_quoted else shlex.quote(copy)

        return re.sub(f"{_BEGINS}(?:{forms}){_ENDS}", moved, text)

    def environment(self, variables: Mapping[str, str]) -> dict[str, str]:
        """Environment variables in which paths into the original, also in lists, lead into the copy."""
        moved = {
            name: os.pathsep.join(self.path(part) for part in value.split(os.pathsep))
            for name, value in variables.items()
        }
        moved.pop("OLDPWD", None)
        return {**moved, "PWD": str(self.copy)}


def _ends_within_quotes(begun: str) -> bool:
    """Whether the beginning of a command for a shell ends between quotes."""
    return any(quote in _WITHOUT_MEANING.sub("", begun) for quote in "'\"")


def copy_folder(
    source: Path, target: Path, *, most_bytes: int | None = None, most_files: int | None = None
) -> WorkingCopy:
    """Copy a folder.

    Args:
        source: the folder.
        target: where to copy it; what is there already stays, unless the folder has something of the same name.
        most_bytes: the size of the files from which on the folder is too large; None for any.
        most_files: likewise, the number of files.

    Raises:
        FolderTooLargeError: it is too large, or there is no room for the copy.
    """
    source = Path(os.path.abspath(source))
    target = Path(os.path.abspath(target))
    _check_size(source, target, most_bytes, most_files)
    copy = WorkingCopy(source, target)
    try:
        _copy_into(source, target, copy)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise FolderTooLargeError(f"There is no room for a copy of {source} in {target.parent}.") from error
    return copy


class FolderSize(NamedTuple):
    """How much a copy of a folder takes.

    Attributes:
        size: bytes in its files.
        files: how many files and folders it holds.
        shares: how many of the bytes are in each of its entries.
    """

    size: int
    files: int
    shares: Counter[str]

    @property
    def largest(self) -> str:
        """The entry that most of the bytes are in; empty where there are none."""
        return next((name for name, _ in self.shares.most_common(1)), "")

    @property
    def is_slow(self) -> bool:
        """Whether copying it for each run is felt."""
        return self.size > _SLOW_BYTES or self.files > _SLOW_FILES


def size_of_copy(source: Path) -> FolderSize:
    """How much a copy of a folder takes; no more than :data:`MOST_FILES` files are counted."""
    last = deque(islice(_counted(source, Path(os.devnull)), MOST_FILES), maxlen=1)
    return last[0] if last else FolderSize(0, 0, Counter())


def _counted(source: Path, target: Path) -> Iterator[FolderSize]:
    """The size of what is to be copied, as it grows with each file."""
    shares: Counter[str] = Counter()
    size = 0
    for files, entry in enumerate(_below(source, target), 1):
        with contextlib.suppress(OSError):
            if entry.is_file(follow_symlinks=False):
                own = entry.stat(follow_symlinks=False).st_size
                size += own
                shares[os.path.relpath(entry.path, source).split(os.sep)[0]] += own
        yield FolderSize(size, files, shares)


def _check_size(source: Path, target: Path, most_bytes: int | None, most_files: int | None) -> None:
    if most_bytes is None and most_files is None:
        return
    for counted in _counted(source, target):
        if most_bytes is not None and counted.size > most_bytes:
            raise FolderTooLargeError(
                f"The working folder {source} holds more than {most_bytes >> 20:,} MB, most of it in "
                f"{counted.largest}: too much for a copy for each run."
            )
        if most_files is not None and counted.files > most_files:
            raise FolderTooLargeError(
                f"The working folder {source} holds more than {most_files:,} files: too many for a copy for each run."
            )


def _below(folder: Path, target: Path) -> Iterator[os.DirEntry[str]]:
    waiting = [str(folder)]
    while waiting:
        for entry in _entries(waiting.pop(), target):
            yield entry
            if entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)


def _entries(folder: str, target: Path) -> list[os.DirEntry[str]]:
    """What is to be copied from a folder."""
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError:
        return []
    return [entry for entry in entries if not (entry.is_dir(follow_symlinks=False) and _is_our_own(entry.path, target))]


def _is_our_own(folder: str, target: Path) -> bool:
    if target.is_relative_to(folder):
        return True
    try:
        with open(os.path.join(folder, MARKER), encoding="utf-8") as file:
            return file.read(len(MARKER_TEXT)) == MARKER_TEXT
    except (OSError, ValueError):
        return False


def _copy_into(source: Path, target: Path, copy: WorkingCopy) -> None:
    target.mkdir(mode=0o700, parents=True, exist_ok=True)
    for entry in _entries(str(source), copy.copy):
        there = target / entry.name
        # What vanishes meanwhile, or cannot be read, cannot be used by the program either.
        with contextlib.suppress(FileNotFoundError, PermissionError):
            if entry.is_symlink():
                _copy_link(entry, there, copy)
            elif entry.is_dir(follow_symlinks=False):
                _copy_into(Path(entry.path), there, copy)
            elif entry.is_file(follow_symlinks=False):
                _copy_file(entry.path, str(there))
    with contextlib.suppress(OSError):
        status = source.stat()
        # The copy is removed afterwards, and a program may have to write to it.
        os.chmod(target, stat.S_IMODE(status.st_mode) | stat.S_IRWXU)
        os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))


def _copy_link(entry: os.DirEntry[str], there: Path, copy: WorkingCopy) -> None:
    leads_to = os.readlink(entry.path)
    absolute = os.path.normpath(os.path.join(os.path.dirname(entry.path), leads_to))
    outside = copy.path(absolute) == absolute
    if os.path.isabs(leads_to):
        leads_to = copy.path(leads_to)
    elif outside:
        leads_to = absolute
    there.unlink(missing_ok=True)
    there.symlink_to(leads_to)


def _copy_file(source: str, target: str) -> None:
    with open(source, "rb") as reading:
        status = os.fstat(reading.fileno())
        with contextlib.suppress(FileNotFoundError):
            os.unlink(target)
        with open(target, "xb") as writing:
            if not _clone(reading.fileno(), writing.fileno()):
                shutil.copyfileobj(reading, writing, 1 << 20)
            os.fchmod(writing.fileno(), stat.S_IMODE(status.st_mode) | stat.S_IRUSR)
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))


def _clone(source: int, target: int) -> bool:
    """Whether the file system could share the contents until one of both is changed."""
    try:
        fcntl.ioctl(target, _FICLONE, source)
    except OSError as error:
        if error.errno not in _NO_REFLINKS:
            raise
        return False
    return True
