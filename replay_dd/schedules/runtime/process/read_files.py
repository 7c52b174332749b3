"""Files that the program has open only to read them, before its first thread.

Copies of the process would share the place up to which such a file has been read. So each opens it anew, and goes to
that place.
"""

from __future__ import annotations

import os
import stat

# Taken before the program, or the runtime, puts others in their place.
_fstat, _open, _close, _dup2, _lseek, _read = os.fstat, os.open, os.close, os.dup2, os.lseek, os.read
_get_inheritable = os.get_inheritable

_ACCESS = os.O_RDONLY | os.O_WRONLY | os.O_RDWR
_MOST_BYTES = 4096


class ReadFiles:
    """The files among open descriptors that are only read.

    Args:
        numbers: the descriptors to look at.

    Attributes:
        numbers: those that are such a file.
    """

    def __init__(self, numbers: list[int]) -> None:
        self.numbers = frozenset(number for number in numbers if is_only_read(number))

    def open_anew(self) -> None:
        """In a copy: give each file a place of its own in it."""
        for number in self.numbers:
            own = _open_again(number)
            _lseek(own, _lseek(number, 0, os.SEEK_CUR), os.SEEK_SET)
            _dup2(own, number, _get_inheritable(number))
            _close(own)


def is_only_read(number: int) -> bool:
    """Whether a descriptor is a file, open to be read and nothing else, that can be opened once more."""
    try:
        if not stat.S_ISREG(_fstat(number).st_mode) or _flags_of(number) & _ACCESS != os.O_RDONLY:
            return False
        _close(_open_again(number))
    except OSError:
        return False  # it belongs to another user, or is the descriptor used for listing
    return True


def _flags_of(number: int) -> int:
    """How a file was opened, as proc_pid_fdinfo(5) tells it: that needs no module that the program may not have yet."""
    info = _open(f"/proc/self/fdinfo/{number}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        lines = _read(info, _MOST_BYTES).split(b"\n")
    finally:
        _close(info)
    return next(int(line.split()[1], 8) for line in lines if line.startswith(b"flags:"))


def _open_again(number: int) -> int:
    return _open(f"/proc/self/fd/{number}", os.O_RDONLY | os.O_CLOEXEC)
