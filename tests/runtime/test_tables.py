"""Where yield points are, and what they add to the digest: the same whether it was found in advance or not."""

from __future__ import annotations

import dis
import sys
import textwrap
from types import CodeType, FrameType, FunctionType

import pytest

from replay_dd.schedules.runtime.compat import ACCESSES
from replay_dd.schedules.runtime.points import tables
from replay_dd.schedules.runtime.points.bytecode import describe, instructions, points
from replay_dd.schedules.runtime.points.places import Places
from replay_dd.schedules.runtime.points.tables import find_in_advance, numbers_of

SOURCE = """
def outer():
    def inner():
        return total + 1
    return inner() + other

keep(get_frame())
"""


def stopped() -> tuple[FrameType, list[CodeType]]:
    """A frame of a module that has defined functions, and its code with theirs."""
    kept: list[FrameType] = []
    module = compile(SOURCE, "program.py", "exec")
    exec(module, {"keep": kept.append, "get_frame": lambda: sys._getframe(1)})
    outer = next(one for one in module.co_consts if isinstance(one, CodeType))
    inner = next(one for one in outer.co_consts if isinstance(one, CodeType))
    return kept[0], [module, outer, inner]


def places() -> Places:
    return Places("/project", (), (), command_line=False)


@pytest.mark.parametrize("granularity", ["access", "line", "gil"])
def test_code_that_runs_and_what_it_defines(granularity: str) -> None:
    frame, codes = stopped()
    ahead = places()
    find_in_advance(ahead, frame, granularity)
    assert all(id(code) in ahead.in_advance for code in codes)
    assert [numbers_of(ahead, code, granularity) for code in codes] == [
        numbers_of(places(), code, granularity) for code in codes
    ]


def test_not_the_code_of_libraries() -> None:
    frame, _ = stopped()
    ahead = places()
    find_in_advance(ahead, frame, "access")
    names = {code.co_filename for code, _ in ahead.in_advance.values()}
    assert "program.py" in names
    assert not [name for name in names if ahead.kind(name) != ahead.kind("program.py")]


def test_only_so_much_code(monkeypatch: pytest.MonkeyPatch) -> None:
    frame, (module, outer, _) = stopped()
    monkeypatch.setattr(tables, "_MOST_CODE", 1)
    ahead = places()
    find_in_advance(ahead, frame, "access")
    assert len(ahead.in_advance) == 1
    assert id(module) in ahead.in_advance
    assert id(outer) not in ahead.in_advance


def test_where_a_generator_yields_without_an_access_is_a_yield_point() -> None:
    """Whoever asks for the next value may be switched there, and the next value asked for by another thread."""
    code = compile("def numbers():\n    yield 1\n    yield 2\n", "", "exec").co_consts[0]
    assert isinstance(code, CodeType)
    assert [describe(code, offset)[2] for offset in points(code, "access")] == ["YIELD_VALUE"] * 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def __iter__(a): return iter(a)", ["RETURN_VALUE"]),
        ("def __iter__(a):\n with a: return iter(a)", ["RETURN_VALUE"]),
        ("def __iter__(a): yield 1", []),
        ("def f(a): return iter(a)", []),
    ],
)
def test_who_gives_an_iterator_counts_where_it_returns(text: str, expected: list[str]) -> None:
    """What has asked for it may go through it without any instruction, as `list(it)` and `x in it` do."""
    code = compile(text, "", "exec").co_consts[0]
    assert isinstance(code, CodeType)
    found = [describe(code, offset)[2] for offset in points(code, "access")]
    assert [name for name in found if name == "RETURN_VALUE"][:1] == expected


def test_accesses_are_those_that_a_walk_through_the_instructions_finds() -> None:
    waiting = [value.__code__ for value in vars(textwrap).values() if isinstance(value, FunctionType)]
    waiting += [value.__code__ for value in vars(dis.Bytecode).values() if isinstance(value, FunctionType)]
    waiting.append(
        compile("for self.x in range(3):\n" + "".join(f"  n{i} += x[{i}]\n" for i in range(700)), "", "exec")
    )
    checked = 0
    while waiting:
        code = waiting.pop()
        waiting += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
        walked = {start for start, number, _, _ in instructions(code) if number in ACCESSES}
        found = points(code, "access")
        assert found == sorted(found)
        assert walked == {o for o in found if describe(code, o)[2] not in ("YIELD_VALUE", "RETURN_VALUE")}
        checked += 1
    assert checked > 5
