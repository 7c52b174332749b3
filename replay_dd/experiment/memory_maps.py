"""What code a process has in its memory, and which file an address belongs to."""

from __future__ import annotations

import contextlib
import os
from typing import TypeAlias

Modules: TypeAlias = list[tuple[int, int, str, int]]
"""Stretches of code: from, to, the file that holds it, offset in it."""


def modules_of(process: int) -> Modules:
    """The code of a process; none if it has ended."""
    found = []
    with contextlib.suppress(OSError), open(f"/proc/{process}/maps") as file:
        for line in file:
            parts = line.split(None, 5)
            if "x" in parts[1] and len(parts) == 6:
                start, _, end = parts[0].partition("-")
                found.append((int(start, 16), int(end, 16), parts[5].strip(), int(parts[2], 16)))
    return found


def named(modules: Modules, address: int) -> str:
    """An address as module and offset; empty where there is no code."""
    code = code_at(modules, address)
    return "" if code is None else module_and_offset(*code)


def module_and_offset(path: str, offset: int) -> str:
    """A place in a file of code, in words."""
    return f"{os.path.basename(path)}+{offset:#x}"


def code_at(modules: Modules, address: int) -> tuple[str, int] | None:
    """The file that holds the code at an address, and the offset in it; None where there is no code."""
    for start, end, path, offset in modules:
        if start <= address < end:
            return path, address - start + offset
    return None
