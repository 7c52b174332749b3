"""Open files of a fork: it reads from where it was, and writes to files of its own."""

from __future__ import annotations

import fcntl
import os
import stat
import sys
from typing import Any


def input_without_prompt(original: Any) -> Any:
    """``input`` whose prompt is no output of the program: it goes where messages go."""

    def input(prompt: object = "", /) -> Any:
        sys.stderr.write(str(prompt))
        sys.stderr.flush()
        return original()

    return input


def positions() -> dict[int, int]:
    """Where the open files stand, other than the two streams that are written."""
    found: dict[int, int] = {}
    try:
        names = os.listdir("/proc/self/fd")
    except OSError:
        names = ["0"]
    for name in names:
        descriptor = int(name)
        try:
            if descriptor not in (1, 2) and stat.S_ISREG(os.fstat(descriptor).st_mode):
                found[descriptor] = os.lseek(descriptor, 0, os.SEEK_CUR)
        except OSError:
            continue
    return found


def reopen_files(positions: dict[int, int]) -> None:
    """Give this fork positions of its own in the files that are open: forks share them otherwise."""
    for descriptor, position in positions.items():
        try:
            flags = fcntl.fcntl(descriptor, fcntl.F_GETFL) & ~(os.O_CREAT | os.O_TRUNC | os.O_EXCL)
            again = os.open(f"/proc/self/fd/{descriptor}", flags)
            os.lseek(again, position, os.SEEK_SET)
            os.dup2(again, descriptor, os.get_inheritable(descriptor))
            os.close(again)
        except OSError:
            continue


def continue_in(descriptor: int, path: str, written: int) -> None:
    """Let a stream go to a new file, which begins with what it had written so far, as many bytes."""
    new = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
    place = 0
    try:
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            while data := os.pread(descriptor, min(1 << 20, written - place), place):
                os.write(new, data)
                place += len(data)
    finally:
        os.dup2(new, descriptor)
        os.close(new)
