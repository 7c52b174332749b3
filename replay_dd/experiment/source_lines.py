"""Which functions, and which lines of the source, an offset in a program or library belongs to.

``addr2line`` of the binutils knows, where they are installed and the file has not been stripped. It wants the address
that the code is linked for. Where it knows no line, it names the nearest function before the address, however far off:
that name counts only if the address is within the function.
"""

from __future__ import annotations

import functools
import os
import shutil
import struct
import subprocess

from replay_dd.experiment.elf_files import address_of, has_function_at, segments_of

_LIMIT_S = 20
_UNKNOWN = "??"


def source_of(path: str, offset: int) -> str:
    """The function at an offset of an ELF file of this machine, and the line, if they are known; else nothing.

    Args:
        path: of a program or a library.
        offset: in the file, in bytes.
    """
    return next(iter(sources_of(path, offset)), "")


def sources_of(path: str, offset: int) -> tuple[str, ...]:
    """The same for a function, and then for those that it has become part of, where a compiler has copied it there."""
    try:
        return _sources_of(path, os.stat(path).st_mtime_ns, offset)
    except OSError:
        return ()


@functools.lru_cache(maxsize=256)
def _sources_of(path: str, _changed: int, offset: int) -> tuple[str, ...]:
    tool = shutil.which("addr2line")
    try:
        with open(path, "rb") as binary:
            address = address_of(segments_of(binary), offset)
            if tool is None or address is None:
                return ()
            told = subprocess.run(
                [tool, "--functions", "--inlines", "--demangle", "--exe", path, f"{address:#x}"],
                capture_output=True,
                timeout=_LIMIT_S,
                check=True,
            ).stdout.decode(errors="replace")
            lines = told.splitlines()
            found = [(name, _short(line)) for name, line in zip(lines[::2], lines[1::2], strict=False)]
            is_named = all(line for _, line in found) or has_function_at(binary, address)
    except (OSError, OverflowError, struct.error, subprocess.SubprocessError):
        return ()
    return tuple(_in_words(name, line) for name, line in found if name != _UNKNOWN and (line or is_named))


def _short(line: str) -> str:
    """The name of the file and the number of the line; empty if they are unknown."""
    file, _, number = line.split(" (")[0].strip().rpartition(":")
    return f"{os.path.basename(file)}:{number}" if number.strip("0?") else ""


def _in_words(function: str, line: str) -> str:
    name = _without_arguments(function)
    return f"{name} ({line})" if line else name


def _without_arguments(function: str) -> str:
    """The name of a function of C++ without the types of its arguments."""
    end = function.removesuffix(" const")
    if not end.endswith(")"):
        return function
    depth = 0
    for place in range(len(end) - 1, 0, -1):
        depth += {")": 1, "(": -1}.get(end[place], 0)
        if not depth:
            return end[:place]
    return function
