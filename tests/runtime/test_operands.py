"""What stands on the stack before each instruction."""

from __future__ import annotations

import argparse
import asyncio.base_events
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import pytest

from replay_dd.schedules.runtime.accelerator import accelerator
from replay_dd.schedules.runtime.accesses.operands import Operands


def code_objects(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from code_objects(constant)


@pytest.mark.parametrize("module", [argparse, threading, asyncio.base_events], ids=lambda module: module.__name__)
def test_the_stack_is_as_deep_as_the_compiler_found_it(module: ModuleType) -> None:
    path = Path(str(module.__file__))
    for code in code_objects(compile(path.read_text(encoding="utf-8"), str(path), "exec")):
        stacks = [stack for _, _, stack in Operands(code).at.values()]
        deepest = max(len(stack) for stack in stacks)
        # Since 3.13 the compiler keeps room for what is pushed last.
        assert code.co_stacksize - 1 <= deepest <= code.co_stacksize, code.co_qualname


@pytest.mark.skipif(accelerator is None, reason="only the accelerator reads the stack")
def test_what_is_read_from_the_stack_is_what_the_names_say() -> None:
    """At each instruction of a running function, a variable that the stack holds is the variable's value."""
    compared = 0

    def look(frame: Any, event: str, _: object) -> Any:
        nonlocal compared
        frame.f_trace_opcodes = True
        found = Operands(frame.f_code).at.get(frame.f_lasti) if event == "opcode" else None
        if found is not None:
            stack = found[2]
            first = len(frame.f_code.co_varnames + frame.f_code.co_freevars)
            assert accelerator is not None
            held = accelerator.frame_values(frame, first, len(stack))
            assert held is not None
            for expression, value in zip(stack, held, strict=True):
                if expression is not None and expression[0] == "local":
                    assert value is frame.f_locals[expression[1]]
                    compared += 1
        return look

    def busy(table: dict[str, list[int]], key: str, number: int) -> int:
        for _ in range(2):
            try:
                table[key].append(number if number > 1 else len(key))
                with threading.Lock():
                    table[key][0] += number
            except KeyError:
                table.setdefault(key, [number, *(one for one in range(number))])
        return sum(table[key], start=number)

    before = sys.gettrace()
    sys.settrace(look)
    try:
        busy({}, "a", 3)
    finally:
        sys.settrace(before)
    assert compared > 30


def test_frames_hold_no_more_than_their_stack() -> None:
    if accelerator is None:
        pytest.skip("only the accelerator reads the stack")
    frame = sys._getframe()
    with pytest.raises(IndexError):
        accelerator.frame_values(frame, 0, 10_000)
    with pytest.raises(IndexError):
        accelerator.frame_values(frame, -1, 1)
    with pytest.raises(TypeError):
        accelerator.frame_values(None, 0, 1)  # type: ignore[arg-type]  # a frame is wanted
