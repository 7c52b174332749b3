"""Accesses and runs, made by hand."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from replay_dd.schedules.model import Ending, Place, Program
from replay_dd.schedules.observed.observation import Access, StackFrame, Value
from replay_dd.schedules.running.target import Plan
from tests.schedules.logs import FAILED, PASSED, log_of

NOTHING = Value("?", "", -1)


def program_with(folder: Path, **files: str) -> Program:
    """A program of these files, which vouches for them; underscores stand for dots."""
    hashes = {}
    for name, text in files.items():
        path = folder / name.replace("_", ".")
        path.write_text(text, encoding="utf-8")
        hashes[path.name] = hashlib.sha256(path.read_bytes()).hexdigest()[:32]
    return replace(log_of([]).program, directory=str(folder), files=hashes)


def _frame(function: str, line: int) -> StackFrame:
    if function.startswith("+"):
        return StackFrame("pack/part.py", "/lib/site-packages/pack/part.py", line, function[1:], True)
    return StackFrame("prog.py", "prog.py", line, function.removeprefix("-"), not function.startswith("-"))


def access(
    thread: str,
    *way: tuple[str, int],
    does: str = "reads",
    name: str = "Thing.value",
    thing: tuple[str, int, str] = ("attribute", 1, "value"),
    held: tuple[int, ...] = (),
    number: int = 0,
) -> Access:
    """An access; ``way`` is (function, line) of each frame in prog.py, the outermost first.

    A function of the standard library begins with a hyphen, one of an installed package with a plus sign.
    """
    stack = tuple(_frame(function, line) for function, line in reversed(way))
    innermost = next(frame for frame in stack if frame.counted)
    place = Place(innermost.file, innermost.path, innermost.line, 1, innermost.function, "LOAD_ATTR", True)
    writes = does in ("stores", "deletes")
    return Access(
        *(number, thread, number, number, place, stack, does, thing, "Thing", name),
        *(not writes, writes, NOTHING, NOTHING, "", False, held),
    )


class FakeRunner:
    """Stands in for a runner: what a run does is said by a function of its plan."""

    def __init__(self, ends: Callable[[Plan], Ending]) -> None:
        self._ends = ends
        self.plans: list[Plan] = []
        self.why_fresh = ""

    def run(self, plan: Plan, time_limit_s: float | None) -> Any:
        self.plans.append(plan)
        log = log_of([], self._ends(plan))
        return SimpleNamespace(log=replace(log, settings=log.settings.with_virtual(plan.virtual)), touches=(), trace=())


FAILS, PASSES = FAILED, PASSED
