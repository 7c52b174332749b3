"""What stands on the stack before each instruction."""

from __future__ import annotations

import argparse
import asyncio.base_events
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType, ModuleType
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


def watch_instructions(code: CodeType, look: Callable[[FrameType, int], None]) -> Callable[[], None]:
    """Have each instruction of a function looked at before it runs; returns what ends that."""
    if sys.version_info >= (3, 12):
        monitoring: Any = sys.monitoring
        event, tool = monitoring.events.INSTRUCTION, 5
        monitoring.use_tool_id(tool, "test")
        monitoring.register_callback(tool, event, lambda _, offset: look(sys._getframe(1), offset))
        monitoring.set_local_events(tool, code, event)
        return lambda: monitoring.free_tool_id(tool)

    def trace(frame: Any, event: str, _: object) -> Any:
        frame.f_trace_opcodes = True
        if event == "opcode" and frame.f_code is code:
            look(frame, frame.f_lasti)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    return lambda: sys.settrace(before)


@pytest.mark.skipif(accelerator is None, reason="only the accelerator reads the stack")
def test_what_is_read_from_the_stack_is_what_the_names_say() -> None:
    """At each instruction of a running function, a variable that the stack holds is the variable's value."""
    compared = 0

    def look(frame: FrameType, offset: int) -> None:
        nonlocal compared
        found = operands.at.get(offset)
        if found is None or accelerator is None:
            return
        stack = found[2]
        held = accelerator.frame_values(frame, len(busy.__code__.co_varnames), len(stack))
        assert held is not None
        for expression, value in zip(stack, held, strict=True):
            if expression is not None and expression[0] == "local":
                assert value is frame.f_locals[expression[1]]
                compared += 1

    def busy(table: dict[str, list[int]], key: str, number: int) -> int:
        for _ in range(2):
            try:
                table[key].append(number if number > 1 else len(key))
                with threading.Lock():
                    table[key][0] += number
            except KeyError:
                table.setdefault(key, [number, *list(range(number))])
        return sum(table[key], start=number)

    operands = Operands(busy.__code__)
    end = watch_instructions(busy.__code__, look)
    try:
        busy({}, "a", 3)
    finally:
        end()
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
