"""Notes which functions of a version are called, with which arguments and results; copied as `sitecustomize`.

Rules of this module:

* It runs inside the program: it imports nothing but the standard library, and little of that.
* It never runs the program's code: of objects of its classes, it reads what their instances keep, and nothing else.
* What is noted is small, whatever the program does: the first calls of the main thread, and the beginnings of values.
"""

from __future__ import annotations

import contextlib
import os
import sys
from types import FrameType, FunctionType, GetSetDescriptorType, ModuleType
from typing import Any

CALLS = "calls"
CUT = "..."
"""Stands for what is not told of a value."""
MOST_CALLS = 10_000
_MOST_PARTS = 64  # of a value
_MOST_ITEMS = 8
_MOST_NAMED = 24  # of a dictionary, or of what an object keeps
_DEEPEST = 3
_LONGEST = 100
_FUNCTION = 0x1  # the flag of code whose names are local: not the body of a class or module
_GIVEN_REST, _GIVEN_NAMES = 0x4, 0x8
_BASES, _NAMESPACE = type.__dict__["__mro__"], type.__dict__["__dict__"]
_NAME = type.__dict__["__name__"]
_ENDS = ("RETURN_VALUE", "RETURN_CONST", "RETURN_GENERATOR", "YIELD_VALUE", "INSTRUMENTED_RETURN_VALUE")


def start(folder: str, root: str) -> None:
    """Note the calls of functions in files below a folder, from now on."""
    try:
        output = os.open(os.path.join(folder, CALLS), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError:
        return
    import opcode

    ends = {opcode.opmap[name] for name in _ENDS if name in opcode.opmap}
    inside, process = os.path.join(root, ""), os.getpid()
    running: list[tuple[FrameType, int, str]] = []
    count = 0

    def on_call(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        code = frame.f_code
        if event not in ("call", "return") or not code.co_filename.startswith(inside):
            return
        if event == "call":
            if count >= MOST_CALLS:
                sys.setprofile(None)
                return
            count += 1
            running.append((frame, count, _arguments(frame)))
            return
        while running and running[-1][0] is not frame:
            running.pop()  # it was running before, or another profiler hid its end
        if not running:
            return
        _, number, given = running.pop()
        raised = argument is None and code.co_code[frame.f_lasti] not in ends
        noted = (
            *(process, number, running[-1][1] if running else 0, code.co_filename[len(inside) :]),
            *(code.co_firstlineno, code.co_qualname if code.co_flags & _FUNCTION else ""),
            *(given, CUT if raised else repr(told(argument)), _arguments(frame), raised),
        )
        with contextlib.suppress(OSError, ValueError):
            os.write(output, f"{noted!r}\n".encode("utf-8", "surrogateescape"))

    sys.setprofile(on_call)


def _arguments(frame: FrameType) -> str:
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & _GIVEN_REST) + bool(code.co_flags & _GIVEN_NAMES)
    if not count:
        return "{}"
    local = frame.f_locals
    return repr({name: told(local[name]) for name in code.co_varnames[:count] if name in local})


def told(value: object) -> Any:
    """A value in nested tuples, texts and dictionaries, as far as it is small."""
    return _told(value, _DEEPEST, [_MOST_PARTS])


def _told(value: object, depth: int, left: list[int]) -> Any:
    left[0] -= 1
    kind = type(value)
    if left[0] < 0:
        return CUT
    if value is None or kind in (bool, float):
        return repr(value)
    if kind is int:
        assert isinstance(value, int)
        return repr(value) if value.bit_length() < 200 else f"an integer of {value.bit_length()} bits"
    if kind in (str, bytes):
        assert isinstance(value, (str, bytes))
        return repr(value) if len(value) <= _LONGEST else f"{value[:_LONGEST]!r}, {len(value)} long, {hash(value)}"
    if issubclass(kind, type):
        return _NAME.__get__(value)
    if kind in (FunctionType, ModuleType):
        return (kind.__name__, CUT)
    if not depth:
        return (kind.__name__, CUT)
    if kind in (list, tuple):
        assert isinstance(value, (list, tuple))
        return (kind.__name__, len(value), *(_told(one, depth - 1, left) for one in value[:_MOST_ITEMS]))
    if kind in (set, frozenset):
        assert isinstance(value, (set, frozenset))
        return (kind.__name__, len(value))
    if kind is dict:
        assert isinstance(value, dict)
        items = [item for item, _ in zip(value.items(), range(_MOST_NAMED), strict=False)]
        return ("dict", len(value), *((_told(one, depth - 1, left), _told(two, depth - 1, left)) for one, two in items))
    return (kind.__name__, {name: _told(one, depth - 1, left) for name, one in _kept(value)})


def _kept(value: object) -> list[tuple[str, object]]:
    """What an instance keeps in its dictionary, without asking its class."""
    for cls in _BASES.__get__(type(value)):
        found = _NAMESPACE.__get__(cls).get("__dict__")
        if isinstance(found, GetSetDescriptorType):
            kept = found.__get__(value)
            items = list(kept.items()) if type(kept) is dict else []
            return [(name, one) for name, one in items if type(name) is str][:_MOST_NAMED]
    return []


if __name__ == "sitecustomize":
    __import__("lines_probe").take_place(start)
