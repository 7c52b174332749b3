"""What produced the operands of each instruction, by the bytecode of this interpreter."""

from __future__ import annotations

import argparse
import collections
import json.decoder
import textwrap
from types import CodeType

from replay_dd.schedules.runtime.accesses.operands import Operands
from replay_dd.schedules.runtime.accesses.producers import depths, flow_of


def produced(source: str, name: str, operand: int) -> set[str]:
    """The names of the instructions that produce an operand of the first instruction of this name in a function."""
    names: dict[str, CodeType] = {}
    exec(textwrap.dedent(source), names)  # type: ignore[arg-type]
    rows = flow_of(names["f"].__code__)  # type: ignore[attr-defined]
    row = next(row for row in rows if row[0] == name)
    return {rows[producer // 2][0] for producer in row[3][operand]}


def codes_of(code: CodeType) -> list[CodeType]:
    return [code, *(one for inner in code.co_consts if isinstance(inner, CodeType) for one in codes_of(inner))]


def test_a_value_that_is_stored_was_computed_by_the_operation_before() -> None:
    source = "def f(self, by):\n    self.start = self.start + by"
    assert produced(source, "STORE_ATTR", 0) == {"BINARY_OP"}
    assert produced(source, "BINARY_OP", 0) == {"LOAD_ATTR"}


def test_a_value_may_come_from_either_branch() -> None:
    source = "def f(a, b):\n    x = a.one if b.two else a[3]\n    print(x)"
    assert produced(source, "STORE_FAST", 0) == {"LOAD_ATTR", "BINARY_SUBSCR"}


def test_arguments_are_operands_of_the_call() -> None:
    source = "def f(a, b):\n    return g(a.x, b[0])"
    rows = _rows(source)
    call = next(row for row in rows if row[0] == "CALL")
    first, second = ({rows[producer // 2][0] for producer in operand} for operand in call[3][-2:])
    assert (first, second) == ({"LOAD_ATTR"}, {"BINARY_SUBSCR"})


def _rows(source: str) -> list[tuple[object, ...]]:
    names: dict[str, CodeType] = {}
    exec(source, names)  # type: ignore[arg-type]
    return flow_of(names["f"].__code__)  # type: ignore[attr-defined, return-value]


def test_a_list_that_a_comprehension_makes_is_what_is_stored() -> None:
    source = "def f(a):\n    b = [one for one in a]\n    print(b)"
    rows = _rows(source)
    stored = next(row for row in rows if row[5][:1] == ("b",))
    assert {rows[producer // 2][0] for producer in stored[3][0]} in ({"BUILD_LIST"}, {"CALL"})


def test_comparisons_are_told_as_written() -> None:
    for written in ("==", "!=", "<", ">=", "is not", "not in"):
        rows = _rows(f"def f(a, b):\n    return a {written} b")
        assert written in {row[1] for row in rows}


def test_the_depth_of_the_stack_is_that_of_the_operands() -> None:
    compared = 0
    for module in (argparse, collections, json.decoder):
        with open(str(module.__file__), encoding="utf-8") as file:
            for code in codes_of(compile(file.read(), str(module.__file__), "exec")):
                operands = Operands(code).at
                for offset, (_, name, depth, takes) in depths(code).items():
                    if offset in operands and depth >= 0:
                        assert depth == len(operands[offset][2]), (code.co_qualname, offset, name)
                        assert takes <= depth, (code.co_qualname, offset, name)
                        compared += 1
    assert compared > 5_000
