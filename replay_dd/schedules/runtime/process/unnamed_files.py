"""Files without a name that the program has open before its first thread: temporary files that nobody else can find.

Test runners catch output in them. Copies of the process share such a file and their place in it, so after each copy
the server puts back what was there. Copies run one after another, so none sees another's.
"""

from __future__ import annotations

import os
import stat

_MOST_BYTES = 64 << 20
_READ_AT_ONCE = 1 << 20

# Taken before the program, or the runtime, puts others in their place.
_fstat, _pread, _pwrite, _lseek, _ftruncate = os.fstat, os.pread, os.pwrite, os.lseek, os.ftruncate


class UnnamedFiles:
    """The files without a name among open descriptors, as they were when this was made.

    Args:
        numbers: the descriptors to look at.

    Attributes:
        numbers: those that are open for such a file.
    """

    def __init__(self, numbers: list[int]) -> None:
        self._files: dict[int, tuple[bytes, int]] = {}
        for number in numbers:
            try:
                if is_unnamed(number):
                    self._files[number] = (_content(number), _lseek(number, 0, os.SEEK_CUR))
            except OSError:
                continue  # only for writing, sealed, or gone: copies would share it
        self.numbers = frozenset(self._files)

    def put_back(self) -> None:
        """Undo what a copy did to them."""
        for number, (content, place) in self._files.items():
            if _content(number) != content:
                _ftruncate(number, 0)
                written = 0
                while written < len(content):
                    written += _pwrite(number, content[written:], written)
            _lseek(number, place, os.SEEK_SET)


def is_unnamed(number: int) -> bool:
    """Whether a descriptor is a file without a name that is not too large to be put back."""
    try:
        told = _fstat(number)
    except OSError:
        return False  # the descriptor used for listing
    return stat.S_ISREG(told.st_mode) and told.st_nlink == 0 and told.st_size <= _MOST_BYTES


def _content(number: int) -> bytes:
    parts: list[bytes] = []
    length = 0
    while part := _pread(number, _READ_AT_ONCE, length):
        parts.append(part)
        length += len(part)
    return b"".join(parts)
