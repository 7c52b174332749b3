"""Archives: the files in a ZIP or tar file, or in one that is compressed alone, are reduced as those of a folder.

Rules of this module:

* An archive is opened only where the program fails in the same way on one that is written anew from what was read.
* ZIP files are written without compression, all others with that which they had. Times are those that the format
  begins with, so that the same files always make the same archive.
* What is neither a file nor a folder is not written again. A damaged or encrypted archive is not opened.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any, NamedTuple

from replay_dd.experiment.ending import Oracle
from replay_dd.input.folder import PackedFile, Packing, packed
from replay_dd.input.target import Target
from replay_dd.outcome import Outcome

_LARGEST = 1 << 26  # bytes of all files: beyond that, each test would take long
_PERMISSIONS = 0o7777
_IN_ZIP = 16  # bits before the permissions
_UNIX = 3  # the system that permissions in a ZIP file are of
_TAR_MARK = slice(257, 262)
_UNREADABLE = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError),
    *(OSError, EOFError, RuntimeError, ValueError),  # a password or an unknown compression is a RuntimeError
)


class _Compression(NamedTuple):
    """How a file is compressed as a whole.

    Attributes:
        mark: what it begins with.
        open: opens a compressed file.
        compress: makes it, always the same.
    """

    mark: bytes
    open: Callable[[io.BytesIO], Any]
    compress: Callable[[bytes], bytes]


_COMPRESSIONS = (
    _Compression(b"\x1f\x8b", gzip.open, lambda content: gzip.compress(content, mtime=0)),
    _Compression(b"BZh", bz2.open, bz2.compress),
    _Compression(b"\xfd7zXZ\0", lzma.open, lzma.compress),
)
_Member = tuple[str, int, bytes]  # path, permissions, content
_Files = Sequence[tuple[PackedFile, bytes]]
_Write = Callable[[_Files], bytes]


@dataclass(frozen=True)
class Archive:
    """How an archive is written.

    Attributes:
        packing: how its files are packed as one input.
        write: makes the archive of files.
        compress: compresses it as a whole.
    """

    packing: Packing
    write: _Write
    compress: Callable[[bytes], bytes] = bytes

    def __call__(self, data: bytes) -> bytes:
        """The archive of the files in the data."""
        return self.compress(self.write([(file, data[slice(*file.body)]) for file in self.packing.files(data)]))


def opened(content: bytes, target: Target, oracle: Oracle) -> tuple[bytes, Target]:
    """The files in an archive, and a target that makes archives of them; what was given where that is no use.

    Args:
        content: the input.
        target: runs the program on it.
        oracle: what counts as a failure.

    Raises:
        ProgramNotFoundError: there is no such program.
    """
    found = _read(content, target.name)
    if found is None:
        return content, target
    write, compress, members = found
    packing, data = packed(members)
    other = replace(target, packing=packing, archive=Archive(packing, write, compress))
    oracle = oracle.about(content, data).named([*target.names(content), *other.names(data)])
    before = oracle.ending(target.run(content), content)
    if before.verdict is not Outcome.FAIL or not oracle.ending(other.run(data), data).is_like(before):
        return content, target
    return data, other


def _read(content: bytes, name: str) -> tuple[_Write, Callable[[bytes], bytes], list[_Member]] | None:
    """How to write an archive, how to compress it, and what is in it; None for what is no archive."""
    if len(content) > _LARGEST:
        return None
    try:
        compression = next((one for one in _COMPRESSIONS if content.startswith(one.mark)), None)
        if compression is None:
            found = _members(content)
            return None if found is None else (found[0], bytes, found[1])
        with compression.open(io.BytesIO(content)) as file:
            inner = file.read(_LARGEST + 1)
        if not 0 < len(inner) <= _LARGEST:
            return None
        write, members = _members(inner) or (_only, [(PurePath(name).stem, 0o644, inner)])
        return write, compression.compress, members
    except _UNREADABLE:
        return None


def _members(content: bytes) -> tuple[_Write, list[_Member]] | None:
    """How to write an archive, and what is in it; None if it is none, or too large."""
    if zipfile.is_zipfile(io.BytesIO(content)):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            infos = archive.infolist()
            if sum(info.file_size for info in infos) > _LARGEST:
                return None
            members = [
                (info.filename, info.external_attr >> _IN_ZIP & _PERMISSIONS, archive.read(info)) for info in infos
            ]
        write: _Write = _as_zip
    elif content[_TAR_MARK] == b"ustar":
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            members = list(_in_tar(archive))
        write = _as_tar
    else:
        return None
    paths = {path for path, _, _ in members}
    # Of two with one name, programs see the last one only, and the answer would say nothing of that.
    return (write, members) if members and len(paths) == len(members) else None


def _in_tar(archive: tarfile.TarFile) -> Iterator[_Member]:
    for info in archive:
        file = archive.extractfile(info) if info.isfile() else None
        if file is not None:
            yield info.name, info.mode & _PERMISSIONS, file.read()
        elif info.isdir():
            yield info.name.rstrip("/") + "/", info.mode & _PERMISSIONS, b""


def _as_zip(files: _Files) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for file, content in files:
            info = zipfile.ZipInfo(file.path)
            info.create_system = _UNIX
            info.external_attr = file.mode << _IN_ZIP
            archive.writestr(info, content)
    return made.getvalue()


def _as_tar(files: _Files) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for file, content in files:
            info = tarfile.TarInfo(file.path)
            info.type = tarfile.DIRTYPE if file.path.endswith("/") else tarfile.REGTYPE
            info.size = len(content)
            info.mode = file.mode
            archive.addfile(info, io.BytesIO(content))
    return made.getvalue()


def _only(files: _Files) -> bytes:
    """The one file that is compressed alone, or nothing."""
    return b"".join(content for _, content in files)
