"""A folder as one input: its files in one piece of data, from which parts can be left out as from any file.

Rules of this module:

* Each file is a mark, its path, its mode, and its body. The mark occurs in no file, so what is left after any cut that
  leaves the heads whole can be unpacked again.
* A file whose head is left out is not there; one whose body is left out is empty.
* Links and other special files are not packed, and neither are folders without files.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from replay_dd.errors.user import InputError
from replay_dd.experiment.journal import is_journal
from replay_dd.input.trees import Cut, Node, Parse, everything

_END = b"\0"
_SKIPPED = (".git", "__pycache__")


@dataclass(frozen=True, slots=True)
class PackedFile:
    """A file in the data.

    Attributes:
        path: its path in the folder, with slashes.
        mode: its permissions.
        start: where its head begins.
        body: where its body begins and ends.
    """

    path: str
    mode: int
    start: int
    body: Cut

    @property
    def size(self) -> int:
        """How many bytes its body has."""
        return self.body[1] - self.body[0]


@dataclass(frozen=True)
class Packing:
    """How the files of one folder are packed.

    Attributes:
        mark: what each file begins with.
    """

    mark: bytes

    def files(self, data: bytes) -> Iterator[PackedFile]:
        """The files in the data, in order."""
        start = data.find(self.mark)
        while start >= 0:
            stop = data.find(self.mark, start + len(self.mark))
            end = stop if stop >= 0 else len(data)
            path_at = start + len(self.mark)
            mode_at = data.index(_END, path_at) + 1
            body_at = data.index(_END, mode_at) + 1
            path = os.fsdecode(data[path_at : mode_at - 1])
            yield PackedFile(path, int(data[mode_at : body_at - 1]), start, (body_at, end - len(_END)))
            start = stop

    def size(self, data: bytes) -> int:
        """How many bytes the files have together."""
        return sum(file.size for file in self.files(data))

    def unpack(self, data: bytes, folder: Path) -> None:
        """Write the files into a folder, which is made."""
        folder.mkdir(parents=True, exist_ok=True)
        for file in self.files(data):
            path = folder / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data[slice(*file.body)])
            path.chmod(file.mode)

    def tree(self, data: bytes) -> Node:
        """The folders and files."""
        files = list(self.files(data))
        ends = [*(file.start for file in files[1:]), len(data)]
        root = Node(0, len(data), "folder")
        for file, end in zip(files, ends, strict=True):
            parents = file.path.split("/")[:-1]
            node = root
            for depth in range(len(parents)):
                # Kinds of their own: a folder cannot take the place of the one that it is in.
                kind = "/".join(["folder", *parents[: depth + 1]])
                if not node.children or node.children[-1].kind != kind:
                    node.children.append(Node(file.start, end, kind))
                node = node.children[-1]
                node.stop = end
            node.children.append(Node(file.start, end, f"file/{file.path}"))
        return root

    def trees_inside(self, parser: Callable[[str, bytes], Parse | None]) -> Parse:
        """A parser of the data: a tree of each body.

        Args:
            parser: chooses the parser for a file by its path and its body; None for no tree.
        """

        def parsed(data: bytes) -> Node:
            root = Node(0, len(data), "folder")
            for file in self.files(data):
                first, last = file.body
                parse = parser(file.path, data[first:last])
                if first == last or parse is None:
                    continue
                tree = parse(data[first:last])
                for node in everything(tree):
                    node.start += first
                    node.stop += first
                # A node of its own around it: the body as a whole can be left out.
                root.children.append(Node(first, last, f"file/{file.path}", tree.children))
            return root

        return parsed


def pack(folder: Path) -> tuple[Packing, bytes]:
    """Pack the files of a folder.

    Raises:
        InputError: a file cannot be read, or there are none.
    """
    found: list[tuple[bytes, int, bytes]] = []
    try:
        for name, folders, names in os.walk(folder, onerror=_fail):
            folders[:] = sorted(one for one in folders if one not in _SKIPPED)
            for path in (Path(name, one) for one in sorted(names)):
                status = path.lstat()
                if stat.S_ISREG(status.st_mode) and not is_journal(path):
                    place = os.fsencode(path.relative_to(folder).as_posix())
                    found.append((place, stat.S_IMODE(status.st_mode), path.read_bytes()))
    except OSError as error:
        raise InputError(f"The folder {folder} cannot be read: {error.filename}: {error.strerror}.") from error
    if not found:
        raise InputError(f"The folder {folder} has no files.", "Give the folder that holds the input.")
    # In the order of whole paths, so that the files of a folder stand together.
    found.sort(key=lambda file: file[0].split(b"/"))
    return packed([(os.fsdecode(path), mode, body) for path, mode, body in found])


def packed(files: Sequence[tuple[str, int, bytes]]) -> tuple[Packing, bytes]:
    """Pack files, each of which is a path, its permissions and its content, in this order."""
    mark = _mark([body for _, _, body in files])
    return Packing(mark), b"".join(
        mark + os.fsencode(path) + _END + str(mode).encode() + _END + body + _END for path, mode, body in files
    )


def _fail(error: OSError) -> None:
    raise error


def _mark(bodies: list[bytes]) -> bytes:
    digest = hashlib.blake2b(digest_size=15)
    for body in bodies:
        digest.update(body)
    return _END + digest.digest().replace(_END, b"\1")
