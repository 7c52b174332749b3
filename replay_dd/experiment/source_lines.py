"""Which function, and which line of the source, an offset in a program or library belongs to.

``addr2line`` of the binutils knows, where they are installed and the file has not been stripped. It wants the address
that the code is linked for, which the program headers of the file tell (System V ABI, chapter 5, "Program Header").
"""

from __future__ import annotations

import functools
import os
import shutil
import struct
import subprocess

_MAGIC = b"\x7fELF\x02"  # with addresses of 64 bits
_LOADED = 1
_HEADER = struct.Struct("=16xHHIQQQIHHHHHH")
_SEGMENT = struct.Struct("=IIQQQQQQ")
_LIMIT_S = 20
_UNKNOWN = "??"


def source_of(path: str, offset: int) -> str:
    """The function at an offset of an ELF file of this machine, and the line, if they are known; else nothing.

    Args:
        path: of a program or a library.
        offset: in the file, in bytes.
    """
    try:
        return _source_of(path, os.stat(path).st_mtime_ns, offset)
    except OSError:
        return ""


@functools.lru_cache(maxsize=256)
def _source_of(path: str, _changed: int, offset: int) -> str:
    tool = shutil.which("addr2line")
    try:
        address = _address_of(path, offset)
        if tool is None or address is None:
            return ""
        told = subprocess.run(
            [tool, "--functions", "--demangle", "--exe", path, f"{address:#x}"],
            capture_output=True,
            timeout=_LIMIT_S,
            check=True,
        ).stdout.decode(errors="replace")
    except (OSError, struct.error, subprocess.SubprocessError):
        return ""
    function, _, line = told.partition("\n")
    file, _, number = line.split(" (")[0].strip().rpartition(":")
    if function == _UNKNOWN:
        return ""
    return f"{function} ({os.path.basename(file)}:{number})" if number.strip("0?") else function


def _address_of(path: str, offset: int) -> int | None:
    """Where the byte at an offset of an ELF file is linked to be; None if it is not loaded."""
    with open(path, "rb") as file:
        header = file.read(_HEADER.size)
        if not header.startswith(_MAGIC):
            return None
        fields = _HEADER.unpack(header)
        start, size, amount = fields[4], fields[8], fields[9]
        for number in range(amount):
            file.seek(start + number * size)
            kind, _, begin, address, _, length, *_ = _SEGMENT.unpack(file.read(_SEGMENT.size))
            if kind == _LOADED and begin <= offset < begin + length:
                return int(address + offset - begin)
    return None
