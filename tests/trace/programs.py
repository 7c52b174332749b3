"""Programs for the tests of executed statements, and how to search them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from replay_dd.trace.slice import Slice, find_slice
from replay_dd.trace.target import target_of

# The program of AADEBUG 2000, section 6, line by line; `continue` stands for the closing brace.
SAMPLE = """\
sum = 0
mul = 1
a = int(input("a? "))
b = int(input("b? "))
while a <= b:
    sum = sum + a
    mul = mul * a
    a = a + 1
    continue
print("sum =", sum)
print("mul =", mul)
"""
SAMPLE_INPUT = b"0\n5\n"


def sliced(folder: Path, text: str, standard_input: bytes = b"", **options: Any) -> Slice:
    """The answer for a program, which is written into a folder."""
    (folder / "prog.py").write_text(text, encoding="utf-8")
    return find_slice(target_of([sys.executable, "prog.py"], standard_input, folder), **options)


def lines(found: Slice) -> list[int]:
    """The lines of the needed executions, in their order."""
    return [found.trace.statement(event).line for event in found.kept]


def numbers(found: Slice) -> list[int]:
    """The needed executions, numbered from 1 as in the paper."""
    return [event + 1 for event in found.kept]
